//! The workloads: one folder per subsystem, one file per workload.
//!
//! Workloads never print and never judge. They declare their work
//! ([`proofmark_model::WorkloadSpec`]), do exactly that work, and prove it.

use std::ops::Range;

use proofmark_engine::Workload;

mod arena;
mod cpu;
mod declare;
#[cfg(feature = "faults")]
mod device;
pub mod disk;
#[cfg(feature = "faults")]
mod faults;
mod memory;
mod mix;
pub mod network;
mod params;

/// Every workload, in the order in which a report shows them.
pub const ALL: &[&dyn Workload] = &[
    &cpu::Clock,
    &cpu::FLOPS,
    &cpu::IOPS,
    &cpu::MIX_INT,
    &cpu::MIX_FLOAT,
    &cpu::PingPong,
    &cpu::Dgemm,
    &cpu::Linpack,
    &memory::COPY,
    &memory::SCALE,
    &memory::ADD,
    &memory::TRIAD,
    &memory::READ,
    &memory::WRITE,
    &memory::READ_WRITE,
    &memory::RAND_READ_WRITE,
    &memory::SEQ_WRITE,
    &memory::RAND_WRITE,
    &memory::SEQ_READ,
    &memory::RAND_READ,
    &memory::SWEEP,
    &memory::LATENCY,
    &memory::LoadedLatency,
    &memory::NumaRead,
    &memory::NUMA_LATENCY,
    &disk::SEQ_READ,
    &disk::SEQ_WRITE,
    &disk::READ_WRITE,
    &disk::RAND_READ,
    &disk::RAND_WRITE,
    &disk::MIXED,
    &disk::FSYNC,
    &network::TCP_STREAM,
    &network::UDP_STREAM,
    &network::TCP_RTT,
    &network::UDP_RTT,
    &network::TCP_CONNECT,
];

/// Returns the workload with this id. With the feature `faults` also those that fail on purpose.
pub fn find(id: &str) -> Option<&'static dyn Workload> {
    let mut known = ALL.iter();
    #[cfg(feature = "faults")]
    let mut known = known.by_ref().chain(faults::ALL);
    known.find(|k| k.spec().id == id).copied()
}

/// Returns part `index` of `of` adjacent parts of this many things.
fn share(things: usize, index: usize, of: usize) -> Range<usize> {
    index * things / of..(index + 1) * things / of
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proofmark_model::{AUTO, Parameter, ParameterKind};

    use super::*;

    fn default_is_legal(parameter: &Parameter) -> bool {
        match &parameter.kind {
            _ if parameter.default == AUTO => true,
            ParameterKind::Count { min, max } | ParameterKind::Size { min, max } => {
                parameter.default.parse::<u64>().is_ok_and(|v| (*min..=*max).contains(&v))
            }
            ParameterKind::Choice(words) => words.contains(&parameter.default),
        }
    }

    #[test]
    fn every_declaration_is_well_formed() {
        let mut ids = BTreeSet::new();
        for workload in ALL {
            let spec = workload.spec();
            assert!(ids.insert(&*spec.id), "{} twice", spec.id);
            let prefix = format!("{}.", spec.subsystem);
            assert!(spec.id.starts_with(&prefix) && spec.id.len() > prefix.len(), "{}", spec.id);
            assert!(!spec.title.is_empty() && spec.summary.ends_with('.'), "{}", spec.id);
            // A result has one name wherever it is shown.
            assert!(spec.role.main_rows.iter().all(|r| r.title == spec.title), "{}", spec.id);
            assert!(spec.detail.len() > 200 && spec.detail.ends_with('.'), "{}", spec.id);
            assert!(!spec.detail.contains("  "), "{}: a broken line", spec.id);
            let mut names = BTreeSet::new();
            for parameter in spec.parameters.iter() {
                assert!(names.insert(&*parameter.name), "{} {} twice", spec.id, parameter.name);
                assert!(parameter.about.ends_with('.'), "{} {}", spec.id, parameter.name);
                assert!(default_is_legal(parameter), "{} {}", spec.id, parameter.name);
            }
            assert!(spec.axis.as_ref().is_none_or(|a| names.contains(&**a)), "{}", spec.id);
        }
        assert_eq!(ids.len(), ALL.len());
    }
}
