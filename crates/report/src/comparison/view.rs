//! What a comparison says, before it is laid out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use proofmark_model::{
    Better, Comparability, ComparedPoint, ComparedSubsystem, Comparison, Difference, Side, Verdict,
    format_factor,
};

use super::verdict::{self, Tally};
use super::words::{delivered, factor, interval, margin, moved, outcome, point, values};
use crate::view::alike::{Kind, merged};
use crate::view::{
    Audience, Blocks, CellPicture, Columns, Document, Entry, Item, Rich, Section, Style, Table,
    Text, Tone, Whisker, clean, counted, grouped, joined,
};

/// Causes that are listed.
const CAUSES: usize = 4;
/// Points of one workload, or workloads, that a line names before it counts.
const NAMED: usize = 4;

/// A ratio at a place of the axis: least and greatest distance from 1.
const LEAST: f64 = 1.25;
const MOST: f64 = 8.0;

/// What is said of a comparison; a terminal gets the results without a shown difference on demand.
pub fn document(c: &Comparison, all: bool) -> Document {
    let (tally, points) = (Tally::count(c), Points::sort(c));
    let mut out = Blocks::default();
    out.add("answer", answer(c, &tally, &points));
    let key =
        "Whiskers: 95 % interval of the ratio. Line: 1. Grey: the margin. The axis is logarithmic.";
    out.add(
        "differing",
        section("differing", "Results that differ", key, points.table(&points.differing)),
    );
    let key = "B / A is the ratio of the figures shown. It lies outside the interval of the ratios of their \
        rounds or trials, whose median is shown as pairs.";
    out.add(
        "undecided",
        section("undecided", "Undecided results", key, points.table(&points.undecided)),
    );
    let audience = if all { Audience::Everyone } else { Audience::Page };
    let title = "Results without a shown difference";
    out.add_for(audience, "alike", section("alike", title, "", points.table(&points.alike)));
    if !all && !points.alike.is_empty() {
        let count = counted(points.alike.len() as u64, "result");
        let text = format!("No difference is shown in {count}; --all lists them.");
        out.add_for(Audience::Terminal, "alike", text);
    }
    let gone = together(c, ComparedPoint::gone);
    let others = together(c, ComparedPoint::not_comparable);
    for (id, title, sentences) in
        [("gone", "Gone", gone), ("not-comparable", "Not comparable", others)]
    {
        let items = sentences.into_iter().map(Item::from).collect::<Vec<Item>>();
        out.add(id, Section::new(id, title, |out| out.add(id, items)));
    }
    let title = "Differences between the two runs";
    out.add(
        "differences",
        Section::new("differences", title, |out| {
            out.add("differences", differences(c));
        }),
    );
    let method = METHOD.map(str::to_owned).to_vec();
    out.add_for(
        Audience::Page,
        "method",
        Section::new("method", "Method", |out| {
            out.add("method", method);
        }),
    );
    let title = format!("{} against {}", clean(&c.b.name), clean(&c.a.name));
    Document { title, facts: Vec::new(), blocks: out.0 }
}

/// The verdict, the causes, the sides and the main results.
fn answer(c: &Comparison, tally: &Tally, points: &Points) -> Section {
    let worst = if tally.slower + tally.gone > 0 { Verdict::Invalid } else { Verdict::Valid };
    let verdict = joined(
        [verdict::unequal(c, 'B'), Some(verdict::sentences(c, tally, 'B'))].into_iter().flatten(),
        " ",
    );
    let verdict = Rich::toned(Tone::Strong, verdict);
    let causes = causes(c).into_iter().map(Item::from).collect::<Vec<Item>>();
    let sides = [side("A", &c.a), side("B", &c.b)];
    let section = Section::new("answer", "Verdict", |out| {
        out.add("verdict", Text::new(Style::Verdict(worst.id()), [verdict]));
        out.add_for(Audience::Page, "counts", Text::new(Style::Plain, [tally.counts()]));
        out.add("causes", Section::plain("Causes found", "causes", causes));
        out.add("sides", sides.to_vec());
        let main = Section::plain("Main results", "first", points.table(&points.first));
        out.add("first", main);
        out.add("subsystems", subsystems(c));
    });
    Section { unseen: true, ..section }
}

fn section(anchor: &str, title: &str, key: &str, table: Table) -> Section {
    let has_rows = !table.rows.is_empty();
    Section::new(anchor, title, |out| {
        if has_rows {
            out.add_for(Audience::Page, "key", Text::new(Style::Quiet, [key]));
        }
        out.add("points", table);
    })
}

