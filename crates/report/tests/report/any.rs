//! Whatever a run file says, no format panics.

use proofmark_model::{Run, Unit, Verdict};
use proofmark_report::{ALL, Options, terminal};
use proptest::prelude::*;
use serde_json::Value;

use super::fixture;

/// Without most of what is like the rest.
fn short(mut run: Run) -> Run {
    let mut at = 0;
    run.measurements.retain(|m| {
        at += 1;
        m.series.is_some() || at % 4 == 0
    });
    run.measurements.iter_mut().for_each(|m| m.trials.truncate(20));
    run
}

/// Replaces every number by the next of these: one with a fraction by a value, others by a count.
fn replace_numbers(
    json: &mut Value,
    values: &mut impl Iterator<Item = f64>,
    counts: &mut impl Iterator<Item = u64>,
) {
    match json {
        Value::Number(n) if n.is_f64() => *json = values.next().into(),
        Value::Number(_) => *json = counts.next().into(),
        Value::Array(items) => items.iter_mut().for_each(|v| replace_numbers(v, values, counts)),
        Value::Object(fields) => {
            // These hold less than any count.
            let fields = fields.iter_mut().filter(|(k, _)| !["cpus", "histogram"].contains(&&***k));
            fields.for_each(|(_, v)| replace_numbers(v, values, counts));
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_format_panics(
        text in prop_oneof![Just(String::new()), any::<String>()],
        values in prop::collection::vec(any::<f64>(), 1..8),
        counts in prop::collection::vec(prop_oneof![0..70_u64, any::<u64>()], 1..8),
        made in 0..10_usize,
        // Hostile workloads have no axis and no roofline.
        (is_declared, other_units) in any::<(bool, bool)>(),
        width in 0_usize..200,
        color in any::<bool>(),
        format in 0..ALL.len(),
        unit in prop::sample::select(vec![Unit::Hertz, Unit::Second, Unit::BytePerSecond, Unit::BitPerSecond]),
    ) {
        let run = short(fixture::make(made));
        let workloads = run.workloads.clone();
        let mut run = fixture::hostile_of(run, &text);
        if is_declared {
            run.workloads = workloads;
        }
        let (mut values, mut counts) = (values.into_iter().cycle(), counts.into_iter().cycle());
        for (i, m) in run.measurements.iter_mut().enumerate() {
            let params = m.params.clone();
            let mut json = serde_json::to_value(&*m).unwrap();
            replace_numbers(&mut json, &mut values, &mut counts);
            *m = serde_json::from_value(json).unwrap();
            if i % 3 > 0 {
                m.params = params;
            }
            if other_units {
                m.unit = unit;
            }
            m.verdict = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid][i % 3];
        }
        run.plan.policy.trial_s = values.next().unwrap_or(0.0);
        run.plan.policy.target = values.next().unwrap_or(0.0);
        let options = Options { width, color };
        let format = ALL[format];
        let out = format.render(&run, &options);
        // JSON refuses what it could not read back; the others always tell.
        prop_assert!(out.is_ok() || format.id == "json", "{}: {:?}", format.id, out);
        if ["terminal", "markdown"].contains(&format.id) && text.is_empty() {
            let out = out.unwrap();
            prop_assert!(!out.contains("NaN") && !out.contains("inf "), "{}", out);
        }
        terminal::brief(&run, &options);
        terminal::host(&run.host, &options);
    }
}
