//! Charts as SVG that scales with the page and follows its colours.
//!
//! Every series has a colour and a shape of its own, and a verdict other than valid
//! a sign, so that no meaning hangs on colour. The colours begin with those of Okabe and
//! Ito ("Color Universal Design", 2008); the others keep any two apart for readers without one
//! of the three cones, by the matrices of Machado, Oliveira and Fernandes (2009).

mod axis;
mod bars;
mod canvas;
mod columns;
mod frame;
mod heat_map;
mod latency;
mod lines;
mod noise;
mod references;
mod roofline;
mod shape;
mod timeline;

use proofmark_model::Verdict;
use serde::Serialize;

use crate::view::{
    BarChart, ComparisonChart, HeatMap, LatencyChart, LineChart, NoiseChart, Picture, Roofline,
    Timeline,
};

/// What the gap in a bar is.
const CUT: &str = "A bar with a gap is invalid and extends beyond the axis.";

/// A chart on the page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Chart {
    /// The whole `svg` element.
    pub svg: String,
    /// Title, for the caption.
    pub title: String,
    /// Lines' signs and names; empty where the chart names its own parts.
    pub legend: Vec<Key>,
    /// What its signs are; empty where the page says it of all charts.
    pub key: String,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
}

/// One line of a legend.
#[derive(Debug, Clone, Serialize)]
pub struct Key {
    /// The sign as an `svg` element.
    pub sign: String,
    /// The line's name.
    pub name: String,
}

/// Values over an axis.
pub fn lines(chart: &LineChart, id: &str) -> Chart {
    // A single line needs no key.
    let keyed = chart.series.iter().filter(|_| chart.series.len() > 1);
    let legend = legend(keyed.map(|s| s.name.clone()));
    let names = (id, &*chart.title, &*chart.description);
    let picture = Chart::new(&lines::draw(chart), frame::SIZE, names);
    Chart { legend, left_out: chart.left_out.clone(), ..picture }
}

/// Bars against their ceilings.
pub fn bars(chart: &BarChart, id: &str) -> Chart {
    let names = (id, &*chart.title, &*chart.description);
    let picture = Chart::new(&bars::draw(chart), bars::size(chart), names);
    Chart { left_out: chart.left_out.clone(), ..picture }
}

/// Our numbers, those of other tools and the ceilings.
pub fn references(chart: &ComparisonChart, id: &str) -> Chart {
    let names = (id, &*chart.title, &*chart.description);
    let picture = Chart::new(&references::draw(chart), references::size(chart), names);
    let key = if references::cut(chart) { CUT.to_owned() } else { String::new() };
    Chart { key, left_out: chart.left_out.clone(), ..picture }
}

/// Times of single operations.
pub fn latency(chart: &LatencyChart, id: &str) -> Chart {
    let names = (id, &*chart.title, &*chart.description);
    let picture = Chart::new(&latency::draw(chart), frame::SIZE, names);
    let legend = legend(chart.curves.iter().map(|c| c.name.clone()));
    Chart { legend, key: chart.key.clone(), left_out: chart.left_out.clone(), ..picture }
}

/// CPU peaks and memory levels.
pub fn roofline(chart: &Roofline, id: &str) -> Chart {
    let names = (id, &*chart.title, &*chart.description);
    let picture = Chart::new(&roofline::draw(chart), roofline::SIZE, names);
    let legend = legend(chart.slopes.iter().map(|s| format!("{}: {}", s.name, s.text)));
    Chart { legend, ..picture }
}

/// A value over time.
pub fn timeline(chart: &Timeline, id: &str) -> Chart {
    let names = (id, &*chart.title, &*chart.description);
    let picture = Chart::new(&timeline::draw(chart), timeline::size(chart), names);
    Chart { legend: timeline::legend(chart), left_out: chart.left_out.clone(), ..picture }
}

/// Round trips between CPUs.
pub fn heat_map(chart: &HeatMap, id: &str) -> Chart {
    let names = (id, &*chart.title, &*chart.description);
    let picture = Chart::new(&heat_map::draw(chart), heat_map::size(chart), names);
    Chart { key: "Frames: SMT siblings.".to_owned(), ..picture }
}

/// Columns, for the first screen.
pub fn columns(chart: &Picture, id: &str) -> Chart {
    let names = (id, &*chart.title, &*chart.description);
    Chart::new(&columns::draw(chart), columns::SIZE, names)
}

pub use columns::strip;
pub use noise::Layout;

/// A run's noise over time.
pub fn noise(chart: &NoiseChart, id: &str, layout: Layout) -> Chart {
    let names = (id, &*chart.title, &*chart.description);
    Chart::new(&noise::draw(chart, layout), noise::size(chart, layout), names)
}

impl Chart {
    /// What was drawn, in an `svg` element that is named and described for those who do not see it.
    fn new(
        inside: &str,
        (width, height): (u32, u32),
        (id, title, description): (&str, &str, &str),
    ) -> Self {
        let svg = format!(
            "<svg viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
             aria-labelledby=\"{id}-t\" aria-describedby=\"{id}-d\"><title id=\"{id}-t\">{}</title>\
             <desc id=\"{id}-d\">{}</desc>{inside}</svg>",
            escape(title),
            escape(description)
        );
        Self { svg, title: title.to_owned(), ..Self::default() }
    }
}

/// Lines of these names, in the order of their signs.
fn legend(names: impl Iterator<Item = String>) -> Vec<Key> {
    names.enumerate().map(|(i, name)| Key { sign: shape::sign(i), name }).collect()
}

