//! A subsystem without threads of proofmark: a fake device behind a helper process, here a script.
//! It is measured, judged, reported and compared like any other, and its wrong counts are found.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use proofmark_model::{Ending, Measurement, Run, Severity, Verdict};
use proofmark_testing::output;

use crate::lab::{proofmark, run_json, shared};
use crate::{has, names};

/// A device of nearly a million operations per second by its own clock, which no other work
/// disturbs. The request is for `$n` operations; `$done` were done.
const DEVICE: &str = r#"#!/bin/sh
PATH=/usr/bin:/bin
echo '{"device":"Fake accelerator","peak_per_s":1000000}'
total=0; trial=0
while read -r line; do
  case $line in
    *count*) echo "{\"total\":$total}"; continue ;;
  esac
  n=${line##*:}; n=${n%?}
  FAULT
  wait=$((n * 105 / 100))
  sleep "$((wait / 1000000)).$(printf %06d $((wait % 1000000)))"
  trial=$((trial + 1))
  took=$((n * (1010 + trial % 5)))
  total=$((total + done))
  echo "{\"operations\":$n,\"seconds\":${took}${unit}}"
done
"#;

/// Returns the helper, with a line of shell before its work. `done` and `unit` set the operations
/// that it reports and its unit of time.
fn helper(dir: &Path, fault: &str) -> PathBuf {
    let path = dir.join("helper");
    fs::write(&path, DEVICE.replace("FAULT", &format!("done=$n; unit=e-9; {fault}"))).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn measuring(helper: &Path) -> Command {
    let mut command = proofmark();
    command.env("PROOFMARK_DEVICE", helper).args(["run", "device.ops", "--trials", "8"]);
    command
}

fn measured(fault: &str) -> (Measurement, Option<i32>) {
    let dir = tempfile::tempdir().unwrap();
    let (mut run, code) = run_json(&mut measuring(&helper(dir.path(), fault)));
    (run.measurements.swap_remove(0), code)
}

fn saved(dir: &Path) -> Run {
    proofmark_model::read_run(&fs::read_to_string(dir.join("run.json")).unwrap()).unwrap()
}

#[test]
fn a_device_is_measured_judged_reported_and_compared() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let helper = helper(dir.path(), "");
    let outs = ["a", "b"].map(|name| dir.path().join(name));
    let [first, _] = outs.each_ref().map(|out| {
        let mut command = measuring(&helper);
        let ran = output(command.arg("--out").arg(out));
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success(), "{text}{}", String::from_utf8_lossy(&ran.stderr));
        text
    });
    let run = saved(&outs[0]);
    let m = &run.measurements[0];
    assert!(m.verdict.is_undoubted(), "{:?}: {:?}", m.verdict, names(m));
    assert_eq!(m.ceiling.as_ref().map(|c| (&*c.id, c.value)), Some(("device.peak", 1e6)));
    assert!(m.efficiency.is_some_and(|e| (0.98..1.0).contains(&e)), "{:?}", m.efficiency);
    assert!(m.precision.is_some(), "{:?}", m.summary);
    assert!(m.verification.as_ref().is_some_and(|v| v.kind == "device total"));
    // A device without a counter is no fault.
    let conditions = &m.trials[0].conditions;
    assert_eq!((conditions.clock_hz, conditions.steal_s, conditions.own_cpu_s), (None, None, None));
    assert!(!has(m, "unwatched", Severity::Note), "{:?}", names(m));

    assert!(first.contains("Device operations"), "{first}");
    for format in ["html", "csv", "markdown", "junit"] {
        let report = output(proofmark().args(["report", "--format", format]).arg(&outs[0]));
        let text = String::from_utf8_lossy(&report.stdout);
        assert!(text.contains("device.ops"), "{format}: {text}");
    }
    let compared = output(proofmark().arg("compare").args(&outs));
    let text = String::from_utf8_lossy(&compared.stdout);
    assert!(text.contains("the one compared result") && text.contains("device"), "{text}");
}

#[test]
fn a_device_that_claims_more_than_it_did_is_invalid() {
    let _turn = shared();
    let (m, code) = measured("done=$((n / 2))");
    assert_eq!((m.verdict, code), (Verdict::Invalid, Some(3)), "{:?}", names(&m));
    assert!(has(&m, "unverified", Severity::Invalid), "{:?}", names(&m));
}

#[test]
fn a_device_whose_time_is_impossible_is_invalid() {
    let _turn = shared();
    let (m, _) = measured("unit=0e-9");
    assert!(has(&m, "device_time", Severity::Invalid), "ten times as long: {:?}", names(&m));
    let (m, _) = measured("unit=e-10");
    assert!(has(&m, "above_ceiling", Severity::Invalid), "a tenth: {:?}", names(&m));
}

#[test]
fn a_device_process_that_dies_or_hangs_costs_one_measurement() {
    let _turn = shared();
    for (fault, words) in [
        ("[ $total -lt 200000 ] || exit 7", "exited with status 7 before it answered"),
        ("[ $total -lt 200000 ] || sleep 100", "gave no answer within 2 s"),
        ("echo nonsense", "sent an invalid answer: nonsense"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = measuring(&helper(dir.path(), fault));
        let (run, _) = run_json(command.args(["cpu.clock", "--threads", "1"]));
        let of = |id: &str| run.measurements.iter().find(|m| m.workload == id).unwrap();
        let (device, healthy) = (of("device.ops"), of("cpu.clock"));
        let Ending::Refused { reason } = &device.ending else { panic!("{:?}", device.ending) };
        assert!(reason.contains(words), "{reason}");
        assert_eq!(healthy.trials.len(), 8, "{:?}", healthy.ending);
    }
}
