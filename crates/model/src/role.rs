//! The uses of a workload's figures, as its declaration states them: by other judgements and in the
//! report.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::MainRow;

/// The uses of a workload's figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    /// Rows of a report's first screen that it fills; the last one stands for all its results.
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
}

/// A property of the machine that a workload measures and others need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// Clock of a core.
    CoreClock,
    /// Maximum floating-point operations per second.
    PeakFlops,
    /// Time of a load that waits for the one before it.
    LoadLatency,
    /// Bytes per second from main memory.
    MemoryBandwidth,
    /// Bytes per second from each cache level.
    LevelBandwidth,
}

/// The place of a workload in a table of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Name of the table.
    pub table: Cow<'static, str>,
    /// Row in the table, from 1.
    pub row: u32,
    /// Label of the row.
    pub label: Cow<'static, str>,
}

/// A workload that does the same in another way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counterpart {
    /// Id of the other workload.
    pub workload: Cow<'static, str>,
    /// Difference of the two.
    pub relation: Relation,
    /// Parameters that only one of the two has, or that may differ.
    #[serde(default)]
    pub differs_in: Cow<'static, [Cow<'static, str>]>,
}

/// The difference of two workloads that do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The counterpart takes the same blocks in order of addresses, this one at random.
    InOrder,
    /// Another operation, type or protocol.
    Alternative,
}

impl Role {
    /// No use.
    pub const NONE: Self = Self {
        main_rows: Cow::Borrowed(&[]),
        provides: Cow::Borrowed(&[]),
        tables: Cow::Borrowed(&[]),
        counterparts: Cow::Borrowed(&[]),
    };

    /// Returns true if its figures give that property.
    pub fn gives(&self, property: Property) -> bool {
        self.provides.contains(&property)
    }

    /// Returns its place in that table.
    pub fn place_in(&self, table: &str) -> Option<&Place> {
        self.tables.iter().find(|place| place.table == table)
    }

    /// Returns the workload that takes the same blocks in order of addresses, where this one is
    /// random.
    pub fn in_order(&self) -> Option<&str> {
        let in_order = |c: &&Counterpart| c.relation == Relation::InOrder;
        self.counterparts.iter().find(in_order).map(|c| c.workload.as_ref())
    }
}
