//! Tools that take as long as a test says, for points that are made up.

use proofmark_model::{Params, Policy, key};

use super::*;
use crate::testing::{FakeTool, host, installed, storage};

const SLOW_MEMORY: u64 = 1 << 30;

/// Takes so many seconds for one run.
fn slow(takes_s: f64) -> FakeTool {
    FakeTool { takes_s, shortest_s: 0.3, memory: SLOW_MEMORY, ..FakeTool::new("linpack") }
}

fn point(workload: &str, threads: u64) -> Point {
    let params = Params::default().with(key::THREADS, threads).with(key::PLACEMENT, "apart");
    Point { workload: workload.to_owned(), params }
}

fn plan(max_trials: u32) -> Plan {
    let policy = Policy { max_trials, min_trials: max_trials.min(8), ..Policy::default() };
    Plan { policy, points: vec![point("cpu.linpack", 2)], ..Plan::default() }
}

/// Returns how often such a tool repeats a configuration, on a machine with this much memory.
fn fits(run_s: f64, asked: &Asked, memory: u64) -> Result<u32, String> {
    let (marked, host) = (Marked::from([(0, Vec::new())]), host(memory, vec![0, 1]));
    let choice = Choice { asked, workloads: &[], marked: &marked, host: &host };
    choice.fits(&slow(run_s), &installed(), &plan(30), 0).map(|r| r.runs)
}

#[test]
fn slow_tools_have_fewer_runs() {
    let of = |run_s: f64, max: u32| runs(run_s, LONGEST_S, max);
    assert_eq!(of(1.0, 2), Some(2), "no more than there are trials");
    assert_eq!(of(140.0, 1), Some(1), "who asks for one gets it");
    let named = Some(vec!["linpack"]);
    for (run_s, asked, runs) in [
        (6.0, &None, Some(8)),
        (78.0, &None, Some(3)),
        (21.0, &named, Some(8)),
        (38.0, &named, Some(6)),
        (78.0, &named, Some(3)),
        (81.0, &named, None),
    ] {
        assert_eq!(fits(run_s, asked, 1 << 40).ok(), runs, "{run_s} s, {asked:?}");
    }
}

#[test]
fn a_tool_needs_room_in_addition_to_ours() {
    let why = fits(1.0, &None, SLOW_MEMORY - 1).unwrap_err();
    assert!(why.starts_with("it needs 1 GiB of memory; "), "{why}");
}

#[test]
fn a_lent_file_and_ours_are_half_of_what_is_free_at_most() {
    let (asked, mut host) = (Some(vec!["fio"]), host(1 << 40, vec![0, 1]));
    let mut of = |free: u64| {
        host.storage = storage(free);
        let choice = Choice { asked: &asked, workloads: &[], marked: &Marked::new(), host: &host };
        let params = Params::default().with(key::FILE_SIZE, 1_u64 << 30);
        let params =
            params.with(key::THREADS, 1).with(key::BLOCK_SIZE, 4096).with(key::QUEUE_DEPTH, 1);
        let params =
            params.with(key::ENGINE, "psync").with(key::DIRECT, "on").with(key::CACHE, "none");
        let params = params.with_auto(key::AMOUNT);
        choice.has_room(&Point { workload: "disk.rand_read".to_owned(), params }, 0)
    };
    assert_eq!(of(4 << 30), Ok(()));
    let why = of((4 << 30) - 4096).unwrap_err();
    assert_eq!(why, "its file and proofmark's need 2 GiB, more than half of the free space");
}

#[test]
fn names_are_tools() {
    let parse =
        |names: &[&str]| asked(&ToolChoice::Named(names.iter().map(|n| (*n).to_owned()).collect()));
    assert_eq!(asked(&ToolChoice::Marked), Ok(None));
    assert_eq!(asked(&ToolChoice::None), Ok(Some(vec![])));
    assert_eq!(parse(&["fio", "iperf3"]), Ok(Some(vec!["fio", "iperf3"])));
    let all = parse(&["all"]).unwrap().unwrap();
    assert!(all.len() > 10 && all.contains(&"stream"), "{all:?}");
    let error = parse(&["ipref3"]).unwrap_err().to_string();
    assert!(error.contains("did you mean 'iperf3'?"), "{error}");
    assert!(parse(&["fio", "all"]).is_err());
}

/// A plan with a tool for its one point.
fn with_tool() -> Plan {
    let mut plan = plan(8);
    let planned = PlannedReference { point: 0, runs: 5, run_s: 20.0, second: false };
    plan.references.insert("fio".to_owned(), vec![planned]);
    plan
}

