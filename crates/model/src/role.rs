//! What a workload's figures are used for, as its declaration states it: by other judgements, in
//! the report, and for which tests of reference tools.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MainRow, Params, When};

/// What a workload's figures are used for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    /// Rows of a report's first screen that it fills; the last one answers for all its results.
    #[serde(default)]
    pub main_rows: Cow<'static, [MainRow]>,
    /// Properties of the machine that its figures give to ceilings, checks and the roofline.
    #[serde(default)]
    pub provides: Cow<'static, [Property]>,
    /// Tables and charts of several workloads that it is part of.
    #[serde(default)]
    pub tables: Cow<'static, [Place]>,
    /// Workloads that do the same in another way.
    #[serde(default)]
    pub counterparts: Cow<'static, [Counterpart]>,
    /// Tests of reference tools that do the same work.
    #[serde(default)]
    pub compare_with: Cow<'static, [ToolTest]>,
}

/// A property of the machine that a workload measures and others need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// Clock of a core.
    CoreClock,
    /// Most floating-point operations a second.
    PeakFlops,
    /// Time of a load that waits for the one before it.
    LoadLatency,
    /// Bytes a second from main memory.
    MemoryBandwidth,
    /// Bytes a second from each cache level.
    LevelBandwidth,
}

/// The place of a workload in a table of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The table's name.
    pub table: Cow<'static, str>,
    /// Its row there, from 1.
    pub row: u32,
    /// What the row is called.
    pub label: Cow<'static, str>,
}

/// A workload that does the same in another way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counterpart {
    /// Its id.
    pub workload: Cow<'static, str>,
    /// How the two differ.
    pub relation: Relation,
    /// Parameters that only one of the two has, or that may differ.
    #[serde(default)]
    pub differs_in: Cow<'static, [Cow<'static, str>]>,
}

/// How two workloads differ that do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The counterpart takes the same blocks in order of addresses, this one at random.
    InOrder,
    /// Another operation, type or protocol.
    Alternative,
}

/// A test of a reference tool that does the same work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolTest {
    /// Name of the tool.
    pub tool: Cow<'static, str>,
    /// The test's name in that tool's words.
    pub test: Cow<'static, str>,
    /// The points that this holds for; null: all.
    #[serde(default)]
    pub when: Option<When>,
}

impl Role {
    /// None in particular.
    pub const NONE: Self = Self {
        main_rows: Cow::Borrowed(&[]),
        provides: Cow::Borrowed(&[]),
        tables: Cow::Borrowed(&[]),
        counterparts: Cow::Borrowed(&[]),
        compare_with: Cow::Borrowed(&[]),
    };

    /// Whether its figures give that property.
    pub fn gives(&self, property: Property) -> bool {
        self.provides.contains(&property)
    }

    /// Its place in that table.
    pub fn place_in(&self, table: &str) -> Option<&Place> {
        self.tables.iter().find(|place| place.table == table)
    }

    /// The workload that takes the same blocks in order of addresses, where this one is random.
    pub fn in_order(&self) -> Option<&str> {
        let in_order = |c: &&Counterpart| c.relation == Relation::InOrder;
        self.counterparts.iter().find(in_order).map(|c| c.workload.as_ref())
    }

    /// The tests of that tool that do the work of a point with these parameters.
    pub fn tests_of<'a>(
        &'a self,
        tool: &'a str,
        params: &'a Params,
    ) -> impl Iterator<Item = &'a str> {
        let applies = |t: &&ToolTest| t.when.as_ref().is_none_or(|when| when.holds(params));
        self.compare_with
            .iter()
            .filter(move |t| t.tool == tool)
            .filter(applies)
            .map(|t| t.test.as_ref())
    }

    /// Whether that test of that tool does this workload's work at every point.
    pub fn is_measured_by(&self, tool: &str, test: &str) -> bool {
        let same = |t: &ToolTest| t.tool == tool && t.test == test && t.when.is_none();
        self.compare_with.iter().any(same)
    }
}
