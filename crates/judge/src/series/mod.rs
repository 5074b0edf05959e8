//! Analysis of a result over time, from its trials alone: levels, changes with causes, and the
//! trend.

mod cause;
mod segments;
mod trend;
mod when;

use proofmark_model::{Change, Level, Measurement, Series, Trial};

use crate::Context;

use crate::statistics::{median, median_interval};

pub(crate) use cause::shares;
pub(crate) use segments::cuts;

/// Most trials that are analysed: our runs have far fewer.
const MOST_TRIALS: usize = 1 << 14;

/// Analyses the trials of a series; `None` for a result that is no series.
pub(crate) fn analyse(ctx: &Context, m: &Measurement) -> Option<Series> {
    let mut series = m.series.clone()?;
    (series.levels, series.changes, series.trend) = (Vec::new(), Vec::new(), None);
    let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
    if values.is_empty()
        || values.len() > MOST_TRIALS
        || !values.iter().all(|v| v.is_finite() && *v > 0.0)
    {
        return Some(series);
    }
    let starts = when::starts(&series, &m.trials);
    let cuts = segments::cuts(&values);
    let noise = segments::Noise::estimate(&values);
    let moments: Vec<when::Moment> =
        (0..cuts.len()).map(|i| when::moment(m.unit, &values, &starts, &cuts, i, &noise)).collect();
    for i in 0..=cuts.len() {
        let from = i.checked_sub(1).map_or(0, |before| cuts[before]);
        let to = cuts.get(i).copied().unwrap_or(values.len());
        // Trials during which the level changed count for neither level.
        let first = i.checked_sub(1).map_or(from, |before| moments[before].after);
        let last = moments.get(i).map_or(to, |m| m.before);
        let pure = values.get(first..last).filter(|v| !v.is_empty()).unwrap_or(&values[from..to]);
        let Some(median) = median(pure) else { continue };
        series.levels.push(Level {
            from_s: i.checked_sub(1).map_or(0.0, |before| moments[before].at_s),
            until_s: moments.get(i).map_or(starts[values.len()], |m| m.at_s),
            trials: (to - from) as u64,
            median,
            ci95: median_interval(pure),
        });
    }
    for (i, moment) in moments.iter().enumerate() {
        let from = i.checked_sub(1).map_or(0, |before| moments[before].after);
        let to = moments.get(i + 1).map_or(values.len(), |m| m.before);
        let (before, after) = (&series.levels[i], &series.levels[i + 1]);
        let sides = [
            &m.trials[from..moment.before.max(from)],
            &m.trials[moment.after..to.max(moment.after)],
        ];
        series.changes.push(Change {
            at_s: moment.at_s,
            at: series.moment(moment.at_s).unwrap_or(series.started),
            ratio: after.median / before.median,
            cause: cause::find(ctx, m, sides, after.median / before.median),
        });
    }
    series.trend = trend::fit(&starts[..values.len()], &values, noise.discount());
    Some(series)
}

/// Recorded conditions that changed from the first third of a series to the last, and explain a
/// ratio between the two; `None` where none does.
pub(crate) fn cause_of_trend(ctx: &Context, m: &Measurement, ratio: f64) -> Option<String> {
    let third = m.trials.len() / 3;
    let sides = [m.trials.get(..third)?, m.trials.get(m.trials.len() - third..)?];
    cause::find_in_all(ctx, m, sides, ratio)
}

/// Returns true if a series has more than one level.
pub(crate) fn has_changes(m: &Measurement) -> bool {
    m.series.as_ref().is_some_and(|s| !s.changes.is_empty())
}

/// The lowest and the highest level of a series with several.
pub(crate) fn ends_of_levels(m: &Measurement) -> Option<[f64; 2]> {
    let levels = m.series.as_ref().filter(|_| has_changes(m))?.levels.iter().map(|l| l.median);
    let ends = levels.fold([f64::INFINITY, 0.0], |[low, high], v| [low.min(v), high.max(v)]);
    Some(ends)
}

/// Trials of a level, with those during which the level changed.
pub(crate) fn trials_of<'a>(m: &'a Measurement, series: &Series, level: usize) -> &'a [Trial] {
    let count = |l: &Level| usize::try_from(l.trials).unwrap_or(0);
    let from = series.levels.iter().take(level).map(count).fold(0, usize::saturating_add);
    let count = series.levels.get(level).map_or(0, count);
    m.trials.get(from..from.saturating_add(count)).unwrap_or(&[])
}

#[cfg(test)]
pub(crate) mod tests;
