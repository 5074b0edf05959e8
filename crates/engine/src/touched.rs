//! From what the cursor of each thread counted to what a trial touched in memory.

use proofmark_model::Touched;

/// Where a thread was in memory: it visits its places one after the other, and once round in the same
/// order again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visits {
    /// Bytes of a place.
    pub place_bytes: u64,
    /// Places once round.
    pub round: u64,
    /// Bytes of the distinct lines once round that pass through the caches; of lines that several
    /// threads go to, each counts for one thread.
    pub round_bytes: u64,
    /// Visits since the load was made.
    pub visits: u64,
}

/// What threads touched, of which each went on from the first of two counts to the second.
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

/// Bytes of distinct lines that all threads touch while one goes round once, each at its own pace.
fn reuse_bytes((one, one_went): (Visits, u64), all: &[(Visits, u64)]) -> u64 {
    let rounds = |(v, went): (Visits, u64)| went as f64 / v.round as f64;
    let own = rounds((one, one_went));
    let bytes = |of: &(Visits, u64)| of.0.round_bytes as f64 * (rounds(*of) / own).min(1.0);
    all.iter().map(bytes).sum::<f64>().round() as u64
}

#[cfg(test)]
mod tests;
