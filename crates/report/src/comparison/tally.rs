//! How many results became what.

use proofmark_model::{Comparability, ComparedPoint, Comparison};
use serde::Serialize;

/// Points by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// All.
    pub points: usize,
    /// Those that were compared.
    pub compared: usize,
    /// B is slower.
    pub slower: usize,
    /// B is faster.
    pub faster: usize,
    /// No difference is shown.
    pub alike: usize,
    /// Not comparable, those that are gone left out.
    pub not_comparable: usize,
    /// A has a number that counts and B has none.
    pub gone: usize,
}

impl Tally {
    /// Of a comparison.
    pub fn count(c: &Comparison) -> Self {
        let count = |keep: fn(&ComparedPoint) -> bool| c.points.iter().filter(|p| keep(p)).count();
        Self {
            points: c.points.len(),
            compared: count(ComparedPoint::judged),
            slower: count(|p| p.change() == Comparability::Slower),
            faster: count(|p| p.change() == Comparability::Faster),
            alike: count(|p| p.change() == Comparability::NoDifferenceShown),
            not_comparable: count(|p| !p.judged() && !p.gone()),
            gone: count(ComparedPoint::gone),
        }
    }
}
