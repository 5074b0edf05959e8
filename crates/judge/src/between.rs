//! How results varied between earlier runs of the same machine: the figures of the history taken
//! together, as those of a group of runs are.

use std::collections::BTreeMap;

use proofmark_model::{BetweenRuns, MIN_EARLIER_RUNS, Params, PastPoint, RawRun, WorkloadSpec};

use crate::group::{most_frequent, over_runs};

/// Takes past results together, of those that the run plans. `points` are of runs of the same machine
/// and program; results of another method of the workload do not count, nor do unusable ones.
pub fn between_runs(run: &RawRun, points: &[PastPoint]) -> Vec<BetweenRuns> {
    let mut by_result: BTreeMap<(&str, &Params), Vec<&PastPoint>> = BTreeMap::new();
    let method = |p: &PastPoint| run.workloads.get(&p.workload).map(|spec| spec.method);
    let counts = |p: &&PastPoint| {
        !p.over_time && p.verdict.is_usable() && method(p) == Some(p.method_version)
    };
    for p in points.iter().filter(counts) {
        by_result.entry((&p.workload, &p.params)).or_default().push(p);
    }
    let planned = |workload: &str, params: &Params| {
        run.plan.points.iter().any(|p| p.workload == workload && p.params == *params)
    };
    let results = by_result.into_iter().filter(|((workload, params), _)| planned(workload, params));
    let taken = |((workload, params), points): ((&str, &Params), Vec<&PastPoint>)| {
        one(run.workloads.get(workload)?, params, &points)
    };
    results.filter_map(taken).collect()
}

fn one(spec: &WorkloadSpec, params: &Params, points: &[&PastPoint]) -> Option<BetweenRuns> {
    let figure = most_frequent(points.iter().map(|p| p.headline));
    let same: Vec<&PastPoint> =
        points.iter().copied().filter(|p| p.headline == figure && p.value.is_some()).collect();
    if (same.len() as u64) < MIN_EARLIER_RUNS {
        return None;
    }
    let started = || same.iter().map(|p| p.started);
    let values: Vec<(usize, f64)> =
        same.iter().enumerate().filter_map(|(place, p)| Some((place, p.value?))).collect();
    Some(BetweenRuns {
        workload: spec.id.to_string(),
        params: params.clone(),
        figure,
        span: [started().min()?, started().max()?],
        over_runs: over_runs(&values, spec.subsystem.info().tolerance)?,
    })
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, OverRuns, Verdict};

    use super::*;
    use crate::testing::{flops, host, run, spec};

    /// A run that plans one result, and that result in a past run.
    fn planned() -> (RawRun, PastPoint) {
        let m = flops(1);
        let point = PastPoint {
            run: 1,
            started: proofmark_model::Timestamp::from_millis(0).unwrap(),
            host: None,
            label: None,
            machine: String::new(),
            workload: m.workload.clone(),
            method_version: spec(&m.workload).method,
            params: m.params.clone(),
            unit: m.unit,
            better: m.better,
            over_time: false,
            trials: 8,
            headline: FigureKind::Attainable,
            value: Some(100.0),
            ci95: None,
            attainable: None,
            delivered: None,
            levels: None,
            efficiency: None,
            reliance: proofmark_model::Reliance::default(),
            verdict: Verdict::Valid,
            missing: BTreeMap::new(),
        };
        (crate::raw_of(&run(host(), vec![m])), point)
    }

    fn at(point: &PastPoint, second: i64, value: f64) -> PastPoint {
        let started = proofmark_model::Timestamp::from_millis(1000 * second).unwrap();
        PastPoint { started, value: Some(value), ..point.clone() }
    }

    #[test]
    fn three_runs_of_one_method_have_a_variation() {
        let (run, point) = planned();
        let mut points: Vec<PastPoint> =
            [100.0, 101.0, 99.0].iter().zip(1..).map(|(v, s)| at(&point, s, *v)).collect();
        let found = between_runs(&run, &points);
        let OverRuns::One(level) = &found[0].over_runs else { panic!("{found:?}") };
        assert!((level.deviation - 0.01).abs() < 1e-3 && (level.median - 100.0).abs() < 1e-9);
        assert_eq!((found[0].over_runs.runs(), found[0].span[1]), (3, points[2].started));
        // Each of these makes a third run that is none.
        let others: [fn(&mut PastPoint); 5] = [
            |p| p.method_version += 1,
            |p| p.over_time = true,
            |p| p.verdict = Verdict::Invalid,
            |p| p.headline = FigureKind::Delivered,
            |p| p.params.0.clear(),
        ];
        let good = points[2].clone();
        for (i, change) in others.into_iter().enumerate() {
            points[2] = good.clone();
            change(&mut points[2]);
            assert_eq!(between_runs(&run, &points), [], "{i}");
        }
    }
}
