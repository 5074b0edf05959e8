//! Changes of level over runs, of a history or of a group, found as those of a series over time are.

use std::collections::BTreeMap;

use proofmark_model::{FigureKind, LevelChange, LevelShift, PastPoint, median};

use crate::series::cuts;
use crate::statistics::most_frequent;

/// Finds the changes of level in the past results of one workload, the oldest first. Invalid results
/// do not count. What differs between the runs is left to those who have their files.
pub fn level_changes(points: &[PastPoint]) -> Vec<LevelChange> {
    let mut lines: BTreeMap<_, Vec<&PastPoint>> = BTreeMap::new();
    for p in points.iter().filter(|p| p.verdict.is_usable()) {
        lines.entry(p.line()).or_default().push(p);
    }
    let mut all: Vec<LevelChange> = lines.into_values().flat_map(|line| of_line(&line)).collect();
    all.sort_by_key(|change| change.started);
    all
}

/// Finds the changes of level in the values of runs, which come with their places in order.
pub(crate) fn level_shifts(values: &[(usize, f64)]) -> Vec<LevelShift> {
    let known = values.iter().copied().filter(|(_, value)| value.is_finite() && *value > 0.0);
    let (places, values): (Vec<usize>, Vec<f64>) = known.unzip();
    let mut bounds = cuts(&values);
    bounds.insert(0, 0);
    bounds.push(values.len());
    let level = |bounds: &[usize]| {
        let [from, at, to] = *bounds else { return None };
        Some(LevelShift {
            run: places[at],
            medians: [median(&values[from..at])?, median(&values[at..to])?],
            runs: [at - from, to - at].map(|n| n as u64),
        })
    };
    bounds.windows(3).filter_map(level).collect()
}

fn of_line(line: &[&PastPoint]) -> Vec<LevelChange> {
    let delivered = PastPoint::follow_delivered(line);
    let value = |p: &PastPoint| p.followed(delivered).map(|figure| figure.value);
    let known =
        line.iter().filter_map(|p| Some((*p, value(p).filter(|v| v.is_finite() && *v > 0.0)?)));
    let mut known: Vec<(&PastPoint, f64)> = known.collect();
    known.sort_by_key(|(p, _)| (p.started, p.run));
    let values: Vec<(usize, f64)> = known.iter().map(|(_, value)| *value).enumerate().collect();
    let figure = match delivered {
        true => FigureKind::Delivered,
        false => most_frequent(line.iter().map(|p| p.headline)),
    };
    let change = |level: LevelShift| {
        let (last, first) = (known[level.run - 1].0, known[level.run].0);
        LevelChange {
            host: first.host.clone(),
            machine: first.machine.clone(),
            params: first.params.clone(),
            over_time: first.over_time,
            figure,
            between: [last.run, first.run],
            started: first.started,
            medians: level.medians,
            runs: level.runs,
            differences: Vec::new(),
            missing: None,
        }
    };
    level_shifts(&values).into_iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Timestamp, Verdict};

    use super::*;
    use crate::between::tests::planned;
    use crate::testing::{normal, xorshift};

    /// Results of a rate, one an hour.
    fn line(values: impl IntoIterator<Item = f64>) -> Vec<PastPoint> {
        let (_, point) = planned();
        let at = |(i, value): (usize, f64)| PastPoint {
            run: i as i64 + 1,
            started: Timestamp::from_millis(3_600_000 * i as i64).unwrap(),
            value: Some(value),
            ..point.clone()
        };
        values.into_iter().enumerate().map(at).collect()
    }

    #[test]
    fn a_level_begins_in_the_run_in_which_it_does() {
        let mut random = xorshift();
        let mut about = |n: usize, level: f64| -> Vec<f64> {
            (0..n).map(|_| level * (0.01 * normal(&mut random)).exp()).collect()
        };
        let mut points = line([about(20, 100.0), about(15, 90.0), about(12, 95.0)].concat());
        // Of another machine, and invalid ones.
        points.extend(
            line(about(30, 50.0))
                .into_iter()
                .map(|p| PastPoint { machine: "other".to_owned(), ..p }),
        );
        points[25].verdict = Verdict::Invalid;
        points[25].value = Some(1.0);
        let found = level_changes(&points);
        let runs: Vec<[i64; 2]> = found.iter().map(|change| change.between).collect();
        assert_eq!(runs, [[20, 21], [35, 36]], "{found:?}");
        assert_eq!((found[0].runs, found[1].runs), ([20, 14], [14, 12]));
        assert!((found[0].medians[1] / found[0].medians[0] - 0.9).abs() < 0.01);
        assert_eq!(found[0].started, points[20].started);
        // A drift, one run far off and too few runs are no change.
        for none in [
            (0..40).map(|i| 100.0 - 0.2 * f64::from(i)).collect(),
            [about(20, 100.0), vec![50.0], about(20, 100.0)].concat(),
            [vec![100.0; 4], vec![50.0; 4]].concat(),
        ] {
            assert_eq!(level_changes(&line(none)), []);
        }
    }

    #[test]
    fn a_line_follows_delivered_where_runs_have_it() {
        let mut points = line([100.0; 20]);
        for (i, p) in points.iter_mut().enumerate() {
            let value = if i < 10 { 80.0 } else { 40.0 };
            p.delivered = Some(proofmark_model::PastFigure { value, ci95: None });
        }
        let found = level_changes(&points);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].figure, found[0].medians), (FigureKind::Delivered, [80.0, 40.0]));
    }
}
