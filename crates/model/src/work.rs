//! What a workload does to the machine, as its declaration states it. Checks, ceilings and
//! reports read these facts and know no workload by its name.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Cut, Params};

/// How a workload runs and what it touches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// What its threads wait for.
    pub pace: Pace,
    /// Order of its accesses to memory or to a file; null where it has none.
    #[serde(default)]
    pub access: Option<Access>,
    /// Bytes that one counted operation reads and writes; empty where it counts no bytes.
    #[serde(default)]
    pub traffic: Cow<'static, [Traffic]>,
    /// Its data in memory; null where it has none.
    #[serde(default)]
    pub data: Option<Data>,
    /// True where a point names the NUMA node that its memory is on.
    #[serde(default)]
    pub names_node: bool,
    /// True where a trial is one complete problem, which cannot be cut into parts.
    #[serde(default)]
    pub whole_problem: bool,
}

/// What sets the pace of a workload's threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// The core, by its clock.
    Core,
    /// Caches and memory, which the core clock does not drive.
    Memory,
    /// A device: the threads wait for it, so their CPUs bound nothing.
    Device,
}

/// In which order data is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// By rising address.
    Sequential,
    /// At random addresses that are known before.
    Random,
    /// At random addresses, each of which the access before it yields.
    Dependent,
}

/// A value of a parameter on which a fact depends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct When {
    /// Name of the parameter.
    pub parameter: Cow<'static, str>,
    /// Its value.
    pub value: Cow<'static, str>,
}

impl When {
    /// Whether these parameters have that value.
    pub fn holds(&self, params: &Params) -> bool {
        params.word(&self.parameter) == Some(&self.value)
    }
}

/// Arrays that one counted operation reads and writes, in elements of equal size: of a triad
/// `a[i] = b[i] + s * c[i]` two are read and one is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// The points that this holds for; null: all.
    #[serde(default)]
    pub when: Option<When>,
    /// Elements read.
    pub read: f64,
    /// Elements written.
    pub written: f64,
    /// Floating-point operations for these elements of 8 bytes.
    #[serde(default)]
    pub flops: f64,
}

impl Traffic {
    /// Elements counted: those read and those written.
    pub fn counted(&self) -> f64 {
        self.read + self.written
    }
}

/// How large a workload's data in memory is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Data {
    /// The parameter with its size in bytes.
    pub parameter: Cow<'static, str>,
    /// True where each thread has data of that size; false where all threads share it.
    #[serde(default)]
    pub per_thread: bool,
    /// True where the size is that of all arrays together; false where it is that of each.
    #[serde(default)]
    pub all_arrays: bool,
    /// True where points choose the size so that a certain cache level holds the data; false where
    /// the data must come from memory.
    #[serde(default)]
    pub any_level: bool,
}

impl Data {
    /// Bytes of the largest array, or of all where the size is that of all; over all threads.
    pub fn array_bytes(&self, params: &Params) -> Option<u64> {
        let threads = if self.per_thread { params.threads() } else { 1 };
        Some(params.number(&self.parameter)?.saturating_mul(threads))
    }
}

impl Work {
    /// Whether it accesses its data in random order.
    pub fn is_random(&self) -> bool {
        self.access == Some(Access::Random)
    }

    /// Computing in registers or caches: bound by the core.
    pub const CORE: Self = Self {
        pace: Pace::Core,
        access: None,
        traffic: Cow::Borrowed(&[]),
        data: None,
        names_node: false,
        whole_problem: false,
    };

    /// Waiting for a device.
    pub const DEVICE: Self = Self { pace: Pace::Device, ..Self::CORE };

    /// How a trial can be cut.
    pub fn cut(&self) -> Cut {
        match self.pace {
            _ if self.whole_problem => Cut::Whole,
            Pace::Core => Cut::Core,
            Pace::Memory => Cut::Bus,
            Pace::Device => Cut::Single,
        }
    }

    /// What a point with these parameters reads and writes; `None` where nothing is declared.
    pub fn traffic(&self, params: &Params) -> Option<&Traffic> {
        let applies = |t: &&Traffic| t.when.as_ref().is_none_or(|when| when.holds(params));
        self.traffic.iter().find(applies)
    }

    /// Bytes of the largest array or set, over all threads.
    pub fn array_bytes(&self, params: &Params) -> Option<u64> {
        self.data.as_ref()?.array_bytes(params)
    }

    /// Bytes of all data, over all threads.
    pub fn touched_bytes(&self, params: &Params) -> Option<u64> {
        let data = self.data.as_ref()?;
        let arrays = match self.traffic(params) {
            Some(traffic) if !data.all_arrays => traffic.counted() as u64,
            _ => 1,
        };
        Some(data.array_bytes(params)?.saturating_mul(arrays))
    }

    /// Whether points choose a cache level by the size of their data.
    pub fn any_level(&self) -> bool {
        self.data.as_ref().is_some_and(|data| data.any_level)
    }
}
