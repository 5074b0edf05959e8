//! The plan of `proofmark endure`: one configuration, sampled over time.

use std::collections::BTreeMap;

use proofmark_engine::Workload;
use proofmark_model::{Host, Params, Plan, Point, Policy, WorkloadSpec, format_seconds, pick};

use super::fit::{Gathering, supports};
use super::nothing_to_measure;
use super::rank::Place;
use super::select::named;
use super::values::{Overrides, combinations, overrides};
use crate::error::Usage;
use crate::planned::Planned;
use crate::profile::{Profile, SeriesText};
use crate::request::{DEFAULT_PROFILE, EndureRequest};

/// Shortest and longest part of a sample, in seconds; one trial each. Shorter ones cost too much time
/// between them; a longer one delays the end of a stopped run.
const SLICE_S: [f64; 2] = [0.01, 1.0];

const SLICES: f64 = 10.0;

/// Makes the plan of an endurance measurement: a configuration and its series.
pub fn endure(request: &EndureRequest, host: &Host) -> Result<Planned, Usage> {
    let series = SeriesText { length: request.length, every: request.every };
    series.check().map_err(|e| {
        let [length, every] = [request.length, request.every].map(|t| t.as_secs_f64());
        let [length, every] = [length, every].map(format_seconds);
        Usage(format!("--for {length} --every {every}: {e}"))
    })?;
    let workload = named(&request.workload)?;
    let spec = workload.spec();
    let overrides = overrides(&request.parameters, &[&spec.id])?;
    let asked = combinations(spec, &values_of_a_run(workload, host)?, &overrides, host)?;
    let policy = Policy { trial_s: slice_s(&series), budget_s: None, ..Policy::default() };
    let plan = Plan { profile: "endure".to_owned(), policy, ..Plan::default() };
    let mut gathering = Gathering { host, planned: Planned { plan, ..Planned::default() } };
    gathering.keep(workload, asked, Some(series));
    let planned = gathering.planned;
    match &planned.plan.points[..] {
        [] => Err(nothing_to_measure(planned)),
        [_] => Ok(planned),
        several => Err(Usage(too_many(spec, several))),
    }
}

/// Seconds of one trial: a part of a sample.
fn slice_s(series: &SeriesText) -> f64 {
    (series.every.as_secs_f64() / SLICES).clamp(SLICE_S[0], SLICE_S[1])
}

/// The values of the configuration that a run shows for a workload: that of its last row on the first
/// screen, with all CPUs, the widest instruction set, or the deepest queue. So both commands measure
/// the same.
fn values_of_a_run(
    workload: &'static dyn Workload,
    host: &Host,
) -> Result<BTreeMap<String, Vec<String>>, Usage> {
    let (spec, none) = (workload.spec(), Overrides::default());
    let profile = Profile::load(DEFAULT_PROFILE)?;
    let mut asked = Vec::new();
    for text in profile.points.iter().filter(|p| p.workload == spec.id && p.series.is_none()) {
        let parameters = text.parameters.iter().map(|(k, v)| (k.clone(), v.texts())).collect();
        asked.extend(combinations(spec, &parameters, &none, host)?);
    }
    if asked.is_empty() {
        asked = combinations(spec, &BTreeMap::new(), &none, host)?;
    }
    // Each configuration with what was asked for: `auto`, unless it stands for several values.
    let mut all: Vec<(Point, Params)> = Vec::new();
    for asked in asked {
        let resolved = workload.resolve_auto(asked.clone(), host);
        let is_one = resolved.len() == 1;
        for params in resolved.into_iter().filter(|p| supports(workload, p, host).is_ok()) {
            let asked = if is_one { asked.clone() } else { params.clone() };
            all.push((Point { workload: spec.id.to_string(), params }, asked));
        }
    }
    let cpus = host.limits.usable_cpus.len() as u64;
    let row = spec.role.main_rows.last().map_or(&[][..], |row| &row.picks);
    let places = all.iter().enumerate().map(|(at, (point, _))| Place(at, point)).collect();
    let picked = pick((Some(spec), cpus), row, places).map(|place| &all[place.0].1);
    let value = |name: &str| Some(picked?.named(name)?.to_string());
    let names = spec.parameters.iter().map(|parameter| parameter.name.to_string());
    Ok(names.filter_map(|name| Some((name.clone(), vec![value(&name)?]))).collect())
}

