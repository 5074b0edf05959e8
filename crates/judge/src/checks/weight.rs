//! Weight of a named cause: a result is suspect if the cause changed the headline figure by more
//! than its subsystem's tolerance. The interval does not count, since the cause may have widened
//! it.
//!
//! Windows leave out time in which something was taken. So taken time is not in an attainable or
//! typical headline, and is a note. It is in a delivered headline, where that of all trials counts:
//! delivered is no median, which a few trials could not change.

use proofmark_model::{FigureKind, Measurement, Severity};

use super::share::Share;
use crate::{from_windows, taken_in_figure};

/// Ending of a message about taken time that the headline leaves out; false for a delivered
/// headline.
pub(crate) const LEFT_OUT: &str = "; the figure leaves that time out";

/// The properties of a headline figure that decide how much a change weighs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight {
    /// Smallest change that matters, as a share of the figure.
    tolerance: f64,
    /// True if the figure is all work over all time, to which each trial adds.
    sums: bool,
    /// True if windows keep taken time out of the figure.
    removed: bool,
    /// True if a part of the taken time is in the figure nevertheless, which `taken_in_figure`
    /// weighs.
    holds: bool,
    /// True if there is a headline that may leave time out.
    is_shown: bool,
}

/// The largest share of the figure that anything can have cost: what it lacks of its ceiling, with
/// the ceiling's uncertainty; 1 without a ceiling.
pub(super) fn most_lost(m: &Measurement) -> f64 {
    let reached = m.efficiency.zip(m.ceiling.as_ref());
    reached.map_or(1.0, |(e, c)| (1.0 - e / (1.0 + c.uncertainty)).clamp(0.0, 1.0))
}

impl Weight {
    pub(super) fn derive(m: &Measurement) -> Self {
        let sums = m.summary.as_ref().is_some_and(|s| s.headline == FigureKind::Delivered);
        let holds = taken_in_figure(m).is_some_and(|share| share > 0.0);
        let headline = m.summary.as_ref().map(|s| s.figure(s.headline));
        let is_shown = headline.is_some_and(|figure| figure.value.is_some());
        let tolerance = m.subsystem.info().tolerance;
        Self { tolerance, sums, removed: from_windows(m), holds, is_shown }
    }

    /// The severity of a cause that changed the figure by this share, and that no window removes.
    pub(super) fn change(self, by: f64) -> Severity {
        if by > self.tolerance { Severity::Suspect } else { Severity::Note }
    }

    /// The share that changes the figure: of all trials for delivered, else without the worst tenth.
    pub(super) fn counted(self, share: &Share) -> f64 {
        if self.sums { share.all } else { share.usual }
    }

    /// The severity of taken time, as a share of all; `None` up to `seen`, the noise of the
    /// account.
    pub(super) fn taken(self, share: &Share, seen: f64) -> Option<Severity> {
        let severity = share.severity(seen)?;
        Some(match severity {
            weaker if !self.sums && (self.removed || weaker != Severity::Suspect) => Severity::Note,
            _ => self.change(self.counted(share)),
        })
    }

    /// The severity of a cause that took this share of the time, if windows do not remove it.
    pub(super) fn lost(self, share: f64) -> Severity {
        if self.removed { Severity::Note } else { self.change(share) }
    }

