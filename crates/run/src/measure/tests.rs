//! Whole runs in memory: each test plants an event or a fault.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proofmark_engine::{Clock as _, Request};
use proofmark_judge::judge;
use proofmark_model::{Ending, Measurement, Plan, PlannedReference, Point, Policy, Run, Severity};
use proofmark_model::{Verdict, testing};

mod pairs;
mod time_of_pairs;

use super::*;
use crate::event::{Event, Step};
use crate::planned::{FurtherPairs, NoReference};
use crate::schedule::Deadline;
use crate::testing::{
    Act, Disk, FakeRunner, Script, Values, find, find_tool, host, installed, point, policy,
};

/// Records the events in order, each with its configuration's threads.
#[derive(Default)]
struct Seen(Vec<(String, u64)>);

impl Observer for Seen {
    fn observe(&mut self, step: &Step) {
        let event = match step.event {
            Event::Sample { .. } => "Sample".to_owned(),
            Event::Pair { turn, of, tool } => format!("Pair {turn} of {of} with {tool}"),
            other => format!("{other:?}"),
        };
        self.0.push((event, step.measurement().params.threads()));
    }
}

struct Lab {
    policy: Policy,
    points: Vec<Point>,
    left_out: Vec<Point>,
    tools: Vec<&'static str>,
    /// Indices of the configurations that each tool repeats, and how often.
    pairs: Vec<(usize, u32)>,
    most_s: Option<f64>,
    kept_s: f64,
    /// All pairs of which the plan has fewer or none.
    further: Vec<(usize, u32)>,
    /// The line of the plan about tools that it left out.
    tools_left_out: Option<&'static str>,
    deadline: Option<Deadline>,
    script: Script,
    disk: Disk,
    runner: FakeRunner,
    lines: RefCell<Vec<String>>,
    seen: Seen,
}

impl Lab {
    /// Two configurations of one group, three trials each.
    fn new(values: Values) -> Self {
        let script = Script::new(values);
        Self {
            policy: policy(3, 3, None),
            points: vec![point("test.null", 1), point("test.null", 2)],
            left_out: Vec::new(),
            tools: vec!["fake"],
            pairs: Vec::new(),
            most_s: None,
            kept_s: 0.0,
            further: Vec::new(),
            tools_left_out: None,
            deadline: None,
            disk: Disk::default(),
            runner: FakeRunner::new(&script, 10.0),
            script,
            lines: RefCell::default(),
            seen: Seen::default(),
        }
    }

    fn run(&mut self) -> Run {
        let planned = |&(point, runs): &(usize, u32)| PlannedReference {
            point,
            runs,
            run_s: 10.0,
            second: false,
        };
        let references: Vec<_> = self.pairs.iter().map(planned).collect();
        let plan = Plan {
            policy: self.policy.clone(),
            points: self.points.clone(),
            left_out: self.left_out.clone(),
            references: self.tools.iter().map(|t| ((*t).to_owned(), references.clone())).collect(),
            ..Plan::default()
        };
        let ids = self.points.iter().map(|p| p.workload.clone());
        let specs = ids.filter_map(|id| Some((id.clone(), find(&id)?.spec().clone())));
        let run = RawRun {
            plan,
            workloads: specs.collect(),
            host: host(1 << 30, vec![0, 1, 2]),
            ended: None,
            findings: self.tools_left_out.map(of_plan).into_iter().collect(),
            ..testing::run(Vec::new()).with_measurements(Vec::new())
        };
        let none = |why: &str| NoReference { refused: Vec::new(), why: why.to_owned() };
        let tools = PlannedTools {
            are_named: true,
            installed: self.tools.iter().map(|t| ((*t).to_owned(), installed())).collect(),
            missing: (0..self.points.len()).map(|place| (place, none("not asked for"))).collect(),
            most_s: self.most_s,
            kept_s: self.kept_s,
            further: self.further.iter().map(|pairs| self.further_pairs(planned(pairs))).collect(),
        };
        let print_line = |line: &str| self.lines.borrow_mut().push(line.to_owned());
        let means = Means {
            find: &find,
            memory_bytes: u64::MAX,
            launcher: &self.script,
            tools: &self.runner,
            find_tool: &find_tool,
            clock: &self.script.clock,
            stop: &self.script.stop,
            file: &self.disk,
            print_line: &print_line,
            deadline: self.deadline.as_ref(),
        };
        judge(&measure(run, tools, &means, &mut [&mut self.seen]))
    }

