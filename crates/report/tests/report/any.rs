//! No format panics, whatever a run file holds.

use proofmark_model::{Run, Unit, Verdict};
use proofmark_report::view::View;
use proofmark_report::{ALL, Options, terminal};
use proptest::prelude::*;
use serde_json::Value;

use super::dump::dump;
use super::fixture;
use super::reading::MORE;
use super::reading::render;

/// Shortens a run by most of the parts that are alike.
fn short(mut run: Run) -> Run {
    let mut at = 0;
    run.measurements.retain(|m| {
        at += 1;
        m.series.is_some() || at % 4 == 0
    });
    run.measurements.iter_mut().for_each(|m| m.trials.truncate(20));
    run
}

/// Replaces every number by the next of these, if there is one: fractions by a value, whole numbers
/// by a count.
fn replace_numbers(
    json: &mut Value,
    values: &mut impl Iterator<Item = f64>,
    counts: &mut impl Iterator<Item = u64>,
) {
    match json {
        Value::Number(n) if n.is_f64() => *json = values.next().into(),
        Value::Number(n) => *n = counts.next().map_or_else(|| n.clone(), Into::into),
        Value::Array(items) => items.iter_mut().for_each(|v| replace_numbers(v, values, counts)),
        Value::Object(fields) => {
            // These hold less than any count.
            let fields = fields.iter_mut().filter(|(k, _)| !["cpus", "histogram"].contains(&&***k));
            fields.for_each(|(_, v)| replace_numbers(v, values, counts));
        }
        _ => {}
    }
}

/// A run with these numbers in turn in place of the fractions of its measurements and host.
fn with_numbers(run: Run, numbers: &[f64]) -> Run {
    let mut json = serde_json::to_value(run).unwrap();
    let (mut values, mut counts) = (numbers.iter().copied().cycle(), std::iter::empty());
    for part in ["host", "measurements"] {
        replace_numbers(&mut json[part], &mut values, &mut counts);
    }
    serde_json::from_value(json).unwrap()
}

#[test]
fn extreme_values_are_printed_without_nan() {
    let options = Options { width: 80, color: false };
    for value in [1e60, -1e60, 0.0, -5.0, 1e-60, 1e9] {
        for run in [fixture::published(), fixture::memory()] {
            let run = with_numbers(short(run), &[value]);
            for format in ALL {
                let text = format.render(&run, &options).unwrap();
                let text = text.split("<script>").next().unwrap();
                for word in ["NaN", "inf ", "infinity"] {
                    assert!(!text.contains(word), "{} with {value}: {word}", format.id);
                }
                let longest = text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
                assert!(format.id != "terminal" || longest <= 80, "{longest} columns with {value}");
            }
        }
    }
}

#[test]
fn extreme_values_stay_short() {
    let numbers = [1e300, -5.0, 0.25, -0.0, 1e-60, 3e9, 2.5e-7];
    let run = with_numbers(fixture::sample(), &numbers);
    insta::assert_snapshot!("extremes_view", dump(&View::from_run(&run).document));
    let csv = render("csv", &run);
    let lines: Vec<&str> = csv.lines().take(3).collect();
    insta::assert_snapshot!("extremes_csv", lines.join("\n"));
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
        terminal::brief(&run, &options, &MORE);
        prop_assert!(format.render_short(&run, &options, &MORE).is_ok() || format.id == "json");
        terminal::host(&run.host, &options);
    }
}