/// The error of several configurations: the parameter that has several values, and how to choose.
fn too_many(spec: &WorkloadSpec, points: &[Point]) -> String {
    let count = points.len();
    let text = format!("endure measures one configuration; {} would have {count}", spec.id);
    for parameter in spec.parameters.iter() {
        let mut values: Vec<String> = Vec::new();
        for value in points.iter().filter_map(|p| p.params.named(&parameter.name)) {
            if !values.contains(&value.to_string()) {
                values.push(value.to_string());
            }
        }
        if values.len() > 1 {
            let values = values.join("|");
            return format!("{text}: choose with --set {}={values}", parameter.name);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proofmark_model::{PlannedSeries, key};

    use super::*;
    use crate::request::{PlanRequest, TypedParameters};
    use crate::testing::this_machine;

    /// A request for a workload with these parameters, for so many seconds, every so many ms.
    fn request(workload: &str, set: &str, (for_s, every_ms): (u64, u64)) -> EndureRequest {
        EndureRequest {
            length: Duration::from_secs(for_s),
            every: Duration::from_millis(every_ms),
            parameters: TypedParameters {
                set: set.split_whitespace().map(str::to_owned).collect(),
                ..TypedParameters::default()
            },
            ..EndureRequest::new(workload)
        }
    }

    const USUAL: (u64, u64) = (600, 1000);

    fn planned(request: &EndureRequest) -> Plan {
        endure(request, &this_machine()).unwrap().plan
    }

    #[test]
    fn one_workload_is_one_point_with_a_series() {
        let plan = planned(&request("cpu.flops", "isa=scalar", USUAL));
        let usable = this_machine().limits.usable_cpus.len() as u64;
        assert_eq!(plan.points.len(), 1);
        assert_eq!(plan.points[0].params.get(key::THREADS), Some(usable), "all, unless set");
        assert_eq!(plan.series, [PlannedSeries { point: 0, for_s: 600.0, every_s: 1.0 }]);
        assert_eq!((plan.policy.trial_s, plan.policy.budget_s), (0.1, None));
        let plan = planned(&request("cpu.iops", "threads=1 cpu.iops.type=i32", (600, 200)));
        assert_eq!(plan.points[0].params.get(key::NUMBER_TYPE), Some("i32"));
        assert_eq!(plan.policy.trial_s, 0.02);
        let long = planned(&request("cpu.clock", "", (3 * 86_400, 600_000)));
        assert_eq!(long.policy.trial_s, 1.0);
        let short = planned(&request("cpu.clock", "", (60, 100)));
        assert_eq!(short.policy.trial_s, 0.01);
        let (least, most) = super::super::estimate(&plan);
        assert!(least >= 600.0 && most < 602.0, "{least} to {most}");
    }

    /// What endure measures without `--set`: the configuration of the row that a run shows.
    #[test]
    fn what_nobody_set_is_as_in_the_row_of_a_run() {
        let host = this_machine();
        let cpus = host.limits.usable_cpus.len() as u64;
        let mut compared = 0;
        for spec in crate::registry::all().map(|workload| workload.spec()) {
            let Some(row) = spec.role.main_rows.last() else { continue };
            let names = vec![spec.id.to_string()];
            let run = PlanRequest { names, ..PlanRequest::default() };
            let Ok(run) = crate::plan::plan(&run, &host) else { continue };
            let places = run.plan.points.iter().enumerate().map(|(at, p)| Place(at, p)).collect();
            let shown = pick((Some(spec), cpus), &row.picks, places).unwrap();
            let request = request(&spec.id, "", USUAL);
            assert_eq!(endure(&request, &host).unwrap().plan.points, std::slice::from_ref(shown.1));
            compared += 1;
        }
        assert!(compared > 10, "{compared} workloads");
    }

    #[test]
    fn a_parameter_that_is_set_leaves_the_others_as_in_a_run() {
        let plan = planned(&request("cpu.flops", "threads=1", USUAL));
        let widest = planned(&request("cpu.flops", "", USUAL)).points[0].params.clone();
        assert_ne!(widest.get(key::ISA), Some("scalar"), "every machine of x86-64 has vectors");
        assert_eq!(plan.points[0].params, widest.clone().with(key::THREADS, 1));
        let plan = planned(&request("cpu.flops", "isa=scalar", USUAL));
        assert_eq!(plan.points[0].params, widest.with(key::ISA, "scalar"));
    }

    #[test]
    fn a_point_in_trials_and_over_time_is_two() {
        let host = this_machine();
        let workload = named("cpu.clock").unwrap();
        let mut gathering = Gathering { host: &host, planned: Planned::default() };
        let mut keep = |series| {
            let clock = Params::default().with(key::THREADS, 1);
            gathering.keep(workload, vec![clock], series)[0]
        };
        let of = |every| SeriesText {
            length: Duration::from_secs(60),
            every: Duration::from_secs(every),
        };
        let places = [None, Some(of(1)), None, Some(of(1)), Some(of(2))].map(&mut keep);
        assert_eq!(places, [0, 1, 0, 1, 2]);
        assert_eq!(gathering.planned.plan.series.len(), 2);
    }

    #[test]
    fn what_is_no_series_of_one_point_is_refused() {
        let with = |set: &str| request("cpu.flops", set, USUAL);
        let lasting = |times| request("cpu.flops", "", times);
        let named = |workload: &str| request(workload, "", USUAL);
        let threads = |n: &str, workload: &str| {
            let threads = Some(n.to_owned());
            let parameters = TypedParameters { threads, ..TypedParameters::default() };
            EndureRequest { parameters, ..named(workload) }
        };
        let blocks = |sizes: &str, workload: &str| {
            let block_size = Some(sizes.to_owned());
            let parameters = TypedParameters { block_size, ..TypedParameters::default() };
            EndureRequest { parameters, ..named(workload) }
        };
        for (request, why) in [
            (named("cpu.flop"), "did you mean 'cpu.flops'?"),
            (named("cpu"), "'cpu' is a subsystem; name one of its workloads"),
            (named("disk"), "'disk' is a subsystem; name one of its workloads"),
            (with("isaa=avx2"), "did you mean 'isa'?"),
            (with("isa"), "PARAMETER=VALUE"),
            (with("cpu.flops.isaa=avx2"), "did you mean 'isa'?"),
            (with("cpu.iops.isa=avx2"), "this run measures no cpu.iops"),
            (with("isa=scalar,sse2"), "--set isa=scalar|sse2"),
            (threads("1,2", "cpu.flops"), "--set threads=1|2"),
            (threads("2", "memory.latency"), "--threads: memory.latency has no such parameter"),
            (blocks("8KB", "cpu.flops"), "--block-size: cpu.flops has no such parameter"),
            (blocks("8KB,1MB", "memory.rand_read"), "--set block_size=8192|1048576"),
            (blocks("8Q", "memory.rand_read"), "memory.rand_read.block_size: "),
            (lasting((9, 1000)), "at least 10 s"),
            (lasting((600, 99)), "at least 100 ms"),
            (lasting((10, 2000)), "10 samples"),
            (lasting((900 * 3600, 1000)), "30 days"),
        ] {
            let error = endure(&request, &this_machine()).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains('\n'), "{request:?}: {error}");
        }
    }
}