    fn further_pairs(&self, pairs: PlannedReference) -> FurtherPairs {
        let left_out = self.pairs.iter().all(|(point, _)| *point != pairs.point);
        FurtherPairs { tool: "fake".to_owned(), installed: installed(), pairs, left_out }
    }

    /// The actions on the configurations, without the warm-up before the first trial.
    fn acts(&self) -> Vec<Act> {
        let log = self.script.log.borrow();
        let first = log.iter().position(|act| matches!(act, Act::Take(_, Request::Trial)));
        log[first.unwrap_or(log.len())..].to_vec()
    }

    fn tools_ran(&self) -> usize {
        self.script.log.borrow().iter().filter(|act| matches!(act, Act::Tool(_))).count()
    }
}

fn of_plan(line: &str) -> proofmark_model::Finding {
    proofmark_model::Finding::new("plan.budget", Severity::Note, line, "")
}

fn trials(run: &Run) -> Vec<usize> {
    run.measurements.iter().map(|m| m.trials.len()).collect()
}

fn endings(run: &Run) -> Vec<Ending> {
    run.measurements.iter().map(|m| m.ending.clone()).collect()
}

fn found<'a>(m: &'a Measurement, check: &str) -> Option<&'a proofmark_model::Finding> {
    m.findings.iter().find(|f| f.check == check)
}

#[test]
fn a_run_is_measured_reported_saved_and_judged() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.points.push(point("test.time", 3));
    lab.pairs = vec![(1, 3)];
    let run = lab.run();
    assert_eq!((trials(&run), endings(&run)), (vec![3, 3, 3], vec![Ending::Complete; 3]));
    assert!(run.ended.is_some() && run.interrupted.is_none());
    // The reasons why there is neither a ceiling nor an interval are judged.
    assert!(run.measurements.iter().all(|m| m.missing.contains_key("ceiling")), "{run:?}");
    let delivered = &run.measurements[0].summary.as_ref().unwrap().delivered;
    assert!(delivered.missing.as_ref().unwrap().starts_with("3 rounds"));
    let [reference] = &run.measurements[1].references[..] else { panic!("no reference") };
    assert_eq!((reference.tool.as_str(), reference.trials.as_slice()), ("fake", &[50.0; 3][..]));
    let ours: Vec<f64> = reference.paired.iter().map(|t| t.value).collect();
    assert_eq!((ours.as_slice(), reference.ratio.median), (&[100.0; 3][..], 2.0));
    assert_eq!((reference.version.as_str(), reference.command.as_str()), ("1.5", "fake --run"));
    assert_eq!(run.measurements[0].missing["references"], "not asked for");
    // In the order of the events.
    let at = |event: &str, threads| {
        let is_it = |(e, t): &(String, u64)| e == event && *t == threads;
        lab.seen.0.iter().position(is_it).unwrap_or_else(|| panic!("{event}: {:?}", lab.seen.0))
    };
    let events = [at("SetUp", 1), at("SetUp", 2), at("Warm", 1), at("Trial", 2), at("Done", 2)];
    assert!(events.is_sorted() && at("Done", 2) < at("Pair 1 of 3 with fake", 2));
    assert!(at("Pair 3 of 3 with fake", 2) < at("SetUp", 3), "before the next group");
    // The run is saved meanwhile, and judged before.
    let saved = lab.disk.saved.borrow();
    assert!(saved.len() > 5 && saved.iter().all(|r| r.ended.is_none()));
    let before_pairs = saved.iter().find(|r| r.measurements.len() == 2 && trials(r) == [3, 3]);
    let before_pairs = before_pairs.unwrap();
    assert!(before_pairs.measurements[1].references.is_empty(), "it did not wait for the pairs");
    assert!(before_pairs.measurements.iter().all(|m| m.missing.contains_key("ceiling")));
    assert!(lab.lines.borrow().is_empty());
}

#[test]
fn a_worker_that_crashes_costs_its_point_alone() {
    fn crash() -> Ending {
        Ending::Crashed { signal: Some("SIGSEGV".to_owned()), detail: String::new() }
    }
    let mut lab = Lab::new(|point, trial| match (point, trial) {
        (1, 2) => Err(crash()),
        _ => Ok(100.0),
    });
    lab.pairs = vec![(0, 3)];
    let run = lab.run();
    assert_eq!((trials(&run), endings(&run)), (vec![1, 3], vec![crash(), Ending::Complete]));
    let [crashed, other] = &run.measurements[..] else { panic!() };
    assert_eq!(crashed.verdict, Verdict::Invalid);
    assert!(found(crashed, "crashed").is_some() && found(other, "crashed").is_none());
    assert_eq!(lab.tools_ran(), 0, "there is nothing to compare");
    assert_eq!(crashed.missing["references"], "fake: the configuration has no result");
}

