//! Machines in `compare` and `check`: their prices, and the baseline `last-good`.

use proofmark_model::Timestamp;

use super::*;
use crate::Ended;

#[test]
fn prices_add_figures_per_unit_of_money() {
    let folder = with(&[("a", &[1e9], as_it_is), ("b", &[0.5e9], as_it_is)]);
    let compare = ["compare", "a.json", "b.json"];
    let printed =
        folder.prints(&[&compare[..], &["--price", "A=$0.40/h", "--price", "B=$0.10"]].concat());
    let sentence = "B delivers 0.50 of A's CPU; per unit of money B delivers 2.0 of A's CPU.";
    assert!(printed.contains(sentence), "{printed}");
    let table = printed.split("the figure for 1 $/h.").nth(1).unwrap();
    assert!(table.contains("2.501 GFLOP/s") && table.contains("5.003 GFLOP/s"), "{printed}");
    let json = [&compare[..], &["--price", "0.4", "--price", "0.1", "--format", "json"]].concat();
    let found: Comparison = serde_json::from_str(&folder.prints(&json)).unwrap();
    let money = found.points[0].per_price.as_ref().unwrap();
    assert!((money.value - 2.0).abs() < 0.01, "{money:?}");
    folder.refuses(&[&compare[..], &["--price", "A=0.4"]].concat(), "add --price B=AMOUNT/h");
    folder.refuses(&[&compare[..], &["--price", "A=1,2", "--price", "2"]].concat(), "is no number");
}

#[test]
fn the_last_good_run_of_this_machine_is_a_baseline() {
    let host = |name: &'static str, run: &mut Run| {
        run.host.os.host_name = Probe::known(name.to_owned(), "made up");
        run.host.cpu.model_name = Probe::known("Some CPU".to_owned(), "made up");
    };
    let at = |second: i64, run: &mut Run| {
        run.started = Timestamp::from_millis(1_000 * second).unwrap();
    };
    let folder = Folder::new();
    let write = |name: &str, values: &[f64], change: &dyn Fn(&mut Run)| {
        let mut run = run(values);
        host("web-1", &mut run);
        change(&mut run);
        folder.file(&format!("{name}.json"), serde_json::to_vec(&run).unwrap());
    };
    write("old", &[1e9], &|run| at(1, run));
    write("good", &[2e9], &|run| at(2, run));
    write("invalid", &[3e9, 3e9], &|run| {
        at(3, run);
        let finding = Finding::new("crashed", Severity::Invalid, "gone", "");
        (run.measurements[1].findings, run.measurements[1].verdict) =
            (vec![finding], Verdict::Invalid);
    });
    write("other", &[4e9], &|run| (at(4, run), host("web-2", run)).0);
    write("others_cpu", &[4e9], &|run| {
        at(5, run);
        run.host.cpu.model_name = Probe::known("Another CPU".to_owned(), "made up");
    });
    write("nothing", &[], &|run| at(6, run));
    write("now", &[1.9e9], &|run| at(7, run));
    write("later", &[5e9], &|run| at(8, run));
    let run = |arguments: &[&str]| {
        let mut command = folder.command();
        command.args(arguments).env("PROOFMARK_HISTORY", folder.path().join("history.db"));
        Ended::run(&mut command)
    };
    let check = ["check", "now.json", "--against", "last-good"];
    // A first run has no baseline: that is undecided, and its requirements are tested.
    let first = run(&check);
    assert_eq!((first.code, first.stderr.as_str()), (Some(5), ""));
    let says = one_line(&first.stdout);
    assert!(says.starts_with("? undecided: no baseline in the history"), "{says}");
    assert!(says.contains("it has no earlier run; name one with"), "{says}");
    for (requirement, code, says) in
        [("cpu.flops>=1FLOP/s", 5, "✓ met"), ("cpu.flops>=9TFLOP/s", 4, "✗ missed")]
    {
        let first = run(&[&check[..], &["--require", requirement]].concat());
        assert_eq!(first.code, Some(code));
        let found = [says, "? undecided: no baseline"].map(|text| first.stdout.contains(text));
        assert_eq!(found, [true; 2], "{}", first.stdout);
    }
    for name in ["other", "others_cpu", "now", "later"] {
        assert_eq!(run(&["history", "--add", &format!("{name}.json")]).code, Some(0));
    }
    let none = run(&check);
    assert_eq!(none.code, Some(5));
    let says = one_line(&none.stdout);
    assert!(says.contains("of the earlier runs 2 of other machines"), "{says}");
    for name in ["old", "good", "invalid", "nothing"] {
        assert_eq!(run(&["history", "--add", &format!("{name}.json")]).code, Some(0));
    }
    let found = run(&check);
    assert_eq!(found.code, Some(0), "{}{}", found.stdout, found.stderr);
    assert!(found.stderr.contains("baseline: run 6 of the history, 1970-01-01 00:00:02"));
    assert!(found.stdout.contains("good.json"), "{}", found.stdout);
    // A run whose file is gone is passed over.
    std::fs::remove_file(folder.path().join("good.json")).unwrap();
    let older = run(&check);
    assert!(older.stderr.contains("baseline: run 5 of the history, 1970-01-01 00:00:01"));
    // By its number, too.
    assert!(run(&["check", "3", "--against", "last-good"]).stderr.contains("baseline: run 5"));
}

#[test]
fn a_run_that_is_slower_is_no_baseline_of_the_next() {
    let folder = Folder::new();
    // Two results of one machine; the second one falls to 60 %, and stays there.
    let speeds = [[2e9, 4e9], [2.02e9, 4.02e9], [2e9, 2.4e9], [2e9, 2.42e9], [2.01e9, 2.38e9]];
    for (i, speeds) in speeds.iter().enumerate() {
        let mut run = run(speeds);
        run.started = Timestamp::from_millis(1_000 * (i as i64 + 1)).unwrap();
        folder.file(&format!("{i}.json"), serde_json::to_vec(&run).unwrap());
    }
    let history = folder.path().join("history.db");
    let run = |arguments: &[&str]| {
        let mut command = folder.command();
        command.args(arguments).env("PROOFMARK_HISTORY", &history);
        Ended::run(&mut command)
    };
    for (i, code) in [5, 0, 4, 4, 4].into_iter().enumerate() {
        let name = format!("{i}.json");
        let checked = run(&["check", &name, "--against", "last-good"]);
        assert_eq!(checked.code, Some(code), "{name}: {}{}", checked.stdout, checked.stderr);
        let good = checked.stderr.contains("baseline: run 2 of the history");
        assert_eq!(good, code == 4, "{}", checked.stderr);
        assert!(
            i != 4 || checked.stderr.contains("; 2 newer runs are slower"),
            "{}",
            checked.stderr
        );
        assert_eq!(run(&["history", "--add", &name]).code, Some(0));
    }
    // A wider margin accepts them, and so does the user by name.
    let wide = run(&["check", "4.json", "--against", "last-good", "--margin", "50%"]);
    assert!(wide.code == Some(0) && wide.stderr.contains("baseline: run 4"), "{}", wide.stderr);
    assert_eq!(run(&["check", "4.json", "--against", "4"]).code, Some(0));
}
