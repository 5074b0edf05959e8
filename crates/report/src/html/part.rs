//! One subsystem's part of the page: its design, its charts over several workloads, its workloads.

use proofmark_model::Subsystem;
use serde::Serialize;

use super::chart::{self, Figure};
use crate::view::{Table, View};

#[derive(Debug, Serialize)]
pub struct Part {
    /// Its anchor.
    id: String,
    title: &'static str,
    /// Its workloads' places in the view.
    workloads: Vec<usize>,
    design: Vec<String>,
    /// What each workload measures.
    designs: Vec<String>,
    /// Charts over several workloads.
    lines: Vec<Figure>,
    /// Whether any value of these has an interval.
    whiskers: bool,
    /// Tables over several workloads.
    tables: Vec<Table>,
}

/// The parts of a page, in the order of the plan.
pub fn all(view: &View) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, workload) in view.workloads.iter().enumerate() {
        let named = |s: Subsystem| (s.as_str(), s.info().title);
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
    Part {
        whiskers: chart::has_whiskers(lines()),
        lines: chart::all(&format!("chart-{id}"), lines(), chart::figure),
        tables: overviews().flat_map(|o| &o.tables).cloned().collect(),
        design: design.clone().flat_map(|d| &d.sentences).cloned().collect(),
        designs: design.flat_map(|d| &d.workloads).cloned().collect(),
        workloads: vec![first],
        id,
        title,
    }
}