/// Text inside an element.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The sign of a value that is not valid.
fn doubt(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "",
        Verdict::Suspect => "!",
        Verdict::Invalid => "✗",
    }
}

/// A name that fits above a bar.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Bar, ComparisonBar, ComparisonGroup, Limit, Mark, Rule, Series, Spot, Tick};

    fn mark(value: f64) -> Mark {
        Mark {
            value,
            text: value.to_string(),
            about: "1 thread: <b>".into(),
            interval: Some([value * 0.9, value * 1.1]),
            ceiling: Some(value * 1.2),
            fall: Some([value * 1.3, value * 0.7]),
            verdict: Verdict::Suspect,
        }
    }

    fn chart(values: &[f64], log: bool) -> LineChart {
        LineChart {
            title: "<script>alert(1)</script>".into(),
            description: "a & b".into(),
            unit: "</svg>".into(),
            log,
            joined: log,
            axis: "<u>".into(),
            ticks: vec![
                Tick { at: 0.25, label: "<1>".into() },
                Tick { at: 0.75, label: "2".into() },
            ],
            rules: [false, true]
                .map(|measured| Rule { at: 0.5, label: "<i>".into(), measured })
                .to_vec(),
            key: String::new(),
            series: values
                .iter()
                .map(|v| {
                    let spot = |at, value| Spot {
                        at,
                        x: "<1>".into(),
                        mark: mark(value),
                        saturates: at > 0.5,
                    };
                    Series { name: "<b>".into(), spots: vec![spot(0.25, *v), spot(0.75, v * 2.0)] }
                })
                .collect(),
            left_out: String::new(),
        }
    }

    #[test]
    fn text_is_escaped_and_colours_are_variables() {
        let svg = lines(&chart(&[1.0, 5.0], false), "c").svg;
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        assert!(!svg.contains("<script"));
        assert_eq!(svg.matches("</svg>").count(), 1);
        assert!(!svg.contains("\"#"), "a fixed colour is left");
        assert!(svg.contains("var(--s1)"));
        assert!(svg.lines().any(|l| l.trim() == "!"), "a suspect value has its sign");
        assert_eq!(svg.matches("<title>1 thread: &lt;b&gt;</title>").count(), 4, "one a mark");
    }

    #[test]
    fn ceilings_are_one_line_where_the_chart_joins_them() {
        let dashes = |joined, spots: usize| {
            let mut chart = LineChart { joined, ..chart(&[5.0], false) };
            chart.series[0].spots.truncate(spots);
            let with = lines(&chart, "c").svg.matches("<polyline").count();
            chart.series[0].spots.iter_mut().for_each(|s| s.mark.ceiling = None);
            with - lines(&chart, "c").svg.matches("<polyline").count()
        };
        assert!(dashes(true, 2) > 2 * dashes(false, 2), "from one value to the next");
        assert!(
            dashes(true, 1) > 0 && dashes(true, 1) == dashes(false, 1),
            "one value has its own"
        );
    }

    #[test]
    fn an_invalid_number_does_not_stretch_the_axis() {
        let bar = |value, verdict| Bar {
            name: "<b>".into(),
            mark: Mark { verdict, ceiling: None, ..mark(value) },
            efficiency: None,
        };
        let drawn = |verdict, value| {
            let bars = [bar(5.0, Verdict::Valid), bar(value, verdict)];
            let bars = bars.into_iter().enumerate().map(|(who, bar)| ComparisonBar { who, bar });
            let ceiling = Some(Limit { value: 6.0, text: "6".into() });
            let point = ComparisonGroup { name: "&".into(), bars: bars.collect(), ceiling };
            let chart = ComparisonChart {
                title: String::new(),
                description: String::new(),
                unit: "<u>".into(),
                points: vec![point],
                left_out: String::new(),
            };
            references(&chart, "c")
        };
        let cut = drawn(Verdict::Invalid, 900.0);
        assert_eq!(cut.key, CUT);
        assert!(cut.svg.lines().all(|l| l.trim() != "1000") && cut.svg.contains("var(--page)"));
        assert!(drawn(Verdict::Suspect, 900.0).svg.lines().any(|l| l.trim() == "1000"));
        assert_eq!(drawn(Verdict::Suspect, 900.0).key, "");
        assert_eq!(drawn(Verdict::Invalid, 4.0).key, "");
        for value in [0.0, -5.0, 1e-300, 9e6, -9e6] {
            let svg = drawn(Verdict::Invalid, value).svg;
            assert!(!svg.contains("NaN") && !svg.contains("<b>") && !svg.contains("\"#"));
        }
    }

    #[test]
    fn any_value_on_the_axis_can_be_drawn() {
        for value in [0.0, -5.0, 1e-300, 9e6, -9e6] {
            for log in [false, true] {
                let svg = lines(&chart(&[value], log), "c").svg;
                assert!(!svg.contains("NaN"));
            }
            let bar = Bar { name: "x".repeat(500), mark: mark(value), efficiency: None };
            let chart = BarChart {
                title: String::new(),
                description: String::new(),
                unit: "op/s".into(),
                bars: vec![bar],
                left_out: String::new(),
            };
            let svg = bars(&chart, "c").svg;
            assert!(!svg.contains("NaN"));
        }
        let empty = ComparisonChart {
            title: String::new(),
            description: String::new(),
            unit: String::new(),
            points: vec![],
            left_out: String::new(),
        };
        let empty = [
            references(&empty, "c"),
            lines(&chart(&[], false), "c"),
            lines(&chart(&[], true), "c"),
        ];
        assert!(empty.iter().all(|c| !c.svg.contains("NaN") && !c.svg.contains("inf")));
    }
}
