//! Tests of stored values, of older versions, and of files that are no history.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod runs;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use proofmark_model::{
    Better, Figure, FigureKind, Level, Measurement, Param, Params, PastFigure, Run, Series, Unit,
    Verdict, VerdictCounts, key, testing,
};
use proofmark_store::{Filter, Store};
use runs::{measurement, moment, on, run, small};
use rusqlite::Connection;

fn file() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("new/folder/history.db");
    (dir, file)
}

/// Returns a new history in a folder that is removed when dropped.
fn opened() -> (tempfile::TempDir, PathBuf, Store) {
    let (dir, path) = file();
    let store = Store::open(&path).unwrap();
    (dir, path, store)
}

/// Alters a database as another program would.
fn alter(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn filter_by(workload: &str) -> Filter {
    Filter { workload: Some(workload.to_owned()), ..Filter::default() }
}

/// Returns the error of opening a file, which is one line.
fn refused(path: &Path) -> String {
    let error = Store::open(path).unwrap_err().to_string();
    assert!(error.lines().count() == 1 && error.contains(&path.display().to_string()), "{error}");
    assert_eq!(Store::open_existing(path).unwrap_err().to_string(), error);
    error
}

#[test]
fn what_is_added_is_read_again() {
    let (_dir, path) = file();
    assert!(Store::open_existing(&path).unwrap().is_none(), "reading makes no file");
    assert!(!path.exists());
    let mut store = Store::open(&path).unwrap();
    let labelled = Run { label: Some("before".to_owned()), ..on("node1", small(7)) };
    let id = store.add(&labelled, "/runs/a").unwrap();
    drop(store);
    let store = Store::open_existing(&path).unwrap().unwrap();
    let [past] = &store.runs(&Filter::default()).unwrap()[..] else { panic!() };
    assert_eq!((past.id, past.started, past.ended), (id, moment(7), Some(moment(1007))));
    assert_eq!((past.host.as_deref(), past.profile.as_str()), (Some("node1"), "quick"));
    assert_eq!((past.label.as_deref(), past.missing.len()), (Some("before"), 0));
    assert_eq!(past.machine, "A CPU, 2 CPUs, 16 GiB");
    let counted = VerdictCounts { valid: 1, suspect: 1, ..VerdictCounts::default() };
    assert_eq!(past.verdicts, counted);
    assert_eq!(store.run(id).unwrap().as_ref(), Some(past));
    assert_eq!((past.path.as_str(), store.run(id + 1).unwrap()), ("/runs/a", None));
    assert_eq!(store.workloads().unwrap(), ["cpu.flops"]);
    let points = store.points(&filter_by("cpu.flops")).unwrap();
    let [one, two] = &points[..] else { panic!("{points:?}") };
    assert_eq!((one.value, one.verdict, one.trials), (Some(50e9 + 7.0), Verdict::Suspect, 8));
    assert_eq!((&one.host, &one.label, one.started), (&past.host, &past.label, past.started));
    assert_eq!((two.ci95, two.efficiency), (Some([0.99 * 99e9, 1.01 * 99e9]), Some(0.9)));
    assert_eq!((two.unit, two.better), (Unit::FlopPerSecond, Better::Higher));
    assert_eq!((two.machine.as_str(), two.over_time, two.levels), (&*past.machine, false, None));
    assert_eq!(two.params, small(0).measurements[1].params);
    assert!(store.points(&Filter::default()).unwrap().is_empty(), "of no workload");
}

#[test]
fn attainable_and_delivered_are_kept_beside_the_headline() {
    let (_dir, _path, mut store) = opened();
    let mut cut = small(0);
    let s = cut.measurements[0].summary.as_mut().unwrap();
    let attainable = Figure { value: Some(60e9), ci95: Some([59e9, 61e9]), ..Figure::default() };
    (s.headline, s.attainable) = (FigureKind::Attainable, attainable);
    s.delivered = Figure::alone(30e9, "made up");
    let bad = cut.measurements[1].summary.as_mut().unwrap();
    bad.attainable = Figure::alone(f64::NAN, "no number");
    store.add(&cut, "").unwrap();
    let points = store.points(&filter_by("cpu.flops")).unwrap();
    let [one, two] = &points[..] else { panic!("{points:?}") };
    assert_eq!((one.headline, one.value), (FigureKind::Attainable, Some(60e9)));
    assert_eq!(one.attainable, Some(PastFigure { value: 60e9, ci95: Some([59e9, 61e9]) }));
    assert_eq!(one.delivered, Some(PastFigure { value: 30e9, ci95: None }));
    assert_eq!((two.headline, two.attainable), (FigureKind::Delivered, None));
    assert_eq!(two.delivered, Some(PastFigure { value: two.value.unwrap(), ci95: two.ci95 }));
}

#[test]
fn it_is_this_users_alone() {
    let (_dir, path, mut store) = opened();
    store.add(&small(0), "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let files: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(files.len(), 1, "nothing is next to it: {files:?}");
}

#[test]
fn a_run_added_again_is_one_run() {
    let (_dir, _, mut store) = opened();
    let mut unfinished = small(0);
    unfinished.ended = None;
    unfinished.measurements.pop();
    let id = store.add(&on("node1", unfinished.clone()), "/runs/a").unwrap();
    store.add(&small(1), "/runs/b").unwrap();
    assert_eq!(store.add(&small(0), "/elsewhere/a").unwrap(), id);
    let runs = store.runs(&Filter::default()).unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!((runs[0].path.as_str(), runs[0].ended), ("/elsewhere/a", Some(moment(1000))));
    assert_eq!(runs[0].host.as_deref(), Some("node1"), "a name once known stays");
    assert!(runs[0].missing.is_empty());
    assert_eq!((&runs[1].host, runs[1].missing["host"].as_str()), (&None, "made up"));
    assert_eq!(store.points(&filter_by("cpu.flops")).unwrap().len(), 4);
    assert_eq!(store.add(&unfinished, "/runs/a").unwrap(), id);
    assert_eq!(
        store.points(&filter_by("cpu.flops")).unwrap().len(),
        3,
        "nor what it no longer holds"
    );

    let mut other = small(0);
    other.plan.points.pop();
    assert_ne!(store.add(&other, "/runs/c").unwrap(), id, "another plan is another run");
}

#[test]
fn filters_choose() {
    let (_dir, _, mut store) = opened();
    for at in 0..6 {
        let mut run = small(at * 1000);
        if at == 5 {
            run.plan.profile = "default".to_owned();
            run.measurements.push(measurement("cpu.iops", Params::default(), 1.0));
        }
        run.label = (at > 2).then(|| "late".to_owned());
        store.add(&on(if at % 2 == 0 { "even" } else { "odd" }, run), "").unwrap();
    }
    let starts = |filter: &Filter| {
        let runs = store.runs(filter).unwrap();
        runs.iter().map(|r| r.started.0.as_millisecond() / 1000 % 10).collect::<Vec<_>>()
    };
    let all = Filter::default();
    assert_eq!(starts(&all), [0, 1, 2, 3, 4, 5], "oldest first");
    assert_eq!(starts(&Filter { last: Some(2), ..all.clone() }), [4, 5], "the newest stay");
    assert_eq!(starts(&Filter { since: Some(moment(4000)), ..all.clone() }), [4, 5]);
    let odd = Filter { host: Some("odd".into()), ..all.clone() };
    assert_eq!(starts(&odd), [1, 3, 5]);
    let late = Filter { label: Some("late".into()), ..odd.clone() };
    assert_eq!(starts(&late), [3, 5]);
    let workload = Some("cpu.flops".to_owned());
    let points = store.points(&Filter { workload, ..late }).unwrap();
    assert_eq!(points.len(), 4);
    assert!(points.iter().all(|p| p.label.as_deref() == Some("late")));
    assert_eq!(starts(&Filter { last: Some(1), profile: Some("quick".into()), ..odd }), [3]);
    assert_eq!(starts(&filter_by("cpu.iops")), [5]);
    assert_eq!(starts(&filter_by("cpu.flops")).len(), 6);
    assert!(starts(&filter_by("no.workload")).is_empty());

    let threads = |values: &[u64]| {
        let values = values.iter().map(|v| Param::Int(*v)).collect();
        Filter { parameters: [("threads".to_owned(), values)].into(), ..filter_by("cpu.flops") }
    };
    assert_eq!(store.points(&threads(&[2])).unwrap().len(), 6);
    assert_eq!(store.points(&threads(&[1, 2])).unwrap().len(), 12);
    assert!(store.points(&threads(&[3])).unwrap().is_empty());
    let last = store.points(&Filter { last: Some(2), ..filter_by("cpu.flops") }).unwrap();
    let values: Vec<f64> = last.iter().filter_map(|p| p.value).collect();
    assert_eq!(values, [50e9 + 4000.0, 50e9 + 5000.0, 99e9, 99e9], "each point its last two");
    let odd = Filter { host: Some("odd".into()), last: Some(2), ..threads(&[1]) };
    let values: Vec<f64> = store.points(&odd).unwrap().iter().filter_map(|p| p.value).collect();
    assert_eq!(values, [50e9 + 3000.0, 50e9 + 5000.0]);
}

/// A run that a disturbance left without clean windows has no headline, and is not hidden.
#[test]
fn a_result_without_a_figure_has_a_reason_and_one_without_trials_is_left_out() {
    let (_dir, _, mut store) = opened();
    let at = |n: u64| Params::default().with(key::THREADS, n);
    let mut bad: Vec<_> = (1..=4).map(|n| measurement("cpu.flops", at(n), 1.0)).collect();
    bad[0].summary = None;
    let figure = |m: &mut Measurement, value, ci95| {
        proofmark_model::testing::restate(m.summary.as_mut().unwrap(), value, ci95);
    };
    figure(&mut bad[1], f64::NAN, None);
    figure(&mut bad[2], 1e9, Some([1.0, f64::INFINITY]));
    bad[2].efficiency = Some(f64::NAN);
    let lost = bad[3].summary.as_mut().unwrap();
    (lost.headline, lost.attainable) = (FigureKind::Attainable, Figure::none("no clean windows"));
    lost.delivered = Figure::alone(39e9, "made up");
    bad.push(measurement("cpu.flops", at(3), 2.0));
    store.add(&run(0, bad), "").unwrap();
    let [none, equal, lost] = &store.points(&filter_by("cpu.flops")).unwrap()[..] else { panic!() };
    assert_eq!((none.value, none.delivered, none.ci95), (None, None, None));
    assert_eq!(none.missing["value"], "not a finite number");
    assert_eq!((equal.value, equal.missing.get("value")), (Some(2.0), None), "of equals the last");
    assert_eq!((lost.value, lost.delivered.map(|f| f.value)), (None, Some(39e9)));
    assert_eq!(lost.missing["value"], "no clean windows");
    assert_eq!(store.runs(&Filter::default()).unwrap()[0].verdicts.valid, 5);
}

/// Returns a result of samples over time with this many levels.
fn over_time(mut m: Measurement, levels: usize) -> Measurement {
    let level = Level { from_s: 0.0, until_s: 9.0, trials: 9, median: 1.0, ci95: None };
    m.series = Some(Series { levels: vec![level; levels], ..testing::series(moment(0), 60) });
    m
}

#[test]
fn samples_over_time_are_no_trials_of_the_same_point() {
    let (_dir, _, mut store) = opened();
    let at = |median| measurement("cpu.flops", Params::default().with(key::THREADS, 1), median);
    let both = vec![over_time(at(1.0), 3), at(2.0), over_time(at(3.0), 1)];
    for order in [both.clone(), both[..2].iter().rev().cloned().chain([both[2].clone()]).collect()]
    {
        let id = store.add(&run(0, order), "").unwrap();
        let points = store.points(&filter_by("cpu.flops")).unwrap();
        let read: Vec<_> = points.iter().map(|p| (p.run, p.over_time, p.value.unwrap())).collect();
        assert_eq!(read, [(id, false, 2.0), (id, true, 3.0)], "the last of each");
        assert_eq!((points[0].levels, points[1].levels), (None, Some(1)));
        assert!(points.iter().all(|p| p.ci95.is_some()));
    }
    store.add(&run(9, vec![over_time(at(5.0), 3)]), "").unwrap();
    let points = store.points(&filter_by("cpu.flops")).unwrap();
    let last = points.last().unwrap();
    assert_eq!((points.len(), last.value, last.levels, last.ci95), (3, Some(5.0), Some(3), None));
}

#[test]
fn references_hold() {
    let (_dir, path, mut store) = opened();
    store.add(&small(9), "").unwrap();
    let db = Connection::open(&path).unwrap();
    assert!(db.execute_batch("INSERT INTO numbers VALUES (999, 0, 1, '{}')").is_err());
}

#[test]
fn what_is_no_history_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let [short, long, other] = ["short", "long", "other.db"].map(|name| dir.path().join(name));
    fs::write(&short, "hello").unwrap();
    fs::write(&long, "no database ".repeat(1000)).unwrap();
    alter(&other, "CREATE TABLE t (a)");
    for (path, why) in [
        (short, "is not a proofmark history"),
        (long, "is not a proofmark history"),
        (other, "the database of another program"),
    ] {
        let before = fs::read(&path).unwrap();
        assert!(refused(&path).contains(why), "{path:?}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    for path in [dir.path(), Path::new("/dev/null")] {
        assert!(refused(path).contains("it is not a file"));
    }
}

#[test]
fn a_damaged_store_is_an_error_and_no_panic() {
    let (_dir, path, mut store) = opened();
    for at in 0..40 {
        store.add(&small(at), "/a/path/that/takes/some/room").unwrap();
    }
    drop(store);
    let whole = fs::read(&path).unwrap();
    let use_it = || -> Result<(), String> {
        let mut store = Store::open_existing(&path).map_err(|e| e.to_string())?.ok_or("gone")?;
        store.runs(&Filter::default()).map_err(|e| e.to_string())?;
        store.points(&filter_by("cpu.flops")).map_err(|e| e.to_string())?;
        store.add(&small(99), "").map_err(|e| e.to_string())?;
        Ok(())
    };
    use_it().unwrap();
    let mut reported = 0;
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    for round in 0..300 {
        let mut torn = whole.clone();
        match round % 3 {
            0 => torn.truncate(1 + random(whole.len() - 1)),
            1 => (0..64).for_each(|_| torn[random(whole.len())] = random(256) as u8),
            _ => {
                let (from, page) = (random(whole.len() / 4096) * 4096, random(256) as u8);
                torn[from..from + 4096].fill(page);
            }
        }
        fs::write(&path, &torn).unwrap();
        if let Err(error) = use_it() {
            assert_eq!(error.lines().count(), 1, "{error}");
            reported += 1;
        }
    }
    assert!(reported > 150, "most of this shows: {reported} of 300");
}

#[test]
fn words_that_mean_nothing_here_are_damage() {
    for sql in [
        "UPDATE measured SET what = json_set(what, '$.unit', 'furlongs')",
        "UPDATE measured SET what = json_set(what, '$.params', json('[1]')) WHERE id = 1",
        "UPDATE numbers SET number = json_set(number, '$.verdict', char(27) || '[31m')",
        "UPDATE numbers SET number = json_set(number, '$.n', -1)",
        "UPDATE numbers SET started = 9223372036854775807",
        "UPDATE runs SET run = '[]'",
    ] {
        let (_dir, path, mut store) = opened();
        store.add(&small(0), "").unwrap();
        alter(&path, sql);
        let error = store.points(&filter_by("cpu.flops")).unwrap_err().to_string();
        assert!(error.contains("is damaged") && !error.contains('\u{1b}'), "{sql}: {error}");
    }
    let (_dir, path, store) = opened();
    alter(&path, "DROP TABLE runs");
    let error = store.runs(&Filter::default()).unwrap_err().to_string();
    assert!(error.contains("no such table: runs"), "{error}");
}

#[test]
fn a_strangers_schema_runs_nothing() {
    let (_dir, path, _) = opened();
    alter(&path, "CREATE TRIGGER trap AFTER INSERT ON runs BEGIN DELETE FROM runs; END");
    let mut store = Store::open(&path).unwrap();
    store.add(&small(0), "").unwrap();
    assert_eq!(store.runs(&Filter::default()).unwrap().len(), 1);
}

#[test]
fn what_cannot_be_made_is_reported_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for path in [dir.path().join("file/history.db"), PathBuf::from("/proc/none/history.db")] {
        let error = Store::open(&path).unwrap_err().to_string();
        assert!(error.contains("cannot create it") && error.lines().count() == 1, "{error}");
        assert!(error.ends_with("choose another file with --history"), "{error}");
    }
}

/// Every query uses a key or an index, for any number of runs.
#[test]
fn no_question_reads_all_numbers() {
    let (_dir, path, _) = opened();
    let db = Connection::open(&path).unwrap();
    let plan = |sql: &str| {
        let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    };
    let runs = plan("SELECT * FROM runs WHERE started >= 1 ORDER BY started DESC, id DESC LIMIT 5");
    assert!(runs.contains("runs_by_start") && !runs.contains("TEMP B-TREE"), "{runs}");
    let numbers = plan(
        "SELECT * FROM numbers n CROSS JOIN runs r ON r.id = n.run WHERE n.measured = 1
         AND n.started >= 1 ORDER BY n.started DESC, n.run DESC LIMIT 5",
    );
    assert!(!numbers.contains("SCAN") && !numbers.contains("TEMP B-TREE"), "{numbers}");
    let gone = plan("DELETE FROM numbers WHERE run = 1");
    assert!(gone.contains("numbers_of_run"), "{gone}");
}
