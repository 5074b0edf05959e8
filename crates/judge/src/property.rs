//! Property tests: judging any run file neither panics nor prints a value that is no number.

use proofmark_model::{
    Ending, Host, Link, Measurement, Params, Probe, Ratio, Trial, key, testing, word,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::testing::*;

/// Texts with a meaning somewhere in a run file.
const WORDS: [&str; 13] = [
    "", "rand", "seq", "never", "end", "each", "memory", "network", "layered", "unknown", "none",
    "budget", "invalid",
];

/// A change of one part of a JSON text. A number becomes one of these, an array is cut to the first
/// one; null if the second is not finite.
type Change = (Index, u64, f64);

/// A strategy for up to `most` changes.
fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    let integer = prop_oneof![0..9_u64, Just(1 << 20), any::<u64>(), any::<u64>()];
    prop::collection::vec((any::<Index>(), integer, wild()), 0..most)
}

/// The value with parts of its JSON changed, without changes that make it unreadable.
fn mutated<T: Serialize + DeserializeOwned>(mut value: T, changes: &[Change]) -> T {
    let mut json = serde_json::to_value(&value).unwrap();
    let mut parts = Vec::new();
    list_parts(&json, "", &mut parts);
    for (at, integer, number) in changes {
        let at: &String = at.get(&parts);
        let Some(part) = json.pointer_mut(at) else { continue };
        let before = part.clone();
        *part = match part.take() {
            whole @ Value::Object(_) if *integer > 0 => whole,
            _ if !number.is_finite() => Value::Null,
            Value::Number(n) if n.is_f64() => (*number).into(),
            Value::Number(_) => (*integer).into(),
            Value::Bool(flag) => (!flag).into(),
            Value::String(_) => WORDS[*integer as usize % WORDS.len()].into(),
            Value::Array(all) => all.into_iter().take(*integer as usize).collect(),
            whole => whole,
        };
        match T::deserialize(&json) {
            Ok(read) => value = read,
            Err(_) => *json.pointer_mut(at).unwrap() = before,
        }
    }
    value
}

/// Adds the pointers to all parts.
fn list_parts(json: &Value, at: &str, parts: &mut Vec<String>) {
    parts.push(at.to_owned());
    match json {
        Value::Array(all) => {
            (0..).zip(all).for_each(|(i, v): (u32, _)| list_parts(v, &format!("{at}/{i}"), parts));
        }
        Value::Object(all) => {
            all.iter().for_each(|(k, v)| list_parts(v, &format!("{at}/{k}"), parts));
        }
        _ => {}
    }
}

/// A machine with a limited disk, its link, and this path of a network.
fn whole_host(path: &str) -> Host {
    let mut h = with_storage(|s| {
        let name = "PCIe 8.0 GT/s x4".to_owned();
        s.devices[0].link = Some(Link { name, bytes_per_s: 4e9, source: String::new() });
    });
    h.limits.cpu_quota =
        Probe::known(proofmark_model::CpuQuota { cpus: Some(1.5), ..Default::default() }, "");
    h.memory.total_bytes = Probe::known(8 << 30, "");
    h.network = host_with_network(path).network;
    let mut limit = io_limit("254:0");
    (limit.read_bytes_per_s, limit.writes_per_s) = (Some(2e9), Some(1e5));
    h.limits.io = Probe::known(vec![limit], "");
    with_declared(h, &[("disk.read_iops", 1e5), ("network.send", 1e5)])
}

/// A trial with every fact that any workload reports.
fn whole_trial() -> Trial {
    let first = |m: Measurement| m.trials.into_iter().next().unwrap();
    let mut t = Trial { moved: Some(1e8), ..first(rand_read(1)) };
    t.conditions = first(stream("triad", 1)).conditions;
    t.network = first(tcp(1, "peer")).network;
    t.network.as_mut().unwrap().datagrams = first(udp(1, "peer")).network.unwrap().datagrams;
    t.network.as_mut().unwrap().ways_s = Some([0.1, 0.1]);
    t.solution = first(linpack(5000, 1)).solution;
    t
}

/// Trials with common changes, and further ones of their own. JSON has no infinity and no NaN, so
/// their value, time, work and clock are set directly.
fn any_trials(common: &[Change], own: &[(Vec<Change>, [f64; 4])]) -> Vec<Trial> {
    let like = mutated(whole_trial(), common);
    let one = |(changes, [value, seconds, work, hz]): &(Vec<Change>, [f64; 4])| {
        let mut t = mutated(like.clone(), changes);
        (t.value, t.seconds, t.work) = (*value, *seconds, *work);
        t.conditions.clock_hz = t.conditions.clock_hz.map(|_| *hz);
        t
    };
    own.iter().map(one).collect()
}

