//! The effects of a workload on the machine, as its declaration states them. Checks, ceilings and
//! reports read these facts and know no workload by its name.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Cut, Params};

/// Execution and data of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// The resource that its threads wait for.
    pub pace: Pace,
    /// Order of its accesses to memory or to a file; null where it has none.
    #[serde(default)]
    pub access: Option<Access>,
    /// Bytes that one counted operation reads and writes; empty where it counts no bytes.
    #[serde(default)]
    pub traffic: Cow<'static, [Traffic]>,
    /// Data in memory; null where it has none.
    #[serde(default)]
    pub data: Option<Data>,
    /// True where a configuration names the NUMA node of its memory.
    #[serde(default)]
    pub names_node: bool,
    /// True where a trial is one complete problem, which cannot be cut into parts.
    #[serde(default)]
    pub whole_problem: bool,
}

/// The resource that sets the pace of a workload's threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// The core, by its clock.
    Core,
    /// Caches and memory, which the core clock does not drive.
    Memory,
    /// A device: the threads wait for it, so their CPUs are no limit.
    Device,
}

/// The order in which data is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Rising addresses.
    Sequential,
    /// Random addresses that are known before.
    Random,
    /// Random addresses, each of which the access before it yields.
    Dependent,
}

/// A value of a parameter on which a fact depends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct When {
    /// Name of the parameter.
    pub parameter: Cow<'static, str>,
    /// Value of the parameter.
    pub value: Cow<'static, str>,
}

impl When {
    /// Returns true if these parameters have that value.
    pub fn holds(&self, params: &Params) -> bool {
        params.word(&self.parameter) == Some(&self.value)
    }
}

/// Elements of equal size that one counted operation reads and writes. A triad `a[i] = b[i] + s *
/// c[i]` reads two and writes one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// The configurations that have this traffic; null: all.
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
    /// Returns the counted elements: those read and those written.
    pub fn counted(&self) -> f64 {
        self.read + self.written
    }
}

/// The size of a workload's data in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Data {
    /// The parameter with the size in bytes.
    pub parameter: Cow<'static, str>,
    /// True where each thread has data of that size; false where all threads share it.
    #[serde(default)]
    pub per_thread: bool,
    /// True where the size is that of all arrays together; false where it is that of each.
    #[serde(default)]
    pub all_arrays: bool,
    /// True where configurations choose the size for a certain cache level; false where the data
    /// must come from memory.
    #[serde(default)]
    pub any_level: bool,
}

impl Data {
    /// Returns the bytes of the largest array, or of all where the size is that of all; over all
    /// threads.
    pub fn array_bytes(&self, params: &Params) -> Option<u64> {
        let threads = if self.per_thread { params.threads() } else { 1 };
        Some(params.number(&self.parameter)?.saturating_mul(threads))
    }
}

impl Work {
    /// Returns true if it accesses its data in random order.
    pub fn is_random(&self) -> bool {
        self.access == Some(Access::Random)
    }

    /// Work in registers or caches, bound by the core.
    pub const CORE: Self = Self {
        pace: Pace::Core,
        access: None,
        traffic: Cow::Borrowed(&[]),
        data: None,
        names_node: false,
        whole_problem: false,
    };

    /// Work of a device that the threads wait for.
    pub const DEVICE: Self = Self { pace: Pace::Device, ..Self::CORE };

    /// Returns the way in which a trial can be cut.
    pub fn cut(&self) -> Cut {
        match self.pace {
            _ if self.whole_problem => Cut::Whole,
            Pace::Core => Cut::Core,
            Pace::Memory => Cut::Bus,
            Pace::Device => Cut::Single,
        }
    }

    /// Returns the traffic of a configuration with these parameters; `None` where nothing is
    /// declared.
    pub fn traffic(&self, params: &Params) -> Option<&Traffic> {
        let applies = |t: &&Traffic| t.when.as_ref().is_none_or(|when| when.holds(params));
        self.traffic.iter().find(applies)
    }

    /// Returns the bytes of the largest array or set, over all threads.
    pub fn array_bytes(&self, params: &Params) -> Option<u64> {
        self.data.as_ref()?.array_bytes(params)
    }

    /// Returns the bytes of all data, over all threads.
    pub fn touched_bytes(&self, params: &Params) -> Option<u64> {
        let data = self.data.as_ref()?;
        let arrays = match self.traffic(params) {
            Some(traffic) if !data.all_arrays => traffic.counted() as u64,
            _ => 1,
        };
        Some(data.array_bytes(params)?.saturating_mul(arrays))
    }

    /// Returns true if configurations choose a cache level by the size of their data.
    pub fn any_level(&self) -> bool {
        self.data.as_ref().is_some_and(|data| data.any_level)
    }
}
