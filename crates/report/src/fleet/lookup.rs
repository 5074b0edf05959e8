//! The rounds of each node by name. A report may come from a file, so that any place in it may not
//! exist.

use std::collections::HashMap;

use proofmark_model::{FleetFigure, FleetGroup, FleetNode, FleetReport, FleetStrip, StripOutcome};

use super::words::{finite, group_name};
use crate::view::clean;

/// A report with the place of each node in its group.
pub struct Fleet<'a> {
    pub report: &'a FleetReport,
    places: Vec<HashMap<&'a str, usize>>,
    /// The titles of each group's figures.
    titles: Vec<Vec<String>>,
}

impl<'a> Fleet<'a> {
    pub fn new(report: &'a FleetReport) -> Self {
        let places = |g: &'a FleetGroup| {
            g.nodes.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect()
        };
        Self {
            report,
            places: report.groups.iter().map(places).collect(),
            titles: report.groups.iter().map(titles).collect(),
        }
    }

    /// Returns the figures of a group with their titles.
    pub fn figures(&self, group: usize) -> impl Iterator<Item = (&'a FleetFigure, &str)> {
        let figures = self.report.groups.get(group).map_or(&[][..], |g| &g.figures[..]);
        let titles = self.titles.get(group).map_or(&[][..], |t| &t[..]);
        figures.iter().zip(titles.iter().map(String::as_str))
    }

    /// Returns a node's rounds at a figure of its group.
    pub fn strip(&self, node: &FleetNode, figure: usize) -> Option<Seen<'_>> {
        let group = node.group?;
        let place = *self.places.get(group)?.get(node.name.as_str())?;
        let strip = self.report.groups[group].figures.get(figure)?.strips.get(place)?;
        let (figure, title) = self.figures(group).nth(figure)?;
        Some(Seen { figure, title, strip })
    }

    /// Returns the node's lowest ratio at any figure; 1 without any.
    pub fn least(&self, node: &FleetNode) -> f64 {
        let place = |group: usize| self.places.get(group)?.get(node.name.as_str()).copied();
        let Some((group, place)) = node.group.and_then(|g| Some((g, place(g)?))) else {
            return 1.0;
        };
        let figures = &self.report.groups[group].figures;
        let ratios = figures.iter().filter_map(|f| finite(f.strips.get(place)?.ratio));
        ratios.fold(1.0, f64::min)
    }

    /// Returns the figures at which a node was slow in the first pass alone, worst first: titles
    /// and ratios.
    pub fn not_confirmed(&self, node: &FleetNode) -> Vec<(String, f64)> {
        let seen = |at: usize| self.strip(node, at);
        let all = node.figures.iter().filter(|f| !f.confirmed);
        let all =
            all.filter_map(|f| Some((seen(f.figure)?.title.to_owned(), finite(Some(f.ratio))?)));
        all.collect()
    }

    /// Returns the name of a node's group, where there are several.
    pub fn group_name(&self, node: &FleetNode) -> Option<String> {
        node.group.filter(|_| self.report.groups.len() > 1).map(group_name)
    }
}

/// A node's rounds at a figure.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub figure: &'a FleetFigure,
    pub title: &'a str,
    pub strip: &'a FleetStrip,
}

/// Returns the titles of a group's figures, with the kind where one title has several.
fn titles(group: &FleetGroup) -> Vec<String> {
    let mut same: HashMap<(&str, &str), usize> = HashMap::new();
    for f in &group.figures {
        *same.entry((&f.workload, &f.title)).or_default() += 1;
    }
    let title = |f: &FleetFigure| match same.get(&(f.workload.as_str(), f.title.as_str())) {
        Some(n) if *n > 1 => format!("{}, {}", clean(&f.title), f.kind.as_str()),
        _ => clean(&f.title),
    };
    group.figures.iter().map(title).collect()
}

/// Counts the nodes with an outcome at a figure.
pub fn count(figure: &FleetFigure, outcome: StripOutcome) -> usize {
    figure.strips.iter().filter(|s| s.outcome == outcome).count()
}
