use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::Program;
use crate::testing::{
    block_device, measurement, moment, network, run, series, spec, storage, trial,
};
use crate::{
    Bottleneck, Ceiling, Change, Ending, FactId, Finding, Input, NetworkPath, Params, Provenance,
    Ratio, Reference, Severity, Unit, key, read_run, schema,
};

/// A run with every part whose text is free, and with parts whose words are few.
fn full() -> Run {
    let mut spec = spec("disk.rand_read", Unit::BytePerSecond);
    spec.detail = "Reads blocks of a file, as the file system allows.".into();
    let all = [measurement(&spec, Params::default().with(key::ORDER, "rand"), &[1.0; 8])];
    let mut run = run(all.to_vec());
    run.workloads.insert(spec.id.to_string(), spec);
    let m = &mut run.measurements[0];
    m.findings.push(Finding::new("steal", Severity::Note, "web-3 lost 3 %", "ask web-3"));
    m.missing.insert("latency".into(), "web-3 does not count".into());
    m.bottleneck = Some(Bottleneck::new("ports", "as web-3 says"));
    m.ending = Ending::Crashed { signal: Some("SIGILL".into()), detail: "web-3".into() };
    m.ceiling = Some(Ceiling {
        id: "disk_link".into(),
        value: 1.0,
        unit: "B/s".into(),
        formula: "link".into(),
        inputs: vec![Input {
            name: "link".into(),
            value: 1.0,
            unit: "B/s".into(),
            source: Provenance::Reported,
            note: "by web-3".into(),
        }],
        uncertainty: 0.0,
    });
    let mut over_time = series(moment(0), 8);
    over_time.changes.push(Change {
        at_s: 1.0,
        at: moment(1000),
        ratio: 0.5,
        cause: Some("web-3".into()),
    });
    m.series = Some(over_time);
    m.references.push(Reference {
        tool: "fio".into(),
        version: "3.33".into(),
        command: "fio --filename=/srv/web-3/x".into(),
        value: 1.0,
        trials: vec![1.0],
        paired: vec![trial(1.0, 0.1)],
        first: vec![crate::First::Tool],
        printed: crate::Printed::Mean,
        ratio: Ratio { median: 1.0, ci95: None },
        summary: None,
        counts: String::new(),
        params: Params::default(),
        evidence: Vec::new(),
        efficiency: None,
        findings: Vec::new(),
        paired_findings: Vec::new(),
        verdict: crate::Verdict::Suspect,
    });
    run.host.storage = Probe::known(storage(vec![block_device("vda", "254:0")]), "/web-3");
    run.host.network = Probe::known(network(NetworkPath::Peer), "web-3");
    run.host.limits.cpu_quota = Probe::missing("/sys/fs/cgroup/user.slice/user-1000.slice: gone");
    run
}

fn anonymous(run: &Run, host: &str, others: &[&str]) -> Run {
    let mut run = run.clone();
    run.host.os.host_name = Probe::known(host.to_owned(), "/proc/sys/kernel/hostname");
    run.anonymous(&others.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap()
}

/// The texts of a run by their place.
fn texts(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((at.to_owned(), text.clone())),
        Value::Array(all) => all.iter().for_each(|v| texts(v, at, found)),
        Value::Object(all) => {
            all.iter().for_each(|(key, v)| texts(v, &format!("{at}/{key}"), found))
        }
        _ => {}
    }
}

fn texts_of(run: &Run) -> Vec<(String, String)> {
    let mut found = Vec::new();
    texts(&serde_json::to_value(run).unwrap(), "", &mut found);
    found
}

/// Collects all words that a schema allows in a field.
fn words_of_schema(schema: &Value, words: &mut BTreeSet<String>) {
    match schema {
        Value::Array(all) => all.iter().for_each(|v| words_of_schema(v, words)),
        Value::Object(all) => {
            for (key, value) in all {
                let mut found = Vec::new();
                if ["const", "enum"].contains(&key.as_str()) {
                    texts(value, "", &mut found);
                }
                words.extend(found.into_iter().map(|(_, text)| text));
                words_of_schema(value, words);
            }
        }
        _ => {}
    }
}

#[test]
fn whatever_a_machine_is_called_its_run_is_kept() {
    let run = full();
    let mut words = BTreeSet::new();
    words_of_schema(schema().as_value(), &mut words);
    assert!(words.contains("valid") && words.contains("peer") && words.contains("higher"));
    words.extend(texts_of(&run).into_iter().map(|(_, text)| text));
    let before = texts_of(&anonymous(&run, "?", &[]));
    for word in words.iter().map(String::as_str).chain(["web-3"]) {
        let bare = anonymous(&run, word, &[word]);
        read_run(&serde_json::to_string(&bare).unwrap()).unwrap_or_else(|e| panic!("{word}: {e}"));
        let after = texts_of(&bare);
        assert_eq!(after.len(), before.len(), "{word}");
        for ((at, old), (_, new)) in before.iter().zip(&after).filter(|(old, new)| old != new) {
            let is_free = at.split('/').any(|key| FREE.contains(&key)) && !at.ends_with(SOURCE);
            assert!(is_free || NAMES.contains(&at.as_str()), "{word}: {at}: {old} became {new}");
        }
    }
}

