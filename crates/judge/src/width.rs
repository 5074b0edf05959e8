//! Width of a headline's interval: narrow, coarse, or none.

use proofmark_model::{Cut, Measurement, Summary, Width};

use crate::{Context, series};

/// Fewest complete solves that are judged by their range if there is no interval.
const LEAST_SOLVES: u64 = 3;

/// Classifies the width of the headline's interval. Several levels over time give the lowest and
/// the highest as ends. A result without a headline counts as narrow, since checks report it.
pub(crate) fn classify(ctx: &Context, m: &Measurement) -> Width {
    let Some(summary) = m.summary.as_ref().filter(|s| s.value().is_finite()) else {
        return Width::Narrow;
    };
    // Of complete solves the median counts: the delivered figure allows for a stall that none had.
    let interval = || match ctx.work(m).cut() {
        Cut::Whole => summary.typical.ci95.or_else(|| range(summary)),
        _ => summary.ci95(),
    };
    match series::ends_of_levels(m).or_else(interval) {
        None => Width::NoInterval,
        Some(ends) if width(summary.value(), ends) > m.subsystem.info().coarse_from() => {
            Width::Coarse
        }
        Some(_) => Width::Narrow,
    }
}

fn range(summary: &Summary) -> Option<[f64; 2]> {
    let trials = &summary.trials;
    (trials.n >= LEAST_SOLVES).then_some([trials.min, trials.max])
}

/// Largest difference of an end from the value, as a share; the same for a rate and for its time.
pub(crate) fn width(value: f64, [low, high]: [f64; 2]) -> f64 {
    let share = (high / value).max(value / low) - 1.0;
    // An interval that reaches 0, or is not finite, is infinitely wide.
    if share.is_finite() && low > 0.0 { share } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Verdict;

    use super::*;
    use crate::testing::*;

    /// The verdict of a result whose headline has these ends, as shares of the value.
    fn with_ends(m: Measurement, ends: Option<[f64; 2]>) -> Verdict {
        let mut m = judged(&usual_host(&m), m, &[]);
        let s = m.summary.as_mut().unwrap();
        let value = s.value();
        let headline = match s.headline {
            proofmark_model::FigureKind::Attainable => &mut s.attainable,
            proofmark_model::FigureKind::Typical => &mut s.typical,
            proofmark_model::FigureKind::Delivered => &mut s.delivered,
        };
        headline.ci95 = ends.map(|ends| ends.map(|end| end * value));
        let (host, policy) = (usual_host(&m), policy());
        let spec = spec(&m.workload);
        let width = classify(&context(&host, &spec, &policy, &[]), &m);
        Verdict::from_findings(&m.findings).with_width(width)
    }

    #[test]
    fn complete_solves_are_as_precise_as_their_median() {
        let with = |median: [f64; 2]| {
            let mut m = judged(&host(), linpack(5000, 2), &[]);
            let s = m.summary.as_mut().unwrap();
            let value = s.value();
            s.delivered.ci95 = Some([0.8 * value, 1.02 * value]);
            s.typical.ci95 = Some(median.map(|end| end * value));
            let spec = spec(&m.workload);
            classify(&context(&host(), &spec, &policy(), &[]), &m)
        };
        assert_eq!(with([0.99, 1.01]), Width::Narrow);
        assert_eq!(with([0.9, 1.01]), Width::Coarse);
    }

    #[test]
    fn a_wide_interval_or_none_gets_no_tick() {
        for (m, narrow, wide) in [
            (flops(1), [0.98, 1.024], [0.97, 1.0]),
            (stream("triad", 1), [0.9, 1.14], [1.0, 1.16]),
            (rand_read(1), [0.81, 1.0], [0.79, 1.0]),
            (tcp(1, "peer"), [1.0, 1.24], [0.0, 1.0]),
        ] {
            let name = m.workload.clone();
            assert_eq!(with_ends(m.clone(), Some(narrow)), Verdict::Valid, "{name}");
            assert_eq!(with_ends(m.clone(), Some(wide)), Verdict::Coarse, "{name}");
            assert_eq!(with_ends(m, None), Verdict::NoInterval, "{name}");
        }
    }

    #[test]
    fn few_complete_solves_are_judged_by_their_range() {
        let solves = |values: &[f64]| {
            let mut m = with_values(linpack(5000, 1), values);
            m.trials.truncate(values.len());
            m.summary.as_mut().unwrap().trials = proofmark_model::summarise(values).unwrap();
            with_ends(m, None)
        };
        assert_eq!(solves(&[50e9, 50.1e9, 50.2e9]), Verdict::Valid);
        assert_eq!(solves(&[50e9, 52e9, 50.2e9]), Verdict::Coarse);
        assert_eq!(solves(&[50e9, 50.1e9]), Verdict::NoInterval);
    }

    #[test]
    fn a_width_is_the_same_for_a_rate_and_for_its_time() {
        let rate = width(100.0, [80.0, 110.0]);
        let time = width(1.0 / 100.0, [1.0 / 110.0, 1.0 / 80.0]);
        assert!((rate - 0.25).abs() < 1e-12 && (time - rate).abs() < 1e-12);
    }
}