/// The results, each where it is shown.
struct Points {
    /// What is on the first screen of A.
    first: Vec<Line>,
    /// Slower points, then faster ones, farthest from 1 first.
    differing: Vec<Line>,
    /// Points without a difference that is shown.
    alike: Vec<Line>,
    /// Points whose figures and rounds contradict each other.
    undecided: Vec<Line>,
    /// The axis of all drawings goes from 1 / r to r.
    reach: f64,
}

impl Points {
    fn sort(c: &Comparison) -> Self {
        let mut differing: Vec<&ComparedPoint> =
            c.points.iter().filter(|p| p.change().differs()).collect();
        let far = |p: &ComparedPoint| {
            let figures = p.headline.iter().chain(moved(p));
            figures.map(|f| f.value.ln().abs()).fold(0.0, f64::max)
        };
        let faster = |p: &ComparedPoint| p.change() == Comparability::Faster;
        differing.sort_by(|p, q| faster(p).cmp(&faster(q)).then(far(q).total_cmp(&far(p))));
        let mut first: Vec<&ComparedPoint> = c.points.iter().filter(|p| p.row.is_some()).collect();
        first.sort_by_key(|p| p.row.as_ref().map(|row| row.place));
        let alike = c.points.iter().filter(|p| p.change() == Comparability::NoDifferenceShown);
        let undecided = c.points.iter().filter(|p| p.undecided());
        let mut all = Self {
            first: first.into_iter().filter_map(Line::from_row).collect(),
            differing: differing.into_iter().map(Line::from_point).collect(),
            alike: alike.map(Line::from_point).collect(),
            undecided: undecided.map(Line::from_point).collect(),
            reach: LEAST,
        };
        let lines = all.differing.iter().chain(&all.alike).chain(&all.undecided);
        let ends = lines
            .filter_map(|l| l.drawn)
            .flat_map(|[_, low, high, margin]| [low.recip(), high, (1.0 - margin).recip()]);
        all.reach = ends.filter(|r| r.is_finite()).fold(LEAST, f64::max).min(MOST);
        all
    }

    fn table(&self, lines: &[Line]) -> Table {
        Line::table(lines, self.reach)
    }
}

/// One point as text.
#[derive(Debug, Default)]
struct Line {
    workload: String,
    /// Its parameters; empty for an only point.
    name: String,
    /// `lower is better`, or empty.
    direction: &'static str,
    /// The figure that the ratio is of with its label, and its name where it is not A's headline.
    a: Option<String>,
    b: Option<String>,
    /// B / A.
    ratio: Option<String>,
    interval: Option<String>,
    margin: Option<String>,
    /// What A and B delivered, where that is beside another figure and differs.
    delivered_a: Option<String>,
    delivered_b: Option<String>,
    /// B / A of these.
    delivered: Option<String>,
    /// Sign and word.
    outcome: &'static str,
    /// The verdict whose colour repeats it.
    color: Option<Verdict>,
    reason: String,
    /// Ratio, ends of its interval and margin as numbers, for a drawing.
    drawn: Option<[f64; 4]>,
}

impl Line {
    /// A point on A's first screen, under the title that it has there.
    fn from_row(p: &ComparedPoint) -> Option<Self> {
        let workload = clean(&p.row.as_ref()?.title);
        Some(Self { workload, name: String::new(), direction: "", ..Self::from_point(p) })
    }

    fn from_point(p: &ComparedPoint) -> Self {
        let [a, b] = values(p);
        let [delivered_a, delivered_b] = delivered(p);
        let headline = p.headline.as_ref();
        let drawn = headline.map(|h| {
            let r = &h.ratio;
            let [low, high] = r.ci95.unwrap_or([h.value; 2]);
            [h.value, low, high, h.margin]
        });
        Self {
            workload: clean(&p.workload),
            name: clean(&p.name),
            direction: if p.better == Better::Lower { "lower is better" } else { "" },
            a,
            b,
            ratio: headline.map(factor),
            interval: headline.and_then(|h| interval(&h.ratio)),
            margin: headline.and_then(|h| margin(h.margin)),
            delivered_a,
            delivered_b,
            delivered: moved(p).map(factor),
            outcome: outcome(p),
            color: match p.change() {
                _ if p.fails() => Some(Verdict::Invalid),
                Comparability::Faster => Some(Verdict::Valid),
                _ => None,
            },
            reason: clean(&p.reason),
            drawn: drawn.filter(|all| all.iter().all(|v| v.is_finite())),
        }
    }

