//! Computes the memory that a trial touched from the visits of each thread.

use proofmark_model::Touched;

/// The visits of a thread to memory. It visits its places one after the other, in the same order in
/// each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visits {
    /// Bytes per place.
    pub place_bytes: u64,
    /// Places per round.
    pub round: u64,
    /// Bytes of the distinct lines of a round that pass through the caches. A line that several
    /// threads visit counts for one of them.
    pub round_bytes: u64,
    /// Visits since the load was created.
    pub visits: u64,
}

/// The memory that threads touched between two counts each.
pub fn touched(threads: &[[Visits; 2]]) -> Option<Touched> {
    let went: Vec<(Visits, u64)> = threads
        .iter()
        .map(|[before, after]| (*after, after.visits.saturating_sub(before.visits)))
        .filter(|(v, went)| v.round > 0 && *went > 0)
        .collect();
    let all = |of: fn(&(Visits, u64)) -> u64| went.iter().map(of);
    Some(Touched {
        place_bytes: went.first()?.0.place_bytes,
        places: all(|(v, went)| v.round.min(*went)).fold(0, u64::saturating_add),
        least_visits: all(|(v, went)| (went / v.round).max(1)).min()?,
        most_visits: all(|(v, went)| went.div_ceil(v.round)).max()?,
        reuse_bytes: went
            .iter()
            .filter(|(v, _)| v.visits > v.round)
            .map(|of| reuse_bytes(*of, &went))
            .min(),
    })
}

/// Bytes of distinct lines that all threads touch during one round of one thread, each at its own
/// pace.
fn reuse_bytes((one, one_went): (Visits, u64), all: &[(Visits, u64)]) -> u64 {
    let rounds = |(v, went): (Visits, u64)| went as f64 / v.round as f64;
    let own = rounds((one, one_went));
    let bytes = |of: &(Visits, u64)| of.0.round_bytes as f64 * (rounds(*of) / own).min(1.0);
    all.iter().map(bytes).sum::<f64>().round() as u64
}

#[cfg(test)]
mod tests;
