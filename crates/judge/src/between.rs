//! How results varied between earlier runs of the same machine: the figures of the history taken
//! together, as those of a group of runs are.

use std::collections::BTreeMap;

use proofmark_model::{
    BetweenRuns, FigureKind, MIN_EARLIER_RUNS, OverRuns, Params, PastPoint, RawRun, Subsystem,
    Timestamp, WorkloadSpec,
};

use crate::compare::speed;
use crate::group::{over_runs, successive};
use crate::statistics::{mean, most_frequent};

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
    by_result.retain(|(workload, params), _| planned(workload, params));
    let taken = |((workload, params), points): (&(&str, &Params), &Vec<&PastPoint>)| {
        one(run.workloads.get(*workload)?, params, points)
    };
    let results: Vec<BetweenRuns> = by_result.iter().filter_map(taken).collect();
    results.into_iter().chain(of_subsystems(run, &by_result)).collect()
}

/// The values of earlier runs taken together; `None` for too few.
fn varied(values: &[(Timestamp, f64)], subsystem: Subsystem) -> Option<OverRuns> {
    let placed: Vec<(usize, f64)> = values.iter().map(|(_, value)| *value).enumerate().collect();
    let mut over = over_runs(&placed, subsystem.info().tolerance)?;
    if let OverRuns::One(level) = &mut over {
        level.successive = successive(values);
    }
    Some(over).filter(|over| over.runs() >= MIN_EARLIER_RUNS)
}

/// The results of each subsystem together: one value of each run, the mean over the logarithms of
/// those results that most runs have.
fn of_subsystems(
    run: &RawRun,
    by_result: &BTreeMap<(&str, &Params), Vec<&PastPoint>>,
) -> Vec<BetweenRuns> {
    let mut found: BTreeMap<Subsystem, Vec<&Vec<&PastPoint>>> = BTreeMap::new();
    for ((workload, _), points) in by_result {
        if let Some(spec) = run.workloads.get(*workload) {
            found.entry(spec.subsystem).or_default().push(points);
        }
    }
    found.into_iter().filter_map(|(subsystem, results)| of_subsystem(subsystem, &results)).collect()
}

fn of_subsystem(subsystem: Subsystem, results: &[&Vec<&PastPoint>]) -> Option<BetweenRuns> {
    let most = results.iter().map(|points| points.len()).max()?;
    let results: Vec<_> = results.iter().filter(|points| points.len() == most).collect();
    let mut logs: BTreeMap<(Timestamp, i64), [Vec<f64>; 2]> = BTreeMap::new();
    for p in results.iter().flat_map(|points| points.iter()) {
        let delivered = p.delivered.map_or(p.value, |figure| Some(figure.value));
        let of_run = logs.entry((p.started, p.run)).or_default();
        for (all, value) in of_run.iter_mut().zip([p.value, delivered]) {
            all.extend(value.map(|v| speed(p.better, v)).filter(|log| log.is_finite()));
        }
    }
    let of_all = |logs: &Vec<f64>| {
        let is_whole = logs.len() == results.len();
        is_whole.then(|| mean(logs).exp())
    };
    let together = |which: usize| {
        let values = logs.iter().filter_map(|((at, _), run)| Some((*at, of_all(&run[which])?)));
        varied(&values.collect::<Vec<_>>(), subsystem)
    };
    let started = || logs.keys().map(|(started, _)| *started);
    Some(BetweenRuns {
        workload: subsystem.as_str().to_owned(),
        params: Params::default(),
        figure: FigureKind::Attainable,
        span: [started().min()?, started().max()?],
        over_runs: together(0)?,
        results: Some(results.len() as u64),
        delivered: together(1),
    })
}

fn one(spec: &WorkloadSpec, params: &Params, points: &[&PastPoint]) -> Option<BetweenRuns> {
    let figure = most_frequent(points.iter().map(|p| p.headline));
    let mut in_order = points.to_vec();
    in_order.sort_by_key(|p| p.started);
    let headline = |p: &PastPoint| p.value.filter(|_| p.headline == figure);
    let delivered = |p: &PastPoint| Some(p.delivered?.value);
    let together = |value: &dyn Fn(&PastPoint) -> Option<f64>| {
        let values = in_order.iter().filter_map(|p| Some((p.started, value(p)?)));
        varied(&values.collect::<Vec<_>>(), spec.subsystem)
    };
    let mut started = in_order.iter().filter(|p| headline(p).is_some()).map(|p| p.started);
    let first = started.next()?;
    Some(BetweenRuns {
        workload: spec.id.to_string(),
        params: params.clone(),
        figure,
        span: [first, started.next_back().unwrap_or(first)],
        over_runs: together(&headline)?,
        results: None,
        delivered: together(&delivered).filter(|_| figure != FigureKind::Delivered),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use proofmark_model::{PastFigure, Verdict};

    use super::*;
    use crate::testing::{flops, host, run, spec};

    /// A run that plans one result, and that result in a past run.
    pub(crate) fn planned() -> (RawRun, PastPoint) {
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
        // The CPU as a whole has this one result.
        assert_eq!((found.len(), &*found[1].workload), (2, "cpu"));
        let OverRuns::One(cpu) = &found[1].over_runs else { panic!("{found:?}") };
        assert!((cpu.deviation - level.deviation).abs() < 1e-9);
        assert_eq!(found[0].delivered, None, "no run has a delivered figure");
        for (p, value) in points.iter_mut().zip([50.0, 60.0, 55.0]) {
            p.delivered = Some(PastFigure { value, ci95: None });
        }
        let found = between_runs(&run, &points);
        let Some(OverRuns::One(delivered)) = &found[0].delivered else { panic!("{found:?}") };
        assert!((delivered.median - 55.0).abs() < 1e-9 && delivered.deviation > 0.05);
        assert_eq!(found[0].figure(FigureKind::Delivered), found[0].delivered.as_ref());
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
            let found = between_runs(&run, &points);
            assert!(found.iter().all(|b| b.workload != run.plan.points[0].workload), "{i}");
        }
    }
}
