//! The time that pairs with tools have, and what is said of those that had none.

use super::*;

#[test]
fn the_time_that_a_user_allows_the_tools_is_kept_to() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.pairs = vec![(0, 5), (1, 5)];
    // A pair takes 13 s: two of warm-up, a trial of proofmark, and ten of the tool.
    lab.most_s = Some(40.0);
    let run = lab.run();
    assert_eq!(lab.tools_ran(), 3);
    let message = |place: usize| {
        assert!(found(&run.measurements[place], "reference.failed").is_none());
        found(&run.measurements[place], "reference.time").unwrap().message.as_str()
    };
    let why = "pairs with fake: the time limit left no time for a pair of about 13 s";
    assert_eq!([message(0), message(1)], [format!("3 of 5 {why}"), format!("0 of 5 {why}")]);
    // No pair begins for which there is no time, and the end of each tool is announced.
    let pairs = lab.seen.0.iter().filter(|(event, _)| event.starts_with("Pair"));
    let pairs: Vec<&str> = pairs.map(|(event, _)| event.as_str()).collect();
    let begun = [1, 2, 3].map(|turn| format!("Pair {turn} of 5 with fake"));
    let ended = [3, 0].map(|taken| format!("Paired {{ taken: {taken}, of: 5, tool: \"fake\" }}"));
    assert_eq!(pairs, [begun.as_slice(), ended.as_slice()].concat());
    assert_eq!(run.measurements[0].references[0].trials.len(), 3);
}

#[test]
fn a_tool_that_overruns_takes_no_time_from_later_results() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.points.push(point("test.time", 3));
    lab.pairs = vec![(0, 3), (1, 3)];
    // Pairs are planned to take 10 s, and take 43 s.
    lab.runner.seconds = 40.0;
    lab.policy.budget_s = Some(100.0);
    lab.deadline = Some(Deadline { ahead_s: 1.0, ranks: vec![0, 1, 2] });
    let run = lab.run();
    assert_eq!(trials(&run), [3, 3, 3]);
    assert!(lab.script.clock.now() <= 99.0, "{} s", lab.script.clock.now());
    assert!((1..3).contains(&lab.tools_ran()), "{}", lab.tools_ran());
    let finding = found(&run.measurements[1], "reference.time").unwrap();
    let why = "0 of 3 pairs with fake: the time limit left no time for a pair of about 43 s";
    assert_eq!(finding.message, why);
    assert!(run.measurements[1].missing["references.fake"].ends_with("of about 43 s"));
    let ended = lab.seen.0.iter().filter(|(event, _)| event.starts_with("Paired"));
    assert_eq!(ended.count(), 2, "each is announced once: {:?}", lab.seen.0);
}

/// Two results with pairs of 13 s, then 40 that take three times as long as estimated.
fn slow_with_tools(kept_s: f64) -> (Lab, Run) {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.points = (1..=42).map(|threads| point("test.time", threads)).collect();
    lab.policy.trial_s = 1.0;
    lab.pairs = vec![(0, 2), (40, 1)];
    (lab.policy.budget_s, lab.kept_s) = (Some(200.0), kept_s);
    lab.deadline = Some(Deadline { ahead_s: 0.0, ranks: (0..42).collect() });
    lab.deadline.as_mut().unwrap().ranks.swap(1, 40);
    let run = lab.run();
    assert!(lab.script.clock.now() <= 202.0, "{} s", lab.script.clock.now());
    (lab, run)
}

#[test]
fn named_tools_keep_their_time_though_the_machine_is_slower_than_estimated() {
    let (lab, run) = slow_with_tools(50.0);
    assert_eq!(lab.tools_ran(), 3);
    assert!([0, 40].iter().all(|place| run.measurements[*place].references.len() == 1));
    assert!(run.measurements.iter().any(|m| m.trials.is_empty()), "others give way");
    let (lab, run) = slow_with_tools(0.0);
    assert_eq!(lab.tools_ran(), 0, "those that nobody named keep nothing");
    assert!(found(&run.measurements[0], "reference.time").is_some());
}

#[test]
fn what_remains_goes_to_the_tools_before_what_the_plan_left_out() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    let all: Vec<Point> = (1..=8).map(|threads| point("test.null", threads)).collect();
    (lab.points, lab.left_out) = (all[..2].to_vec(), all[2..].to_vec());
    lab.pairs = vec![(0, 2)];
    lab.policy.trial_s = 1.0;
    // The tools' own time holds one pair of 13 s.
    (lab.policy.budget_s, lab.most_s) = (Some(60.0), Some(20.0));
    lab.deadline = Some(Deadline { ahead_s: 0.0, ranks: (0..8).collect() });
    let run = lab.run();
    assert_eq!(
        run.measurements[0].references[0].trials.len(),
        2,
        "{:?}",
        run.measurements[0].missing
    );
    assert!(found(&run.measurements[0], "reference.time").is_none());
    assert!(run.measurements.len() > 2, "then the others");
    let acts = lab.script.log.borrow();
    let last_tool = acts.iter().rposition(|act| matches!(act, Act::Tool(_))).unwrap();
    assert!(acts[..last_tool].iter().all(|act| !matches!(act, Act::Launch(3..))));
    let paired: Vec<_> =
        lab.seen.0.iter().filter(|(event, _)| event.starts_with("Paired")).collect();
    assert_eq!(paired.len(), 1, "{paired:?}");
}

