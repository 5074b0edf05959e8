//! `proofmark report --format` for other programs: from a run's folder to a file.

use serde_json::Value;

use super::{Folder, captured_of};

#[test]
fn a_run_s_folder_becomes_each_of_them() {
    let folder = Folder::new();
    let fio = captured_of("fio", ".json");
    folder.run(&["import", "--out", "run", fio.to_str().unwrap()]);
    let report = |format: &str| {
        let printed = folder.prints(&["report", "run", "--format", format]);
        assert_eq!(folder.prints(&["report", "run", "--format", format, "--out", format]), "");
        assert_eq!(folder.text(format), printed);
        printed
    };
    let lines = report("jsonl");
    let lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let headline = lines.iter().find(|l| l["metric"] == "headline").unwrap();
    assert!(headline["value"].as_f64().unwrap() > 0.0, "{headline}");
    assert!(headline["tool"].as_str().unwrap().starts_with("fio"), "{headline}");
    let metrics = report("openmetrics");
    assert!(metrics.ends_with("\n# EOF\n"));
    assert!(metrics.contains("imported=\"fio"), "{metrics}");
    let values = metrics.lines().filter_map(|l| l.rsplit_once(' ')?.1.parse::<f64>().ok());
    assert!(values.into_iter().any(|v| Some(v) == headline["value"].as_f64()), "{metrics}");
    assert!(!metrics.contains("proofmark_run_complete"), "an import neither ends nor is stopped");
    let junit = report("junit");
    assert!(junit.starts_with("<?xml ") && junit.ends_with("</testsuites>\n"));
    assert!(junit.contains(headline["workload"].as_str().unwrap()));
}
