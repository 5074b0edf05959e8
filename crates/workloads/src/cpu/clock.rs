//! `cpu.clock`: core cycles per second.

use std::borrow::Cow;

use proofmark_engine::chain::{Chain, first_after};
use proofmark_engine::{Configuration, Load, Refusal, Setup, Workload, usable_cpus};
use proofmark_model::{Params, Property, Role, Unit, WorkloadSpec, ceiling_id};

use super::task;
use crate::declare::Words;

static SPEC: WorkloadSpec = task::spec(
    Words {
        id: "cpu.clock",
        title: "Core clock",
        summary: "Core cycles per second, averaged over the threads.",
        detail: "Each thread runs a chain of dependent instructions of known latency: on x86-64 \
                 multiplications (3 cycles each), on AArch64 additions (1 cycle). Instructions per \
                 second times their latency is the clock. The chain's final value proves how many \
                 ran. Around each trial a second chain (x86-64: additions, AArch64: exclusive ORs) \
                 checks the clock: a difference of more than 20 % is a finding.",
        method: 3,
    },
    Unit::Hertz,
    const { &[task::THREADS] },
    &[Cow::Borrowed(ceiling_id::CPU_BOOST)],
    const { Role { provides: Cow::Borrowed(&[Property::CoreClock]), ..Role::NONE } },
);

/// Core cycles per second.
pub struct Clock;

impl Workload for Clock {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        // A quota takes time, not CPUs.
        let cpus = usable_cpus(None).map_or(1, |cpus| cpus.len() as u64);
        if params.threads() > cpus {
            let reason = "threads that share a CPU cannot measure its clock";
            return Err(Refusal(reason.to_owned()));
        }
        Ok(Box::new(Chains { threads: params.threads() }))
    }
}

struct Chains {
    threads: u64,
}

impl Configuration for Chains {
    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        Ok(self)
    }
}

impl Setup for Chains {
    fn work_per_iteration(&self) -> f64 {
        // Divided by the threads, because a clock is not summed over cores.
        Chain::First.cycles() as f64 / self.threads.max(1) as f64
    }

    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(ChainLoad::default()))
    }
}

/// The current value of the chain, and its steps.
struct ChainLoad {
    value: u64,
    steps: u64,
}

impl Default for ChainLoad {
    fn default() -> Self {
        Self { value: 1, steps: 0 }
    }
}

impl Load for ChainLoad {
    fn begin(&mut self) {
        *self = Self::default();
    }

    fn run(&mut self, iterations: u64) {
        self.value = Chain::First.run(self.value, iterations);
        self.steps += iterations;
    }

    fn verify(&mut self) -> Result<u64, String> {
        let Self { value, steps } = *self;
        let expected = first_after(steps);
        if value == expected {
            Ok(steps)
        } else {
            Err(format!("the chain's result is {value}; {steps} steps must give {expected}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::testing::{WorkloadExt, uneven_slices, verified};
    use proofmark_model::key;

    #[test]
    fn threads_that_take_turns_are_refused() {
        let threads = |n| Clock.refusal(&Params::default().with(key::THREADS, n));
        assert_eq!(threads(1), None);
        assert!(threads(4096).unwrap().contains("share a CPU"));
    }

    #[test]
    fn the_value_proves_the_steps() {
        let mut load = ChainLoad::default();
        for n in [0, 1, 1001] {
            load.run(3);
            for slices in [vec![n], uneven_slices(n)] {
                assert_eq!(verified(&mut load, &slices), Ok(n));
            }
        }
        load.begin();
        load.run(5);
        load.value = Chain::First.run(load.value, 1); // A slice that did too much.
        load.run(5);
        assert!(load.verify().is_err());
    }
}