    /// Points as a table that a narrow page can take columns from.
    fn table(lines: &[Self], reach: f64) -> Table {
        let configuration = |l: &Self| joined([&*l.name, l.direction], "; ");
        // Rows of the first screen are titles, which say it all.
        let named = lines.iter().any(|l| !configuration(l).is_empty());
        let axis = format!("{} to {}", format_factor(reach.recip()), format_factor(reach));
        Columns::new("")
            .column("result", |l: &&Self| l.workload.clone())
            .when(named, |table| table.column("configuration", move |l| configuration(l)))
            .keys()
            .number("A", |l| l.a.clone())
            .spare(2)
            .number("B", |l| l.b.clone())
            .spare(2)
            .number("B / A", |l| l.ratio.clone())
            .number("95 %", |l| l.interval.clone())
            .spare(1)
            .number("margin", |l| l.margin.clone())
            .spare(3)
            .when(lines.iter().any(|l| l.delivered.is_some()), |table| {
                table
                    .number("delivered A", |l| l.delivered_a.clone())
                    .spare(3)
                    .number("delivered B", |l| l.delivered_b.clone())
                    .spare(3)
                    .number("delivered B / A", |l| l.delivered.clone())
            })
            .column(&axis, move |l| {
                Entry::drawn(l.whisker(reach).map(CellPicture::Whisker)).coloured(l.color)
            })
            .only_for(Audience::Page)
            .column("verdict", |l| Entry::from(l.outcome).coloured(l.color))
            .column("reason", |l| l.reason.clone())
            .only_for(Audience::Page)
            .rows(lines)
    }

    /// The ratio on an axis from 1 / reach to reach.
    fn whisker(&self, reach: f64) -> Option<Whisker> {
        let [ratio, low, high, margin] = self.drawn?;
        let place = |r: f64| {
            let share = (r.ln() / reach.ln()).clamp(-1.0, 1.0);
            if share.is_finite() { share } else { 0.0 }
        };
        let parts = [
            Some(format!("ratio {}", format_factor(ratio))),
            self.interval.as_ref().map(|i| format!("95 % interval {}", i.replace('–', " to "))),
            self.margin.as_ref().map(|m| format!("margin {m}")),
        ];
        Some(Whisker {
            label: joined(parts.into_iter().flatten(), ", "),
            at: place(ratio),
            ends: [low, high].map(place),
            margin: place((1.0 - margin).recip()),
            beyond: i8::from(ratio > reach) - i8::from(ratio < reach.recip()),
        })
    }
}

/// `A old; machine ...; started ...; program ...; profile ...`
fn side(letter: &str, side: &Side) -> String {
    let started = side.started.display();
    let (name, machine, profile) = (clean(&side.name), clean(&side.machine), clean(&side.profile));
    let version = clean(&side.version);
    format!(
        "{letter} {name}; machine {machine}; started {started}; program proofmark {version}; \
         profile {profile}"
    )
}

/// Points of alike reasons, which differ in figures only, with that reason and the ranges of its
/// figures, in the order of the first points.
fn alike<'a>(
    points: impl Iterator<Item = &'a ComparedPoint>,
) -> Vec<(String, Vec<&'a ComparedPoint>)> {
    let by_kind = points.map(|p| ((p.change(), Kind::of_message(&clean(&p.reason))), p));
    let groups = grouped(by_kind).into_iter();
    let with_reason = |(_, points): (_, Vec<&'a ComparedPoint>)| {
        let reasons: Vec<String> = points.iter().map(|p| clean(&p.reason)).collect();
        (merged(reasons.iter().map(String::as_str)), points)
    };
    groups.map(with_reason).collect()
}

/// The causes of what differs, alike ones as one.
fn causes(c: &Comparison) -> Vec<String> {
    let mut all = alike(c.points.iter().filter(|p| p.change().differs()));
    all.sort_by_key(|(_, points)| Reverse(points.len()));
    let rest: usize = all.iter().skip(CAUSES).map(|(_, points)| points.len()).sum();
    let named = all.iter().take(CAUSES).map(|(reason, points)| {
        let word = points[0].change().as_str();
        format!("{word} in {}: {reason}", counted(points.len() as u64, "result"))
    });
    let more =
        (rest > 0).then(|| format!("other causes in {}", counted(rest as u64, "more result")));
    named.chain(more).collect()
}