fn no_nan(m: &Measurement) -> Result<(), TestCaseError> {
    if let Some(e) = m.efficiency {
        prop_assert!(e.is_finite());
    }
    if let Some(c) = &m.ceiling {
        prop_assert!(c.value.is_finite() && c.value > 0.0 && c.uncertainty.is_finite());
        prop_assert!(c.inputs.iter().all(|i| i.value.is_finite()));
    }
    let mut words = m.bottleneck.as_ref().map_or(String::new(), |l| l.evidence.clone());
    for r in &m.references {
        prop_assert!(r.efficiency.is_none_or(f64::is_finite));
    }
    let theirs = m.references.iter().flat_map(|r| &r.findings);
    for f in m.findings.iter().chain(theirs) {
        let class = crate::checks::find(&f.check).unwrap().class;
        prop_assert_eq!(class.bound(f.severity), f.severity, "{} is of class {:?}", f.check, class);
        words.push_str(&f.message);
        for (name, value) in &f.evidence {
            prop_assert!(!value.is_null(), "{}: {name} is null", f.check);
        }
    }
    prop_assert!(!words.contains("NaN") && !words.contains("inf "), "{words}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_trials_panic_or_yield_nan(
        common in changes(60),
        trials in prop::collection::vec((changes(12), prop::array::uniform4(wild())), 0..14),
        own in changes(12), tools in [changes(40), changes(40)], machine in changes(40),
        median in wild(), low in wild(), high in wild(),
        set in prop_oneof![Just(0_u64), Just(1), Just(1 << 20), any::<u64>()],
        threads in prop_oneof![Just(0_u64), Just(1), Just(2), Just(8), any::<u64>()],
        kind in 0..18_usize,
        [consistent, over_time] in any::<[bool; 2]>(),
        path in select(vec!["loopback", "peer"]),
    ) {
        let mut trials = any_trials(&common, &trials);
        let h = mutated(whole_host(path), &machine);
        let mut m = match kind {
            0 => flops(threads),
            1 => iops(threads),
            2 => mix(true, "arith17", "scalar"),
            3 => clock(median),
            4 => stream("triad", threads),
            5 => sweep("copy", threads, set),
            6 => blocks("rand_write", set),
            7 => latency(set, median),
            8 => rand_read(set),
            9 => disk("mixed", set, "none"),
            10 => disk("seq_write", set, "cold"),
            11 => disk("seq_read", set, "warm"),
            12 => tcp(threads, "loopback"),
            13 => tcp(threads, "peer"),
            14 => udp(threads, "peer"),
            15 => round_trips("udp", "block"),
            16 => linpack(set, threads),
            _ => fsync(threads),
        };
        // Most checks ignore trials whose values contradict each other.
        if consistent {
            for (t, usual) in trials.iter_mut().zip(m.trials.iter().cycle()) {
                (t.value, t.seconds, t.work) = (usual.value, usual.seconds, usual.work);
            }
        } else if let Some(s) = m.summary.as_mut() {
            proofmark_model::testing::restate(s, median, Some([low, high]));
        }
        let mut tool = tool_of(&flops(1), 1.0);
        for (name, value) in [("array_size", set), ("threads", threads), ("window", set)] {
            tool.params = tool.params.with_named(name, value);
        }
        tool.params = tool.params.with(key::STORES, word::TEMPORAL);
        m.references = tools.map(|changes| mutated(tool.clone(), &changes)).into();
        for (r, ci95) in m.references.iter_mut().zip([[low, high], [high, low]]) {
            (r.value, r.ratio) = (median, Ratio { median: ci95[0], ci95: Some(ci95) });
            r.evidence = trials.clone();
        }
        m.references[0].params = Params::default();
        m.references[1].evidence.reverse();
        m.trials.clear();
        m.ending = Ending::Budget;
        m.series = over_time.then(|| testing::series(testing::moment(0), 10));
        let summary = m.summary.take();
        m = Measurement { trials, summary, ..mutated(m, &own) };
        if let Some(latency) = m.latency.as_mut() {
            latency.mean = low;
        }
        let mut other = m.clone();
        other.params = other.params.with(key::THREADS, 1);
        let others = [other, flops(1), linpack(5000, threads), latency(1 << 30, low), latency(set, high), rand_read(32)];
        let once = judged(&h, m, &others);
        no_nan(&once)?;
        let twice = judged(&h, once.clone(), &others);
        // NaN in the trials is not equal to itself: compare the conclusions.
        prop_assert_eq!(once.findings, twice.findings);
        prop_assert_eq!(once.ceiling, twice.ceiling);
        prop_assert_eq!(once.efficiency, twice.efficiency);
        prop_assert_eq!(once.missing, twice.missing);
        for (once, twice) in once.references.iter().zip(&twice.references) {
            prop_assert_eq!(&once.findings, &twice.findings);
            prop_assert_eq!((once.efficiency, once.verdict), (twice.efficiency, twice.verdict));
        }
    }
}