    /// The ending of a message about taken time.
    pub(super) fn ending(self) -> &'static str {
        if self.removed && !self.holds && self.is_shown { LEFT_OUT } else { "" }
    }

    pub(super) fn removed(self) -> bool {
        self.removed
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, Verdict};

    use super::*;
    use crate::testing::*;

    /// The result with that share of each trial taken by each of the checks in `CONTENTION_CHECKS`.
    fn taken(m: Measurement, share: f64) -> Measurement {
        each(m, |_, t| {
            let threads = 1.0;
            let seconds = Some(share * threads * t.seconds);
            let c = &mut t.conditions;
            (c.steal_s, c.throttled_s, c.other_cpu_s) = (seconds, seconds, seconds);
        })
    }

    const CONTENTION_CHECKS: [&str; 3] = ["steal", "throttled", "other_cpu"];

    fn weights(m: Measurement) -> Vec<Option<Severity>> {
        let m = judged(&usual_host(&m), m, &[]);
        let severity = |id: &&str| m.findings.iter().find(|f| f.check == **id).map(|f| f.severity);
        let all = CONTENTION_CHECKS.iter().map(severity).collect::<Vec<_>>();
        let suspect = all.contains(&Some(Severity::Suspect));
        assert_eq!(m.verdict == Verdict::Suspect, suspect, "{:?}", m.findings);
        all
    }

    #[test]
    fn a_result_without_a_headline_leaves_nothing_out_of_it() {
        let ending = |value: Option<f64>| {
            let mut m = headed(in_windows(flops(1)), FigureKind::Typical, 0.001);
            m.summary.as_mut().unwrap().typical.value = value;
            Weight::derive(&m).ending()
        };
        assert_eq!((ending(Some(6e10)), ending(None)), (LEFT_OUT, ""));
    }

    #[test]
    fn time_that_windows_remove_is_a_note_and_time_in_delivered_is_suspect() {
        use FigureKind::{Attainable, Delivered, Typical};
        let (note, suspect) = (vec![Some(Severity::Note); 3], vec![Some(Severity::Suspect); 3]);
        for (name, m, expected) in [
            ("attainable", headed(in_windows(flops(1)), Attainable, 0.001), &note),
            ("typical", headed(in_windows(stream("triad", 1)), Typical, 0.001), &note),
            ("trials without rounds", flops(1), &suspect),
            ("no clean time was seen", headed(in_windows(flops(1)), Delivered, 0.001), &suspect),
            ("complete solves have no windows", headed(linpack(5000, 1), Typical, 0.01), &suspect),
            ("an interval that the cause widened", headed(flops(1), Delivered, 0.3), &suspect),
        ] {
            assert_eq!(&weights(taken(m, 0.12)), expected, "{name}");
        }
        let m = headed(in_windows(flops(1)), Attainable, 0.001);
        let message = judged(&host(), taken(m, 0.12), &[]).findings.swap_remove(0).message;
        assert!(
            message.contains("12.0 %") && message.ends_with("leaves that time out"),
            "{message}"
        );
    }

    #[test]
    fn faults_swapping_and_switches_are_gaps_too() {
        let gaps = |m| {
            each(m, |_, t| {
                let c = &mut t.conditions;
                c.own_cpu_s = Some(0.8 * t.seconds);
                (c.involuntary_switches, c.swapped_pages) = (Some(20), Some(200));
                c.major_faults = Some(1);
            })
        };
        let found = |m: Measurement| -> Vec<(String, Severity)> {
            let all = judged(&host(), m, &[]).findings.into_iter();
            all.map(|f| (f.check.into_owned(), f.severity)).collect()
        };
        let each = |severity| {
            let ids = ["involuntary_switches", "swap", "page_faults"];
            ids.map(|id| (id.to_owned(), severity)).to_vec()
        };
        assert_eq!(found(gaps(flops(1))), each(Severity::Suspect));
        let windows = headed(in_windows(flops(1)), FigureKind::Attainable, 0.001);
        assert_eq!(found(gaps(windows)), each(Severity::Note));
    }

    #[test]
    fn only_more_than_the_tolerance_is_suspect_however_wide_the_interval_is() {
        let note = vec![Some(Severity::Note); 3];
        assert_eq!(weights(taken(stream("triad", 1), 0.09)), note, "the tolerance is 10 %");
        let suspect = vec![Some(Severity::Suspect); 3];
        assert_eq!(weights(taken(stream("triad", 1), 0.11)), suspect);
        for half in [0.001, 0.9] {
            let m = headed(stream("triad", 1), FigureKind::Delivered, half);
            assert_eq!(weights(taken(m, 0.11)), suspect, "{half}");
        }
    }

    #[test]
    fn how_a_length_was_chosen_changes_no_verdict() {
        use proofmark_model::Ending;
        let few = |n: usize| {
            let mut m = flops(1);
            m.trials.truncate(n);
            let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
            Measurement { summary: summary(&values), ..m }
        };
        let rough: Vec<f64> = (0..8).map(|i| 60e9 + 1e9 * f64::from(i % 5)).collect();
        let all = [flops(1), few(3), few(5), with_values(flops(1), &rough), taken(flops(1), 0.2)];
        for m in all {
            let ended = |ending| judged(&host(), Measurement { ending, ..m.clone() }, &[]);
            let (asked, cut) = (ended(Ending::Complete), ended(Ending::Budget));
            assert_eq!((&asked.findings, asked.verdict), (&cut.findings, cut.verdict));
            assert_eq!((asked.precision, asked.bottleneck), (cut.precision, cut.bottleneck));
        }
    }
}