#[test]
fn a_users_budget_holds_the_tools_too() {
    let shared = |budget_s: f64| {
        let mut asked = Planned { plan: with_tool(), ..Planned::default() };
        asked.plan.policy.budget_s = Some(budget_s);
        asked.tools.installed.insert("fio".to_owned(), installed());
        let within = |budget_s| {
            let mut planned = asked.clone();
            crate::plan::budget::shrink(&mut planned, budget_s, &|_| ());
            planned
        };
        let planned = crate::plan::budget::plan_with_advice(&asked, budget_s, &within);
        let runs = planned.plan.references.get("fio").map(|all| all[0].runs);
        (runs, planned)
    };
    assert_eq!(seconds(&with_tool()), 100.0);
    // Pairs of 20 s each, at most half of a budget that does not hold everything.
    for (budget_s, runs) in [(1000.0, Some(5)), (199.0, Some(5)), (99.0, None)] {
        let (found, planned) = shared(budget_s);
        assert_eq!(found, runs, "{budget_s} s: {:?}", planned.findings);
        assert_eq!(planned.tools.installed.len(), usize::from(runs.is_some()));
        let further: Vec<_> = planned.tools.further.iter().map(|f| f.pairs.runs).collect();
        assert_eq!(further, if runs == Some(5) { vec![] } else { vec![5] }, "{budget_s} s");
    }
    let (_, without) = shared(99.0);
    let why = &without.tools.missing[&0].why;
    assert!(why.starts_with("fio: left out for the time limit; --budget 105s takes it"), "{why}");
    let named = "reference tools left out, unless time remains: fio at 1 configuration: --budget 105s takes it";
    assert!(without.findings.iter().any(|f| f.message.ends_with(named)), "{:?}", without.findings);
}

/// 60 clocks take longer than the budget, however short their rounds.
#[test]
fn tools_that_are_named_keep_a_quarter_of_the_budget() {
    for are_named in [true, false] {
        let mut planned = Planned { plan: with_tool(), ..Planned::default() };
        planned.plan.references.get_mut("fio").unwrap()[0].run_s = 2.0;
        let clock = |n: u64| {
            let point = point("cpu.clock", 1);
            Point { params: point.params.with_named("x", n), ..point }
        };
        planned.plan.points.extend((0..60).map(clock));
        planned.tools.are_named = are_named;
        crate::plan::budget::shrink(&mut planned, 25.0, &|_| ());
        let runs = planned.plan.references.get("fio").map(|all| all[0].runs);
        assert_eq!(runs, are_named.then_some(3), "{:?}", planned.findings);
        assert!(!planned.plan.left_out.is_empty(), "they give way");
    }
}

/// Two tools at each of three configurations, of which the second also has another workload.
#[test]
fn tools_go_one_by_one_the_second_of_a_configuration_first() {
    let pair = |point, run_s, second| PlannedReference { point, runs: 3, run_s, second };
    let references = [
        ("own", vec![pair(0, 9.0, false), pair(1, 8.0, false), pair(2, 20.0, false)]),
        ("other", vec![pair(0, 1.0, true), pair(1, 1.0, true)]),
    ];
    let of = |most_s: f64| {
        let mut planned = Planned { plan: plan(30), ..Planned::default() };
        planned.plan.points =
            vec![point("cpu.linpack", 2), point("cpu.linpack", 1), point("cpu.dgemm", 2)];
        planned.plan.references = references.clone().map(|(tool, at)| (tool.to_owned(), at)).into();
        let out = trim(&mut planned, most_s);
        out.into_iter().map(|(tool, r)| format!("{tool} {}", r.point)).collect::<Vec<_>>()
    };
    assert!(of(117.0).is_empty());
    assert_eq!(of(116.0), ["other 1"]);
    assert_eq!(of(113.0), ["other 0", "other 1"]);
    assert_eq!(of(84.5), ["own 0", "other 0", "other 1"]);
    assert_eq!(of(24.0), ["own 2", "own 0", "other 0", "other 1"]);
}

#[test]
fn trials_last_as_long_as_a_tool_needs_and_only_where_one_runs() {
    let mut plan = with_tool();
    plan.points.push(point("cpu.iops", 1));
    let fio = proofmark_reference::find("fio").unwrap().shortest();
    plan.policy.trial_s = fio / 2.0;
    lengthen(&mut plan);
    assert_eq!(plan.policy.trial_s_for("cpu.linpack"), fio);
    assert_eq!(plan.policy.trial_s_for("cpu.iops"), fio / 2.0);
    plan.policy.trial_s_of.insert("cpu.linpack".to_owned(), 9.0);
    lengthen(&mut plan);
    assert_eq!(plan.policy.trial_s_for("cpu.linpack"), 9.0);
}

