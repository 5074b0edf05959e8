//! `device.ops`: operations of a device that a helper process drives and times.
//!
//! It exists only for tests: it shows what a subsystem needs whose work no thread of proofmark
//! does. The program named by `PROOFMARK_DEVICE` is the helper, see
//! [`proofmark_engine::HelperProcess`].

use std::process::Command;
use std::time::Duration;

use proofmark_engine::{Configuration, Executor, HelperProcess, Refusal, Setup, Workload};
use proofmark_model::{Params, Pick, Role, Subsystem, Unit, Work, WorkloadSpec};

use crate::declare::{Words, main_row, rate, words};

/// Environment variable with the path of the helper.
const HELPER: &str = "PROOFMARK_DEVICE";
/// Time after which a silent helper counts as hanging.
const PATIENCE: Duration = Duration::from_secs(2);

static SPEC: WorkloadSpec = rate(
    Words {
        id: "device.ops",
        title: "Device operations",
        summary: "Operations per second of a device that another process drives.",
        detail: "A helper process lets the device do operations and times them. Its total of all \
                 operations, asked before and after each trial, verifies the work.",
        method: 1,
    },
    (Subsystem::Device, Unit::OpPerSecond),
    &[],
    None,
    const { &words(["device.peak"]) },
    Work::DEVICE,
    Role {
        main_rows: std::borrow::Cow::Borrowed(
            const { &[main_row(0, "Device operations", const { &[] as &[Pick] })] },
        ),
        ..Role::NONE
    },
);

/// The workload `device.ops`.
pub struct Ops;

impl Workload for Ops {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn configure(&self, _: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        helper()?;
        Ok(Box::new(Device))
    }

    fn verification(&self) -> &'static str {
        "device total"
    }
}

fn helper() -> Result<Command, Refusal> {
    let path = std::env::var_os(HELPER);
    path.map(Command::new).ok_or_else(|| Refusal(format!("{HELPER} names no helper")))
}

struct Device;

impl Configuration for Device {
    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        Ok(self)
    }
}

impl Setup for Device {
    fn executor(&self) -> Result<Option<Box<dyn Executor>>, Refusal> {
        Ok(Some(Box::new(HelperProcess::start(helper()?, PATIENCE)?)))
    }

    fn work_per_iteration(&self) -> f64 {
        1.0
    }

    /// Returns 0: the helper prepares the device itself.
    fn ahead_s(&self, _: f64) -> f64 {
        0.0
    }
}
