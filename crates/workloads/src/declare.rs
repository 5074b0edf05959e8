//! Constructors that the declarations of several subsystems use.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use proofmark_model::key::{self, Bytes, Choice, Count, Key};
use proofmark_model::{
    AUTO, Better, Counterpart, MainRow, Parameter, ParameterKind, Pick, PickedValue, Place,
    Relation, Role, Subsystem, Unit, Work, WorkloadSpec,
};

/// The largest size of any parameter, in bytes: 64 TiB.
pub(crate) const MAX_SIZE: u64 = 1 << 46;

const fn parameter(
    name: &'static str,
    about: &'static str,
    kind: ParameterKind,
    default: &'static str,
) -> Parameter {
    Parameter {
        name: Cow::Borrowed(name),
        about: Cow::Borrowed(about),
        kind,
        default: Cow::Borrowed(default),
    }
}

pub(crate) const fn count_parameter(
    key: Key<Count>,
    about: &'static str,
    values: RangeInclusive<u64>,
    default: &'static str,
) -> Parameter {
    let (min, max) = (*values.start(), *values.end());
    parameter(key.name(), about, ParameterKind::Count { min, max }, default)
}

pub(crate) const fn size_parameter(
    key: Key<Bytes>,
    about: &'static str,
    values: RangeInclusive<u64>,
    default: &'static str,
) -> Parameter {
    let (min, max) = (*values.start(), *values.end());
    parameter(key.name(), about, ParameterKind::Size { min, max }, default)
}

pub(crate) const fn choice_parameter(
    key: Key<Choice>,
    about: &'static str,
    words: &'static [Cow<'static, str>],
    default: &'static str,
) -> Parameter {
    parameter(key.name(), about, ParameterKind::Choice(Cow::Borrowed(words)), default)
}

pub(crate) const fn threads_parameter(about: &'static str, default: &'static str) -> Parameter {
    count_parameter(key::THREADS, about, 1..=4096, default)
}

/// Declares a parameter for a number of bytes whose default is `auto`.
pub(crate) const fn auto_size_parameter(
    key: Key<Bytes>,
    about: &'static str,
    min: u64,
) -> Parameter {
    size_parameter(key, about, min..=MAX_SIZE, AUTO)
}

/// Converts words to the form that declarations need.
pub(crate) const fn words<const N: usize>(words: [&'static str; N]) -> [Cow<'static, str>; N] {
    let mut all = [const { Cow::Borrowed("") }; N];
    let mut i = 0;
    while i < N {
        // A constant cannot drop the replaced value, which owns nothing.
        std::mem::forget(std::mem::replace(&mut all[i], Cow::Borrowed(words[i])));
        i += 1;
    }
    all
}

/// The texts of a workload. See the fields of [`WorkloadSpec`].
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) detail: &'static str,
    pub(crate) method: u32,
}

/// Declares a workload whose result is better if higher. Its set-up takes too long for alternating
/// the trials of many configurations.
pub(crate) const fn rate(
    words: Words,
    (subsystem, unit): (Subsystem, Unit),
    parameters: &'static [Parameter],
    axis: Option<&'static str>,
    ceilings: &'static [Cow<'static, str>],
    work: Work,
    role: Role,
) -> WorkloadSpec {
    WorkloadSpec {
        id: Cow::Borrowed(words.id),
        title: Cow::Borrowed(words.title),
        summary: Cow::Borrowed(words.summary),
        detail: Cow::Borrowed(words.detail),
        method: words.method,
        subsystem,
        unit,
        better: Better::Higher,
        parameters: Cow::Borrowed(parameters),
        axis: match axis {
            Some(parameter) => Some(Cow::Borrowed(parameter)),
            None => None,
        },
        ceilings: Cow::Borrowed(ceilings),
        interleave: false,
        work,
        role,
    }
}

/// Marks a workload as cheap to set up: the trials of many configurations are taken in turn.
pub(crate) const fn interleaved(mut spec: WorkloadSpec) -> WorkloadSpec {
    spec.interleave = true;
    spec
}

/// Marks a workload that reports a time: lower is better.
pub(crate) const fn lower_is_better(mut spec: WorkloadSpec) -> WorkloadSpec {
    spec.better = Better::Lower;
    spec
}

/// Declares a row of the first screen: its place in the subsystem, its title and the configuration
/// that fills it.
pub(crate) const fn main_row(place: u32, title: &'static str, picks: &'static [Pick]) -> MainRow {
    MainRow { place, title: Cow::Borrowed(title), picks: Cow::Borrowed(picks) }
}

/// Selects the measured value of a parameter that fills a row.
pub(crate) const fn pick<T>(key: Key<T>, value: PickedValue) -> Pick {
    Pick { parameter: Cow::Borrowed(key.name()), value }
}

/// Selects one fixed value of a parameter.
pub(crate) const fn pick_value<T>(key: Key<T>, value: &'static str) -> Pick {
    pick(key, PickedValue::Is(Cow::Borrowed(value)))
}

/// One CPU, where that was measured.
pub(crate) const ONE_CPU: Pick = pick(key::THREADS, PickedValue::Smallest);

/// All CPUs.
pub(crate) const ALL_CPUS: Pick = pick(key::THREADS, PickedValue::UsableCpus);

/// The fastest instruction set, which is unknown before the run.
pub(crate) const BEST_ISA: Pick = pick(key::ISA, PickedValue::Best);

/// Declares a row of a table of several workloads.
pub(crate) const fn place(table: &'static str, row: u32, label: &'static str) -> Place {
    Place { table: Cow::Borrowed(table), row, label: Cow::Borrowed(label) }
}

/// Refers to the workload that visits the same blocks in order of addresses.
pub(crate) const fn in_order(workload: &'static str) -> Counterpart {
    Counterpart {
        workload: Cow::Borrowed(workload),
        relation: Relation::InOrder,
        differs_in: Cow::Borrowed(&[]),
    }
}

/// Refers to a workload that does the same work by another method, and the parameters that may
/// differ.
pub(crate) const fn alternative(
    workload: &'static str,
    differs_in: &'static [Cow<'static, str>],
) -> Counterpart {
    Counterpart {
        workload: Cow::Borrowed(workload),
        relation: Relation::Alternative,
        differs_in: Cow::Borrowed(differs_in),
    }
}