#[test]
fn a_profile_may_name_the_tools_that_run() {
    let (asked, host) = (None, host(1 << 40, vec![0, 1]));
    let mut marked = Marked::new();
    let named = |names: &[&str]| {
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        Reference::Named(crate::profile::OneOrMany::Many(names))
    };
    mark(&mut marked, &[0], &Reference::First(true));
    mark(&mut marked, &[1], &named(&["other"]));
    mark(&mut marked, &[2], &named(&["other", "linpack"]));
    mark(&mut marked, &[3], &Reference::First(false));
    let mut plan = plan(30);
    plan.points = vec![plan.points[0].clone(); 4];
    let choice = Choice { asked: &asked, workloads: &[], marked: &marked, host: &host };
    assert_eq!(choice.points_of(&slow(1.0), &plan), [0, 2]);
    let repeats = |point| PlannedReference { point, runs: 3, run_s: 1.0, second: false };
    plan.references.insert("other".to_owned(), vec![repeats(0), repeats(1), repeats(2)]);
    assert_eq!(choice.points_of(&slow(1.0), &plan), [2], "all that are named, or the first");
}

#[test]
fn tools_that_nobody_asked_for_share_a_minute_and_what_does_not_fit_is_named() {
    let mut planned = Planned { plan: plan(30), ..Planned::default() };
    planned.plan.points = vec![planned.plan.points[0].clone(); 4];
    let pair = |point, run_s| PlannedReference { point, runs: 8, run_s, second: false };
    let of = |all: &[PlannedReference]| all.iter().map(|r| (r.point, r.runs)).collect::<Vec<_>>();
    let references = [
        ("fio", vec![pair(0, 1.0), pair(1, 15.0)]),
        ("hpl", vec![pair(2, 20.0)]),
        ("iperf3", vec![pair(3, 2.0)]),
    ];
    planned.plan.references = references.map(|(tool, at)| (tool.to_owned(), at)).into();
    within(&mut planned, 60.0);
    // 8 s of the shortest, 14 s of the next (a third of 52 s), and no 45 s of the 38 s that are left.
    let kept = &planned.plan.references;
    assert_eq!(kept.keys().collect::<Vec<_>>(), ["fio", "iperf3"]);
    assert_eq!((of(&kept["fio"]), of(&kept["iperf3"])), (vec![(0, 8)], vec![(3, 8)]));
    assert!(seconds(&planned.plan) <= 60.0);
    let [hpl, fio] = &planned.left_out[..] else { panic!("{:?}", planned.left_out) };
    assert!(
        fio.starts_with("fio is not compared with cpu.linpack: 3 pairs take about 45"),
        "{fio}"
    );
    assert!(hpl.starts_with("hpl is not compared with"), "{hpl}");
    assert_eq!(planned.tools.missing.keys().collect::<Vec<_>>(), [&1, &2]);
}

/// A user learns which tool to name, or that there is none.
#[test]
fn a_tool_that_fits_nothing_is_named_with_those_that_do() {
    let sequential = Params::default()
        .with(key::THREADS, 1)
        .with(key::BLOCK_SIZE, 1_u64 << 20)
        .with(key::QUEUE_DEPTH, 1)
        .with(key::ENGINE, "psync")
        .with(key::DIRECT, "on")
        .with(key::CACHE, "none");
    let points = vec![
        Point { workload: "disk.seq_read".to_owned(), params: sequential },
        point("cpu.clock", 1),
    ];
    let host = host(1 << 40, vec![0, 1]);
    let make = |tool: &'static str, workloads: &[String]| {
        let asked = Some(vec![tool]);
        let choice = Choice { asked: &asked, workloads, marked: &Marked::new(), host: &host };
        let plan = Plan { points: points.clone(), ..plan(8) };
        let mut planned = Planned { plan, ..Planned::default() };
        choice.make(&mut planned);
        let whys = [0, 1].map(|at| planned.tools.missing[&at].why.clone());
        (planned.left_out, whys)
    };
    let both = ["disk.seq_read".to_owned(), "cpu.clock".to_owned()];
    let (left_out, [disk, clock]) = make("stream", &both);
    let [line] = &left_out[..] else { panic!("{left_out:?}") };
    assert!(line.starts_with("stream does the work of no configuration here"), "{line}");
    assert!(
        line.contains("disk.seq_read: fio") && line.contains("cpu.clock: no known tool"),
        "{line}"
    );
    assert!(disk.contains("stream") && disk.contains("fio"), "{disk}");
    assert_eq!(clock, "no known tool does this work");
    // A workload that was not named needs a tool that can measure it.
    let (left_out, [disk, clock]) = make("stream", &both[1..]);
    assert!(left_out[0].ends_with("cpu.clock: no known tool"), "{left_out:?}");
    assert!(disk.starts_with("name a tool with --reference") && disk.contains("fio"), "{disk}");
    assert_eq!(clock, "no known tool does this work");
}
