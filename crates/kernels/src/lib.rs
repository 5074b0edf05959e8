//! The workloads that are timed: one folder a subsystem, one file a kernel.
//!
//! To add a kernel, write its file and add a line to [`ALL`]. Kernels never print
//! and never judge; they declare their work ([`proofmark_model::KernelSpec`]), do
//! exactly that much of it, and prove it.

use proofmark_engine::Kernel;

mod arena;
pub mod cpu;
mod declare;
pub mod disk;
#[cfg(debug_assertions)]
mod faults;
pub mod memory;
mod mix;
pub mod network;

/// Every kernel, in the order in which a report shows them.
pub const ALL: &[&dyn Kernel] = &[
    &cpu::Clock,
    &cpu::Flops,
    &cpu::Iops,
    &cpu::MixInt,
    &cpu::MixFloat,
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
    &memory::Sweep,
    &memory::Latency,
    &memory::LoadedLatency,
    &memory::NumaRead,
    &memory::NumaLatency,
    &disk::SEQ_READ,
    &disk::SEQ_WRITE,
    &disk::READ_WRITE,
    &disk::RAND_READ,
    &disk::RAND_WRITE,
    &disk::MIXED,
    &disk::Fsync,
    &network::TCP_STREAM,
    &network::UDP_STREAM,
    &network::TCP_RTT,
    &network::UDP_RTT,
    &network::TCP_CONNECT,
];

/// The kernel of that id. Debug builds also know those that go wrong on purpose.
pub fn find(id: &str) -> Option<&'static dyn Kernel> {
    let mut known = ALL.iter();
    #[cfg(debug_assertions)]
    let mut known = known.by_ref().chain(faults::ALL);
    known.find(|k| k.spec().id == id).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proofmark_model::{AUTO, Knob, KnobKind};

    use super::*;

    fn default_is_legal(knob: &Knob) -> bool {
        match &knob.kind {
            _ if knob.default == AUTO => true,
            KnobKind::Count { min, max } | KnobKind::Size { min, max } => {
                knob.default.parse::<u64>().is_ok_and(|v| (*min..=*max).contains(&v))
            }
            KnobKind::Choice(words) => words.contains(&knob.default),
        }
    }

    #[test]
    fn every_declaration_is_well_formed() {
        let mut ids = BTreeSet::new();
        for kernel in ALL {
            let spec = kernel.spec();
            assert!(ids.insert(&*spec.id), "{} twice", spec.id);
            let prefix = format!("{}.", spec.subsystem);
            assert!(spec.id.starts_with(&prefix) && spec.id.len() > prefix.len(), "{}", spec.id);
            assert!(!spec.title.is_empty() && spec.summary.ends_with('.'), "{}", spec.id);
            assert!(spec.detail.len() > 200 && spec.detail.ends_with('.'), "{}", spec.id);
            assert!(!spec.detail.contains("  "), "{}: a broken line", spec.id);
            let mut names = BTreeSet::new();
            for knob in spec.knobs.iter() {
                assert!(names.insert(&*knob.name), "{} {} twice", spec.id, knob.name);
                assert!(knob.about.ends_with('.'), "{} {}", spec.id, knob.name);
                assert!(default_is_legal(knob), "{} {}", spec.id, knob.name);
            }
            assert!(spec.axis.as_ref().is_none_or(|a| names.contains(&**a)), "{}", spec.id);
        }
        assert_eq!(ids.len(), ALL.len());
    }

    #[test]
    fn an_illegal_default_is_seen() {
        let kind = KnobKind::Count { min: 1, max: 4 };
        let knob = Knob { name: "n".into(), about: "N.".into(), kind, default: "5".into() };
        assert!(!default_is_legal(&knob));
    }
}
