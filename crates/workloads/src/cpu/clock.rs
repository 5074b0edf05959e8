//! `cpu.clock`: core cycles per second.

use std::borrow::Cow;

use proofmark_engine::chain::{self, PER_STEP};
use proofmark_engine::{Load, Refusal, Setup, Workload};
use proofmark_model::{Params, Property, Role, Unit, WorkloadSpec};

use super::task;
use crate::declare::Words;

static SPEC: WorkloadSpec = task::spec(
    Words {
        id: "cpu.clock",
        title: "Core clock",
        summary: "Core cycles per second, averaged over the threads.",
        detail: "Each thread runs a chain of dependent register additions. A core retires one per \
                 cycle, so additions per second are cycles per second. The sum of the chain proves \
                 how many additions ran. Around each trial a second chain of other instructions \
                 (3-cycle multiplications on x86-64) must show the same clock.",
        method: 2,
    },
    Unit::Hertz,
    const { &[task::THREADS] },
    &[Cow::Borrowed("cpu.boost")],
    const { Role { provides: Cow::Borrowed(&[Property::CoreClock]), ..Role::NONE } },
);

/// Core cycles per second.
pub struct Clock;

impl Workload for Clock {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        if params.threads() > cpus {
            let reason = "threads that share a CPU cannot measure its clock";
            return Err(Refusal(reason.to_owned()));
        }
        Ok(())
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        Ok(Box::new(Chains { threads: params.threads() }))
    }
}

struct Chains {
    threads: u64,
}

impl Setup for Chains {
    fn work_per_iteration(&self) -> f64 {
        // Divided by the threads: a clock is not summed over cores.
        PER_STEP as f64 / self.threads.max(1) as f64
    }

    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(Chain { sum: 0 }))
    }
}

struct Chain {
    sum: u64,
}

impl Load for Chain {
    fn begin(&mut self) {
        self.sum = 0;
    }

    fn run(&mut self, iterations: u64) {
        self.sum += chain::adds(iterations);
    }

    fn verify(&mut self) -> Result<u64, String> {
        if self.sum.is_multiple_of(PER_STEP) {
            Ok(self.sum / PER_STEP)
        } else {
            Err(format!("the chain's sum {} is not a multiple of {PER_STEP}", self.sum))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::testing::{uneven_slices, verified};

    #[test]
    fn threads_that_take_turns_are_refused() {
        let threads = |n| Clock.supports(&Params::default().with("threads", n));
        assert_eq!(threads(1), Ok(()));
        assert!(threads(4096).unwrap_err().to_string().contains("share a CPU"));
    }

    #[test]
    fn the_sum_proves_the_steps() {
        let mut load = Chain { sum: 0 };
        for n in [0, 1, 1001] {
            load.run(3);
            for slices in [vec![n], uneven_slices(n)] {
                assert_eq!(verified(&mut load, &slices), Ok(n));
            }
        }
        load.begin();
        load.run(5);
        load.sum += 1; // A slice that added too much.
        load.run(5);
        assert!(load.verify().is_err());
    }
}