fn subsystems(c: &Comparison) -> Table {
    type Row<'a> = &'a ComparedSubsystem;
    Columns::new("Speed of B relative to A, by subsystem: the median over its results.")
        .column("subsystem", |s: &Row| s.subsystem.as_str())
        .keys()
        .number("B / A", |s| {
            let ratio = s.speed.as_ref().map(|r| format_factor(r.median));
            ratio.ok_or("no result of it has a ratio")
        })
        .number("95 % interval", |s| {
            s.speed.as_ref().and_then(interval).ok_or("an interval needs at least 6 results")
        })
        .spare(1)
        .number("slower", |s| s.slower.to_string())
        .number("faster", |s| s.faster.to_string())
        .number("no difference", |s| s.no_difference_shown.to_string())
        .number("undecided", |s| s.undecided.to_string())
        .spare(1)
        .number("not comparable", |s| s.not_comparable.to_string())
        .spare(2)
        .number("gone", |s| s.gone.to_string())
        .spare(2)
        .number("smallest detectable slowdown", |s| {
            s.resolution.and_then(margin).ok_or("no result was judged")
        })
        .spare(1)
        .number("minimum margin", |s| margin(s.margin).ok_or("not a number"))
        .spare(3)
        .rows(&c.subsystems)
}

/// Alike reasons in one sentence, with the points that they are about.
pub(super) fn together(c: &Comparison, keep: impl Fn(&ComparedPoint) -> bool) -> Vec<String> {
    let groups = alike(c.points.iter().filter(|p| keep(p))).into_iter();
    groups.map(|(reason, points)| format!("{}: {reason}", places(&points))).collect()
}

/// `cpu.flops 4 threads`; of many the workloads with their counts.
fn places(points: &[&ComparedPoint]) -> String {
    if points.len() <= NAMED {
        return points.iter().map(|p| point(p)).collect::<Vec<_>>().join("; ");
    }
    let mut workloads: BTreeMap<String, usize> = BTreeMap::new();
    for p in points {
        *workloads.entry(clean(&p.workload)).or_default() += 1;
    }
    let named = workloads.iter().take(2 * NAMED).map(|(workload, n)| format!("{workload} ({n})"));
    let more = workloads.len().saturating_sub(2 * NAMED);
    let more = (more > 0).then(|| format!("{} more", counted(more as u64, "workload")));
    let list = named.chain(more).collect::<Vec<_>>().join(", ");
    format!("{}, {list}", counted(points.len() as u64, "result"))
}

fn differences(c: &Comparison) -> Table {
    Columns::new("")
        .column("what", |d: &&Difference| clean(&d.what))
        .keys()
        .column("A", |d| clean(&d.a))
        .column("B", |d| clean(&d.b))
        .rows(&c.differences)
}

/// How it was made.
const METHOD: [&str; 5] = [
    "Ratio. B / A is the ratio of the two figures shown. Its 95 % interval comes from order statistics \
         of all pairs of a round of A and a round of B; of what is not cut into rounds, of a trial of \
         each (Hodges and Lehmann; Mann and Whitney). These assume no shape of the noise. Where the \
         interval does not hold the ratio, the result is undecided: the figures and the median over \
         the pairs say different things, and both are shown.",
    "Figures. Of what is cut into rounds two figures are compared. The headline, attainable or \
         typical, leaves out the time that others took: it shows the machine. Delivered holds that \
         time: where it differs and the headline does not, the run's share of the machine changed. A \
         result is slower if one of the two is.",
    "Margin. Two runs of one machine differ by more than their trials show. A difference is shown \
         only where the whole interval is beyond the margin. The margin is the largest of four values. \
         First: twice the target, or four times on a virtual machine except for the CPU, at most a third; a target below \
         2 % counts as 2 %. Second: three robust standard deviations of the ratios in the subsystem, about the median of \
         the same workload and number of threads. It is at most a fifth, or a third for a result that \
         was disturbed in both runs. Third: the half-widths of both figures' intervals, at most a third. \
         Fourth: the CPU time that others took from both runs, except for a figure that leaves it \
         out. Where that is more than a third and no difference shows, the result is not compared.",
    "Few trials. Too few trials give no interval. With 3 or more on each side, all trials of B must \
         be beyond all trials of A, and beyond the margin. With fewer, no difference is shown. The \
         smallest detectable slowdown is that of the median result.",
    "Verdicts. Suspect results are compared, and their findings are reported as the cause. Invalid \
         results are not compared.",
];
