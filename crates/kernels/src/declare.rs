//! What declarations of more than one subsystem have in common.

use std::borrow::Cow;

use proofmark_model::{AUTO, Better, KernelSpec, Knob, KnobKind, Subsystem, Unit};

/// The greatest size of any knob, in bytes: 64 TiB.
pub(crate) const MOST: u64 = 1 << 46;

/// A knob.
pub(crate) const fn knob(
    name: &'static str,
    about: &'static str,
    kind: KnobKind,
    default: &'static str,
) -> Knob {
    Knob {
        name: Cow::Borrowed(name),
        about: Cow::Borrowed(about),
        kind,
        default: Cow::Borrowed(default),
    }
}

/// The words of a knob that is a choice.
pub(crate) const fn choice(words: &'static [Cow<'static, str>]) -> KnobKind {
    KnobKind::Choice(Cow::Borrowed(words))
}

/// The knob `threads`.
pub(crate) const fn threads_knob(about: &'static str, default: &'static str) -> Knob {
    knob("threads", about, KnobKind::Count { min: 1, max: 4096 }, default)
}

/// A knob for a number of bytes that is left to the machine unless it is typed.
pub(crate) const fn size_knob(name: &'static str, about: &'static str, min: u64) -> Knob {
    knob(name, about, KnobKind::Size { min, max: MOST }, AUTO)
}

/// What a kernel says of itself in words; see the fields of [`KernelSpec`].
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) detail: &'static str,
}

/// A kernel of which more is better, and whose set-up takes too long for trials of many
/// points to be taken in turn.
pub(crate) const fn rate(
    words: Words,
    (subsystem, unit): (Subsystem, Unit),
    knobs: &'static [Knob],
    axis: Option<&'static str>,
    ceilings: &'static [Cow<'static, str>],
) -> KernelSpec {
    KernelSpec {
        id: Cow::Borrowed(words.id),
        title: Cow::Borrowed(words.title),
        summary: Cow::Borrowed(words.summary),
        detail: Cow::Borrowed(words.detail),
        subsystem,
        unit,
        better: Better::Higher,
        knobs: Cow::Borrowed(knobs),
        axis: match axis {
            Some(knob) => Some(Cow::Borrowed(knob)),
            None => None,
        },
        ceilings: Cow::Borrowed(ceilings),
        interleave: false,
    }
}