#[test]
fn a_signal_keeps_what_was_measured_and_begins_nothing_more() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.points.push(point("test.time", 3));
    lab.pairs = vec![(0, 3), (1, 3)];
    lab.script.stop_at = Some((2, 2));
    let run = lab.run();
    assert_eq!(trials(&run), [1, 2], "the trial that was under way, and none after it");
    let interrupted = Ending::Interrupted { by: "SIGINT".to_owned() };
    assert_eq!(endings(&run), [interrupted.clone(), interrupted]);
    assert_eq!((run.interrupted.as_deref(), lab.tools_ran()), (Some("SIGINT"), 0));
    assert!(run.ended.is_some());
    let launched = Act::Launch(3);
    assert!(!lab.script.log.borrow().contains(&launched), "the next group was set up");
    assert_eq!(lab.seen.0.iter().filter(|(event, _)| event == "Done").count(), 3);
}

#[test]
fn a_signal_while_a_tool_runs_is_no_fault_of_the_tool() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.pairs = vec![(0, 3)];
    lab.runner.stop_at = Some(2);
    lab.runner.values =
        |run| if run == 2 { Err("stopped by SIGTERM".to_owned()) } else { Ok(50.0) };
    let run = lab.run();
    assert_eq!((run.interrupted.as_deref(), lab.tools_ran()), (Some("SIGTERM"), 2));
    let m = &run.measurements[0];
    assert_eq!((m.references[0].trials.len(), &m.ending), (1, &Ending::Complete));
    assert!(found(m, "reference.failed").is_none(), "{:?}", m.findings);
}

#[test]
fn a_tool_that_fails_costs_neither_its_earlier_runs_nor_ours() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.pairs = vec![(0, 5)];
    lab.runner.values = |run| if run == 3 { Err("it is broken".to_owned()) } else { Ok(50.0) };
    let run = lab.run();
    let m = &run.measurements[0];
    assert_eq!((trials(&run), &m.ending), (vec![3, 3], &Ending::Complete));
    assert_eq!((m.references[0].trials.len(), m.references[0].paired.len()), (2, 2));
    let finding = found(m, "reference.failed").unwrap();
    assert_eq!(
        (finding.message.as_str(), finding.severity),
        ("fake failed: it is broken", Severity::Note)
    );
    assert!(finding.advice.ends_with("fake --run"), "{}", finding.advice);
    assert_eq!(lab.tools_ran(), 3, "it is not run again");
}

#[test]
fn pairs_take_nothing_from_the_budget_of_trials() {
    let taken = |pairs: &[(usize, u32)]| {
        let mut lab =
            Lab::new(|point, trial| Ok(if point == 1 { 1.0 } else { (trial % 2 + 1) as f64 }));
        lab.points.push(point("test.time", 3));
        lab.policy = policy(6, 30, Some(60.0));
        lab.pairs = pairs.to_vec();
        let run = lab.run();
        (trials(&run), lab.tools_ran())
    };
    let (without, _) = taken(&[]);
    let (with, runs) = taken(&[(0, 8)]);
    assert_eq!(runs, 8, "80 s of tools, more than the budget");
    assert_eq!(with, without);
}

#[test]
fn pairs_come_when_all_points_of_their_group_have_ended_in_the_order_of_the_plan() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.policy.trials_of = BTreeMap::from([("test.short".to_owned(), 1)]);
    lab.points[1].workload = "test.short".to_owned();
    lab.points.push(point("test.time", 3));
    lab.pairs = vec![(0, 2), (1, 2)];
    lab.run();
    use Request::{Trial, Warm};
    let trial = |point| Act::Take(point, Trial);
    // By workers of their own, which warm up.
    let ours = |point| {
        let warm = Act::Take(point, Warm);
        vec![Act::Launch(point), warm, warm, trial(point), Act::Release]
    };
    let pairs = |point| {
        let tools = vec![Act::Tool(point); 2];
        [vec![Act::Release], ours(point), tools, ours(point)].concat()
    };
    // The second ends first, with one trial; the third is the next group.
    let group = vec![trial(1), trial(2), trial(1), trial(1)];
    let next = vec![Act::Launch(3), Act::Take(3, Warm), trial(3), trial(3), trial(3)];
    assert_eq!(lab.acts(), [group, pairs(1), pairs(2), next].concat());
}