/// One planned pair of 13 s at the first configuration, and none at the second.
fn with_further(budget_s: f64, kept_s: f64) -> (Lab, Run) {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    let all: Vec<Point> = (1..=3).map(|threads| point("test.null", threads)).collect();
    (lab.points, lab.left_out) = (all[..2].to_vec(), all[2..].to_vec());
    (lab.pairs, lab.further) = (vec![(0, 1)], vec![(1, 2), (0, 3)]);
    lab.policy.trial_s = 1.0;
    (lab.policy.budget_s, lab.kept_s) = (Some(budget_s), kept_s);
    lab.deadline = Some(Deadline { ahead_s: 0.0, ranks: (0..3).collect() });
    let run = lab.run();
    assert!(lab.script.clock.now() <= 1.01 * budget_s, "{} s", lab.script.clock.now());
    (lab, run)
}

#[test]
fn pairs_that_the_plan_left_out_are_taken_in_the_time_that_remains() {
    let taken = |run: &Run| -> Vec<usize> {
        let of = |m: &Measurement| m.references.first().map_or(0, |r| r.trials.len());
        run.measurements.iter().map(of).collect()
    };
    let (lab, run) = with_further(120.0, 1.0);
    assert_eq!(taken(&run), [3, 2, 0], "and the configuration that was left out");
    assert!(run.measurements.iter().all(|m| found(m, "reference.time").is_none()));
    let acts = lab.script.log.borrow();
    let last_tool = acts.iter().rposition(|act| matches!(act, Act::Tool(_))).unwrap();
    let left_out = acts.iter().position(|act| matches!(act, Act::Launch(3))).unwrap();
    assert!(last_tool < left_out, "named tools come first");
    // Those that nobody named come last.
    let (lab, run) = with_further(120.0, 0.0);
    assert_eq!(taken(&run), [3, 2, 0]);
    let acts = lab.script.log.borrow();
    let first_launch = acts.iter().position(|act| matches!(act, Act::Launch(3))).unwrap();
    assert!(acts[first_launch..].iter().any(|act| matches!(act, Act::Tool(_))));
    // What was left out comes before more pairs of the others. Without time nothing is missing.
    let (_, run) = with_further(55.0, 1.0);
    assert_eq!(taken(&run)[..2], [1, 2]);
    let (_, run) = with_further(30.0, 1.0);
    assert_eq!(taken(&run)[..2], [1, 0]);
    assert!(run.measurements.iter().all(|m| found(m, "reference.time").is_none()));
    assert_eq!(run.measurements[1].missing["references"], "not asked for");
}

#[test]
fn a_tool_that_failed_in_the_time_that_remained_was_not_left_out() {
    const LINE: &str = "for the budget of 2 min: reference tools left out, unless time remains: fake \
        at 1 configuration: --budget 3m takes it";
    let left_out = |budget_s: f64, values: fn(usize) -> Result<f64, String>| {
        let mut lab = Lab::new(|_, _| Ok(100.0));
        lab.further = vec![(1, 2)];
        lab.runner.values = values;
        lab.tools_left_out = Some(LINE);
        lab.policy.budget_s = Some(budget_s);
        lab.deadline = Some(Deadline { ahead_s: 0.0, ranks: vec![0, 1] });
        let run = lab.run();
        let failed = found(&run.measurements[1], "reference.failed").is_some();
        let line = run.findings.iter().find(|f| f.check == "plan.budget");
        (failed, line.map(|f| f.message.clone()))
    };
    assert_eq!(left_out(120.0, |_| Err("exit status 1".to_owned())), (true, None));
    assert_eq!(left_out(120.0, |_| Ok(50.0)), (false, None));
    let (failed, line) = left_out(8.0, |_| Ok(50.0));
    assert!(!failed && line.unwrap().ends_with("left out: fake at 1 configuration"));
}

#[test]
fn a_tool_whose_program_is_not_found_is_named() {
    let mut lab = Lab::new(|_, _| Ok(100.0));
    lab.pairs = vec![(0, 2)];
    lab.tools = vec!["fake", "absent"];
    let run = lab.run();
    assert_eq!(run.measurements[0].missing["references.absent"], "its program was not found");
}
