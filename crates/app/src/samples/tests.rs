//! Samples that are written, incomplete, too many, or untrusted.

use std::fs;

use proofmark_judge::judge;
use proofmark_model::testing::{self, moment, trial};
use proofmark_model::{Account, Conditions, NetworkTraffic, Plan, TcpState, Timestamp, read_run};

use super::*;

fn sample(at: f64, value: f64) -> Trial {
    Trial {
        started: moment((at * 1000.0) as i64),
        conditions: Conditions { steal_s: Some(0.25), ..Conditions::default() },
        verified: Some(Account { claimed: value, counted: value }),
        ..trial(value, 1.0)
    }
}

/// Returns an unfinished run that plans a series of its only configuration.
fn run() -> RawRun {
    let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
    let measurement = RawMeasurement::new(spec, Default::default());
    let planned = PlannedSeries { point: 0, for_s: 600.0, every_s: 1.0 };
    let plan = Plan { points: vec![measurement.point()], series: vec![planned], ..Plan::default() };
    let workloads = [(spec.id.to_string(), spec.clone())].into();
    let empty = testing::run(Vec::new()).with_measurements(Vec::new());
    RawRun { plan, workloads, ended: None, ..empty }
}

fn write(folder: &Path, n: usize) -> SampleLog<'static> {
    let mut log = SampleLog::new(folder, &|line| panic!("{line}"));
    for i in 0..n {
        log.add(0, i as f64, &sample(i as f64, 1e9)).unwrap();
    }
    log
}

#[test]
fn what_a_killed_run_sampled_is_read_and_a_torn_line_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 20);
    let path = dir.path().join(SAMPLES_FILE);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.lines().all(|l| l.len() < 400 && !l.contains("null")), "{text}");
    fs::write(&path, &text[..text.len() - 30]).unwrap();
    let mut run = run();
    complete(&mut run, dir.path());
    let [m] = run.measurements.as_slice() else { panic!("{}", run.measurements.len()) };
    let series = m.series.as_ref().unwrap();
    assert_eq!((m.trials.len(), series.samples, &m.ending), (19, 19, &Ending::Unfinished));
    assert_eq!(m.trials[18], sample(18.0, 1e9));
    let run = judge(&run);
    let [m] = run.measurements.as_slice() else { panic!("{}", run.measurements.len()) };
    assert_eq!(m.summary.as_ref().unwrap().value(), 1e9);
    let v = m.verification.as_ref().unwrap();
    assert_eq!((v.kind.as_str(), v.claimed, v.counted), ("checked arithmetic", 19e9, 19e9));
    assert!(m.findings.iter().any(|f| f.check == "unfinished"), "judged");
    // The result is a run file like any other.
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(read_run(&text).unwrap().measurements, run.measurements);
}

#[test]
fn what_the_run_file_has_already_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = write(dir.path(), 5);
    let mut ended = run();
    ended.ended = Some(Timestamp::now());
    complete(&mut ended, dir.path());
    assert!(ended.measurements.is_empty(), "it ended by itself");
    let mut crashed = run();
    complete(&mut crashed, dir.path());
    crashed.measurements[0].ending = Ending::Crashed { signal: None, detail: String::new() };
    log.add(0, 5.0, &sample(5.0, 1e9)).unwrap();
    let before = crashed.clone();
    complete(&mut crashed, dir.path());
    assert_eq!(crashed, before, "a point that ended has no more samples");
}

#[test]
fn the_same_point_in_trials_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 20);
    let mut run = run();
    let spec = run.workloads["cpu.iops"].clone();
    let mut in_trials = RawMeasurement::new(&spec, run.plan.points[0].params.clone());
    in_trials.trials = vec![sample(0.0, 7.0)];
    run.measurements.push(in_trials);
    complete(&mut run, dir.path());
    let counts: Vec<usize> = run.measurements.iter().map(|m| m.trials.len()).collect();
    assert_eq!(counts, [1, 20]);
}

#[test]
fn no_file_of_a_stranger_does_harm() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(SAMPLES_FILE);
    let good = line(0, 0.0, &sample(0.0, 1.0)).unwrap();
    let far = good.replace("\"point\":0", "\"point\":18446744073709551615");
    let long = format!("{{\"x\":\"{}\"}}\n", "y".repeat(3 * LONGEST_LINE));
    let with = |value, seconds, work| {
        line(0, 0.0, &Trial { value, seconds, work, ..sample(0.0, 1e9) }).unwrap()
    };
    for (text, samples) in [
        (String::new(), 0),
        // No time or no work.
        (with(0.0, 0.0, 0.0) + &with(1e9, 0.0, 1e9) + &with(-1.0, 1.0, -1.0) + &good, 1),
        ("\n\n{}\nnull\n[1]\n\u{0}\n".to_owned(), 0),
        (far, 0),
        (good.replace("\"work\":1.0", "\"work\":1e999"), 0),
        (format!("{long}{good}{long}"), 1),
        (format!("{}\n{good}", &good[..40]), 1),
    ] {
        fs::write(&path, &text).unwrap();
        let mut run = run();
        complete(&mut run, dir.path());
        let found = run.measurements.first().map_or(0, |m| m.trials.len());
        assert_eq!(found, samples, "{}", &text[..text.len().min(60)]);
    }
    let mut run = run();
    run.plan.series[0].point = 7;
    fs::write(&path, &good).unwrap();
    complete(&mut run, dir.path());
    assert!(run.measurements.is_empty());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    complete(&mut run, dir.path());
    assert!(run.measurements.is_empty());
}

#[test]
fn a_line_is_bounded() {
    let mut wide = sample(0.0, 1.0);
    wide.network = Some(NetworkTraffic {
        received_bytes: 5,
        streams: vec![TcpState::default(); 1000],
        ..NetworkTraffic::default()
    });
    let text = line(3, 0.0, &wide).unwrap();
    assert!(text.len() <= LONGEST_LINE, "{}", text.len());
    let back: Line = serde_json::from_str(&text).unwrap();
    assert_eq!((back.point, back.trial.network.unwrap().received_bytes), (3, 5));
}

#[test]
fn after_a_full_disk_the_next_sample_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = write(dir.path(), 2);
    let path = dir.path().join(SAMPLES_FILE);
    // The file after half of a write.
    let mut text = fs::read_to_string(&path).unwrap();
    text.truncate(text.len() - 20);
    fs::write(&path, text).unwrap();
    log.torn = true;
    log.add(0, 2.0, &sample(2.0, 1e9)).unwrap();
    let mut run = run();
    complete(&mut run, dir.path());
    assert_eq!(run.measurements[0].trials.len(), 2, "the first and the third");
}