#[test]
fn what_a_time_limit_leaves_out_is_kept_and_named_with_the_budget_that_holds_it() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.points = (1..=4).map(|threads| point("test.time", threads)).collect();
    // A trial is estimated at 0.5 s, and takes 3 s.
    lab.policy.trial_s = 0.5;
    lab.policy.budget_s = Some(40.0);
    lab.deadline = Some(Deadline { ahead_s: 0.0, ranks: vec![3, 2, 1, 0] });
    let run = lab.run();
    assert!(lab.script.clock.now() <= 41.5, "{} s", lab.script.clock.now());
    let out: Vec<_> = run.measurements.iter().filter(|m| m.verdict == Verdict::NotRun).collect();
    assert!(!out.is_empty() && out.len() < 4 && run.measurements.len() == 4);
    assert_eq!(run.measurements[3].trials.len(), 3, "the most wanted");
    for m in out {
        assert!(m.trials.is_empty() && found(m, "left_out").is_some(), "{m:?}");
        assert!(m.missing["summary"].starts_with("left out for the time limit; needs about"));
    }
    let [finding] = &run.findings[..] else { panic!("{:?}", run.findings) };
    assert_eq!(finding.check, "plan.budget");
    assert!(finding.message.contains("the limit of 40 s left no time for"), "{finding:?}");
    // A plan does not know the pace: no budget is named.
    assert!(finding.message.ends_with(" s in all)"), "{finding:?}");
    assert!(!finding.message.contains("--budget"), "{finding:?}");
}

#[test]
fn what_the_plan_left_out_joins_it_if_it_was_measured_and_is_named_if_not() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.tools.clear();
    let all: Vec<Point> = (1..=4).map(|threads| point("test.null", threads)).collect();
    (lab.points, lab.left_out) = (all[..1].to_vec(), all[1..].to_vec());
    lab.policy.trial_s = 1.0;
    lab.policy.budget_s = Some(12.0);
    lab.deadline = Some(Deadline { ahead_s: 0.0, ranks: vec![0, 2, 1, 3] });
    let run = lab.run();
    let threads = |points: &[Point]| points.iter().map(|p| p.params.threads()).collect::<Vec<_>>();
    assert_eq!((threads(&run.plan.points), threads(&run.plan.left_out)), (vec![1, 3], vec![2, 4]));
    assert_eq!(trials(&run), [3, 3]);
    let why = &run.measurements[1].missing["references"];
    assert_eq!(why, "no known tool does this work", "time was not the reason");
    let [finding] = &run.findings[..] else { panic!("{:?}", run.findings) };
    let message = "left out for the time limit of 12 s: test.null threads=2; test.null threads=4";
    assert_eq!((finding.check.as_ref(), finding.message.as_str()), ("plan.budget", message));
    // The run as it was saved last is whole, too.
    let saved = lab.disk.saved.borrow();
    let saved = saved.last().unwrap();
    assert_eq!(saved.plan.points.len(), saved.measurements.len());
}

#[test]
fn two_tools_take_turns() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.tools.push("other");
    lab.pairs = vec![(0, 2)];
    lab.runner.values = |run| Ok(run as f64);
    let run = lab.run();
    let trials: Vec<_> = run.measurements[0].references.iter().map(|r| r.trials.clone()).collect();
    assert_eq!(trials, [[1.0, 4.0], [2.0, 3.0]], "every second turn backwards");
}

#[test]
fn what_was_measured_is_saved_before_the_tools_take_their_minutes() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    // All trials together take less than a second, after which a run is always saved.
    lab.points.iter_mut().for_each(|p| p.params = p.params.clone().with_named("ms", 10));
    lab.pairs = vec![(0, 2)];
    lab.run();
    let saved = lab.disk.saved.borrow();
    let first = &saved[0];
    assert_eq!((trials(first), first.measurements[0].references.len()), (vec![3, 3], 0));
    assert_eq!(saved[1].measurements[0].references[0].trials.len(), 1, "and after each pair");
}

#[test]
fn a_disk_that_is_full_is_reported_once_and_the_run_goes_on() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.disk.is_full = true;
    let run = lab.run();
    assert_eq!(trials(&run), [3, 3]);
    let lines = lab.lines.borrow();
    assert!(lines.len() == 1 && lines[0].starts_with("cannot save the run ("), "{lines:?}");
}
