//! Results that the time limit of a run left out, in `compare` and `check`.

use super::*;

/// Takes the last result out, for the time limit of the plan.
fn planned_out(run: &mut Run) {
    run.plan.policy.budget_s = Some(45.0);
    let m = run.measurements.pop().unwrap();
    run.plan.left_out = vec![m.point()];
}

/// Had no time left for the last result.
fn out_of_time(run: &mut Run) {
    run.plan.policy.budget_s = Some(45.0);
    let m = run.measurements.last_mut().unwrap();
    (m.trials, m.summary, m.verdict) = (Vec::new(), None, Verdict::NotRun);
    m.ending = Ending::LeftOut { needs_s: 12.0 };
}

#[test]
fn what_the_time_limit_left_out_is_not_measured_and_not_gone() {
    let two = &[1e9, 2e9][..];
    let folder =
        with(&[("a", two, as_it_is), ("short", two, planned_out), ("late", two, out_of_time)]);
    let printed = one_line(&checks(&folder, ["short.json", "a.json"], 0));
    let line = "not measured FP peak, 2 CPUs: left out in B for its time limit of 45 s";
    assert!(printed.contains(line) && printed.contains("1 not measured"), "{printed}");
    assert!(!printed.contains("✗ gone"), "{printed}");
    // A result that became slow may be the one for which no time was left.
    let printed = one_line(&checks(&folder, ["late.json", "a.json"], 5));
    let line =
        "? not measured FP peak, 2 CPUs: left out in B for its time limit of 45 s, which left no";
    assert!(printed.contains(line) && printed.contains("run --budget"), "{printed}");
    let json = ["check", "late.json", "--against", "a.json", "--format", "json"];
    let json: serde_json::Value = serde_json::from_str(&folder.run(&json).with(5).stdout).unwrap();
    let count = |word| json["counts"]["results"][word].as_u64();
    assert_eq!((count("gone"), count("not_measured")), (Some(0), Some(1)));
    assert_eq!(json["results"][1]["outcome"], "not_measured");
    let junit = ["check", "short.json", "--against", "a.json", "--format", "junit"];
    assert!(folder.run(&junit).with(0).stdout.contains("<skipped"));
    // `compare` counts it once, and lists it with --all.
    for b in ["short.json", "late.json"] {
        let compare = |more: &[&str]| {
            one_line(&folder.run(&[&["compare", "a.json", b], more].concat()).with(0).stdout)
        };
        let short = compare(&[]);
        let line = "1 result of A was left out in B for its time limit; --all lists them.";
        assert_eq!(short.matches("left out in B").count(), 1, "{short}");
        assert!(short.contains(line) && !short.contains("Gone"), "{short}");
        let all = compare(&["--all"]);
        assert!(all.contains("Not measured"), "{all}");
        assert!(all.contains("FP peak, 2 CPUs: left out in B for its time limit of 45 s"), "{all}");
    }
}