/// Fields that hold nothing but a name.
const NAMES: [&str; 4] = [
    "/host/storage/value/path",
    "/host/storage/value/mount_point",
    "/host/network/value/address",
    "/host/network/value/server/name",
];
/// The source of an input, unlike other sources: one of a few words.
const SOURCE: &str = "/inputs/source";

#[test]
fn no_name_is_left_and_no_word_is_torn() {
    let mut run = full();
    let used = |name: &str| Program {
        name: name.into(),
        cpu_s: 1.0,
        of_one_cpu: 0.1,
        io_bytes_per_s: 0.0,
    };
    run.programs = vec![used("payroll")];
    let text = "web-3 used 12 % in /home/alice/x; web-31 nothing; web-3.corp.example more. web-3.";
    let advice = "ask alice (CPU use during the run: payroll 10.0 %)";
    run.measurements[0].findings = vec![Finding::new("other_cpu", Severity::Note, text, advice)];
    let bare = anonymous(&run, "web-3", &["/home/alice", "alice"]);
    let found = &bare.measurements[0].findings[0];
    assert_eq!(found.message, "host used 12 % in name/x; web-31 nothing; host more. host.");
    assert_eq!(found.advice, "ask name (CPU use during the run: program 1 10.0 %)");
    for (at, text) in texts_of(&bare) {
        let text = text.replace("web-31", "");
        for gone in ["payroll", "web-3", "alice", "user-1000", "192.0.2.2", "/work"] {
            assert!(!text.contains(gone), "{at}: {text}");
        }
    }
    assert_eq!(bare.measurements[0].trials, run.measurements[0].trials);
    assert_eq!(bare.workloads, run.workloads);
}

#[test]
fn a_name_of_a_domain_is_also_that_of_its_first_label() {
    let mut run = full();
    run.measurements[0].findings[0].message = "web-3.corp.example, web-3, far.example".into();
    let bare = anonymous(&run, "web-3.corp.example", &[]);
    assert_eq!(bare.measurements[0].findings[0].message, "host, host, server");
}

#[test]
fn sentences_of_the_program_stay_true() {
    let text = "the root file system allows 3 us; ask db";
    let mut run = full();
    run.measurements[0].findings[0].message = text.into();
    for (name, expected) in [
        ("root", text),
        ("file", text),
        ("us", text),
        ("a", text),
        ("db", "the root file system allows 3 us; ask name"),
    ] {
        let bare = anonymous(&run, "?", &[name]);
        assert_eq!(bare.measurements[0].findings[0].message, expected, "{name}");
    }
}

#[test]
fn the_kernel_command_line_keeps_what_changes_speed() {
    let mut run = full();
    let line = "BOOT_IMAGE=/boot/vmlinuz-web-3 root=/dev/mapper/payroll ro quiet alice \
                ip=192.0.2.7::192.0.2.1 init=/opt/payroll systemd.hostname=web-3 \"x y\" \
                isolcpus=managed_irq,1-3 mitigations=off";
    run.host.settings.insert(kernel::SETTING.into(), Probe::known(line.into(), "/proc/cmdline"));
    let bare = anonymous(&run, "web-3", &["alice"]);
    let expected = "BOOT_IMAGE=... root=... ro quiet name ip=... init=... systemd.hostname=... \
                    isolcpus=managed_irq,1-3 mitigations=off";
    assert_eq!(bare.host.settings[kernel::SETTING].get().unwrap(), expected);
}

#[test]
fn environment_variables_keep_what_changes_speed() {
    let mut run = full();
    let set = "LD_PRELOAD=payroll of web-3.so:x=y.so OMP_PLACES=web-3 OPENBLAS_CORETYPE=Haswell";
    let setting = FactId::Environment.as_str();
    run.host.settings.insert(setting.into(), Probe::known(set.into(), "/proc/self/environ"));
    let bare = anonymous(&run, "web-3", &["alice"]);
    let expected = "LD_PRELOAD=... OMP_PLACES=host OPENBLAS_CORETYPE=Haswell";
    assert_eq!(bare.host.settings[setting].get().unwrap(), expected);
    run.host.settings.insert(setting.into(), Probe::known("none".into(), "/proc/self/environ"));
    assert_eq!(anonymous(&run, "?", &[]).host.settings[setting].get().unwrap(), "none");
}
