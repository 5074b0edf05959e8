use proofmark_model::Verdict;

use super::bars::CUT;
use super::*;
use crate::view::chart::Limit;
use crate::view::{Axis, Bar, BarChart, BarGroup, Kind, Mark, Panel, Rule, RuleKind, Series, Spot};

const ODD: [&[f64]; 6] = [&[], &[0.0], &[-5.0, 5.0], &[1e-300, 9e6], &[f64::NAN, 1.0], &[-9e6]];

fn mark(value: f64) -> Mark {
    Mark {
        value,
        text: "v".into(),
        about: "<b>".into(),
        interval: Some([value * 0.9, value * 1.1]),
        ceiling: Some(value * 1.2),
        fall: Some([value * 1.3, value * 0.7]),
        verdict: Verdict::Suspect,
    }
}

/// All that a chart may hold, each of these values a spot.
fn chart(values: &[f64], log: bool) -> Chart {
    let spot = |(i, value): (usize, &f64)| {
        let (x, label) = ("<1>".into(), "<8>".into());
        Spot { at: i as f64, x, mark: mark(*value), label, saturates: true }
    };
    let kinds = [Kind::Line, Kind::Samples, Kind::Level, Kind::Trend, Kind::Roof, Kind::Cross];
    let series = |kind| {
        let spots = values.iter().enumerate().map(spot).collect();
        let line = Series::through(&format!("<n>{kind:?}"), spots);
        let ends = if kind == Kind::Level { vec![[0.0, 1.0], [1.0, 1.0]] } else { line.line };
        Series { kind, line: ends, ..line }
    };
    let rule = |kind| Rule { at: 1.0, label: "<r>".into(), about: "<c>".into(), kind };
    let kinds_of_rules = [RuleKind::Reported, RuleKind::Measured, RuleKind::Change];
    let points = values.iter().enumerate().map(|(i, v)| [i as f64, *v]).collect();
    let x = Axis::linear("<u>", [values.len() as f64].into_iter());
    let all = kinds.map(series).to_vec();
    let below = vec![Panel { name: ["<p>".into(), "%".into()], points, about: "<a>".into() }];
    let rules = kinds_of_rules.map(rule).to_vec();
    Chart { rules, below, ..Chart::new("<script>".into(), x, ["</svg>", "x"], log, all) }
}

fn well_formed(svg: &str) {
    assert_eq!(svg.matches('<').count(), svg.matches('>').count());
    assert_eq!(svg.matches("</svg>").count(), 1);
    for raw in ["NaN", "inf", "<script", "<b>", "<c>", "<r>", "<8>", "<u>", "<n>", "\"#"] {
        assert!(!svg.contains(raw), "{raw}: {svg}");
    }
}

#[test]
fn any_value_can_be_drawn_and_text_is_escaped() {
    for values in ODD {
        for log in [false, true] {
            let drawn = figure(&chart(values, log), "c");
            well_formed(&drawn.svg);
            let signs = drawn.svg.lines().filter(|l| *l == "&lt;8&gt; !").count();
            assert_eq!(signs, values.len(), "a suspect value has its sign");
            assert_eq!(drawn.legend.len(), 5, "all but roofs and crosses, and changes");
        }
    }
}

#[test]
fn ceilings_are_one_line_where_the_series_joins_them() {
    let dashes = |ceiling: Vec<[f64; 2]>| {
        let mut chart = chart(&[5.0, 6.0], false);
        chart.rules.clear();
        chart.series.truncate(1);
        chart.series[0].ceiling = ceiling;
        figure(&chart, "c").svg.matches(" d\"").count()
    };
    assert_eq!(dashes(vec![]), 2, "one a value");
    assert_eq!(dashes(vec![[0.0, 5.0], [1.0, 6.0]]), 1);
}

#[test]
fn a_long_series_says_its_values_in_strips() {
    let values: Vec<f64> = (0..4096).map(|i| 90.0 + f64::from(i % 10)).collect();
    let of = |values: &[f64]| {
        let line = values.iter().enumerate().map(|(i, v)| [i as f64, *v]).collect();
        let samples = Series { kind: Kind::Samples, line, ..Series::default() };
        let x = Axis::linear("time, s", [values.len() as f64].into_iter());
        let chart = Chart::new(String::new(), x, ["GB/s", "time"], false, vec![samples]);
        figure(&chart, "c").svg
    };
    let (many, few) = (of(&values), of(&values[..50]));
    assert_eq!(many.matches("<title>").count(), 158);
    assert!(many.contains("<title>0 to 25.00 s: 90.00 to 99.00 GB/s, 26 samples</title>"));
    assert!(few.contains("<title>1.000 s: 91.00 GB/s</title>"));
    assert_eq!((many.matches("<circle").count(), few.matches("<circle").count()), (0, 50));
}

#[test]
fn close_labels_do_not_touch_and_each_rule_says_what_it_is() {
    let mut chart = chart(&[10.0; 590], false);
    let rule =
        |at| Rule {
            at, label: "× 0.50".into(), about: format!("at {at}"), kind: RuleKind::Change
        };
    chart.rules = [100.0, 102.0, 300.0].map(rule).to_vec();
    let svg = figure(&chart, "c").svg;
    assert_eq!(svg.matches("\n× 0.50\n</text>").count(), 2, "the second touches the first");
    for at in [100, 102, 300] {
        assert_eq!(svg.matches(&format!("<title>at {at}</title>")).count(), 2);
    }
}

#[test]
fn an_invalid_number_does_not_stretch_the_axis() {
    let drawn = |verdict, value| {
        let bar = |value, verdict| Bar {
            who: 1,
            name: "<b>".repeat(200),
            mark: Mark { verdict, ceiling: None, ..mark(value) },
            efficiency: None,
        };
        let all = vec![bar(5.0, Verdict::Valid), bar(value, verdict)];
        let ceiling = Some(Limit { value: 6.0, text: "6".into() });
        let group = BarGroup { name: "&".into(), bars: all, ceiling };
        let drawn = bars(&BarChart::new("t".into(), "<u>", vec![group], String::new()), "c");
        well_formed(&drawn.svg);
        drawn
    };
    let stretched = |figure: &Figure| figure.svg.lines().any(|l| l == "1\u{202f}000");
    let cut = drawn(Verdict::Invalid, 900.0);
    assert!(cut.key == CUT && !stretched(&cut) && cut.svg.contains("class=\"p\""));
    let whole = drawn(Verdict::Suspect, 900.0);
    assert!(whole.key.is_empty() && stretched(&whole));
    for value in [0.0, 4.0, -5.0, 1e-300, 9e6, -9e6] {
        drawn(Verdict::Invalid, value);
    }
    well_formed(&bars(&BarChart::new(String::new(), "", vec![], String::new()), "c").svg);
}
