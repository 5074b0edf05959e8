//! One subsystem's part of the page: its design, its charts over several workloads, its workloads.

use proofmark_model::Subsystem;
use serde::Serialize;

use super::chart::{self, Figure};
use crate::view::{Table, View};

/// One subsystem's part.
#[derive(Debug, Serialize)]
pub struct Part {
    /// Its anchor.
    pub id: String,
    /// Its name for people.
    pub title: &'static str,
    /// Its workloads' places in the view, from 0.
    pub workloads: Vec<usize>,
    /// What was measured and how, a sentence or two each.
    pub design: Vec<String>,
    /// The same a workload.
    pub designs: Vec<String>,
    /// Charts over several workloads.
    pub lines: Vec<Figure>,
    /// Whether any value of these has an interval.
    pub whiskers: bool,
    /// Tables over several workloads.
    pub tables: Vec<Table>,
}

/// The parts of a page, in the order of the plan.
pub fn all(view: &View) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, workload) in view.workloads.iter().enumerate() {
        let named = |s: Subsystem| (s.as_str(), s.title());
        let (id, title) = workload.subsystem.map_or(("other", "Other"), named);
        let id = format!("part-{id}");
        match parts.iter_mut().find(|p| p.id == id) {
            Some(part) => part.workloads.push(at),
            None => parts.push(assemble(view, id, title, at)),
        }
    }
    parts
}

fn assemble(view: &View, id: String, title: &'static str, first: usize) -> Part {
    let design = view.design.iter().filter(|d| d.title == title);
    let overviews = || view.overviews.iter().filter(|o| o.title == title);
    let lines = || overviews().flat_map(|o| &o.lines);
    let draw = |(i, c)| chart::figure(c, &format!("chart-{id}-{i}"));
    let mut marks = lines().flat_map(|l| &l.series).flat_map(|s| &s.spots);
    Part {
        whiskers: marks.any(|s| s.mark.interval.is_some()),
        lines: lines().enumerate().map(draw).collect(),
        tables: overviews().flat_map(|o| &o.tables).cloned().collect(),
        design: design.clone().flat_map(|d| &d.sentences).cloned().collect(),
        designs: design.flat_map(|d| &d.workloads).cloned().collect(),
        workloads: vec![first],
        id,
        title,
    }
}
