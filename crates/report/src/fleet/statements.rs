//! The statements of a fleet's report, before blocks show them.

use super::figures::{self, Row};
use super::groups::Group;
use super::lookup::Fleet;
use super::nodes::{self, Problem};
use super::words::{self, testbed};
use super::{advice, links};

pub struct Statements {
    pub answer: String,
    pub testbed: Option<String>,
    /// Links that are slow or unverified.
    pub links: Vec<Problem>,
    /// The nodes in another state than healthy, worst first.
    pub nodes: Vec<Problem>,
    /// Remarks on healthy nodes, a sentence each.
    pub notes: Vec<String>,
    pub groups: Vec<Group>,
    /// The figures of all groups, those with slow nodes first.
    pub rows: Vec<Row>,
    /// The next steps, a sentence each.
    pub next: Vec<String>,
}

impl Statements {
    pub fn new(fleet: &Fleet) -> Self {
        let report = fleet.report;
        Self {
            answer: words::answer(report),
            testbed: testbed(report).map(|what| format!("testbed: {what}")),
            links: links::links(fleet).iter().map(Problem::from_link).collect(),
            nodes: nodes::problems(fleet),
            notes: nodes::notes(report),
            groups: Group::all(report),
            rows: figures::rows(fleet),
            next: advice::next(fleet),
        }
    }
}
