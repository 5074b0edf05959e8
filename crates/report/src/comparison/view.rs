//! The document of a comparison.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use proofmark_model::{
    ComparedPoint, ComparedSubsystem, Comparison, Decision, Difference, RunsSpan, Side, Verdict,
};

use super::points::Points;
use super::prices;
use super::verdict::{self, Tally};
use super::words::{margin, title};
use crate::view::merge_messages::{Kind, merged};
use crate::view::{
    Audience, Blocks, Columns, Document, Item, Rich, Section, Style, Table, Text, Tone, clean,
    counted, enclosed, grouped, joined,
};

/// Maximum of causes that are listed.
const CAUSES: usize = 4;
/// The heading of what the two runs do not share.
pub(super) const DIFFERENCES: &str = "Differences between the two runs";
/// Maximum of results or workloads that a line names before it counts.
const NAMED: usize = 4;

/// Makes the document. A terminal gets the results without a shown difference only with `all`.
pub fn document(c: &Comparison, all: bool) -> Document {
    let (tally, points) = (Tally::count(c), Points::sort(c, all));
    let mut out = Blocks::default();
    out.add("answer", answer(c, &tally, &points, all));
    let is_part = !all && !points.first.is_empty();
    out.add("differing", differing(c, &points, is_part));
    out.add("undecided", undecided(c, &points));
    let audience = if all { Audience::Everyone } else { Audience::Page };
    out.add_for(audience, "alike", without_difference(&points, is_part));
    if !all && !points.alike.is_empty() {
        let what = if is_part { "other result" } else { "result" };
        let count = counted(points.alike_results as u64, what);
        let text = format!("No difference is shown in {count}; --all lists them.");
        out.add_for(Audience::Terminal, "alike", text);
    }
    let gone = together(c, ComparedPoint::gone);
    let left_out = together(c, ComparedPoint::is_left_out);
    if let Some(sentence) = verdict::not_measured(c).filter(|_| !all) {
        let text = format!("{sentence}; --all lists them.");
        out.add_for(Audience::Terminal, "not-measured", text);
    }
    let others = together(c, ComparedPoint::not_comparable);
    let few = verdict::too_few_advice(c).map(str::to_owned);
    let short = if all { Audience::Everyone } else { Audience::Document };
    for (id, title, sentences, audience) in [
        ("gone", "Gone", gone, Audience::Everyone),
        ("not-measured", "Not measured", left_out, short),
        (
            "not-comparable",
            "Not comparable",
            others.into_iter().chain(few).collect(),
            Audience::Everyone,
        ),
    ] {
        let items = sentences.into_iter().map(Item::from).collect::<Vec<Item>>();
        out.add_for(audience, id, Section::new(id, title, |out| out.add(id, items)));
    }
    out.add(
        "differences",
        Section::new("differences", DIFFERENCES, |out| {
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
    let [name_a, name_b] = names(c);
    let title = format!("{name_b} against {name_a}");
    Document { title, facts: Vec::new(), blocks: out.0 }
}

/// The names of A and B for a title: their labels where both have one and these differ, else their
/// paths.
fn names(c: &Comparison) -> [String; 2] {
    match (&c.a.label, &c.b.label) {
        (Some(a), Some(b)) if a != b => [clean(a), clean(b)],
        _ => [clean(&c.a.name), clean(&c.b.name)],
    }
}

/// The verdict, the causes, the sides and the main results.
fn answer(c: &Comparison, tally: &Tally, points: &Points, all: bool) -> Section {
    let mark = match c.decision() {
        Decision::Missed => Verdict::Invalid,
        Decision::Undecided => Verdict::Coarse,
        Decision::Met => Verdict::Valid,
    };
    let sentence = Rich::toned(Tone::Strong, clean(&c.sentence));
    let more = verdict::sentences(c, tally);
    let notes = verdict::notes(c, tally).into_iter().map(Item::from).collect::<Vec<Item>>();
    let most_causes = if all { usize::MAX } else { CAUSES };
    let sides = [side(&c.a), side(&c.b)];
    let section = Section::new("answer", "Verdict", |out| {
        out.add("verdict", Text::new(Style::Verdict(mark.id()), [sentence]));
        out.add("more", more);
        out.add_for(Audience::Page, "counts", Text::new(Style::Plain, [tally.counts()]));
        for (audience, most) in
            [(Audience::Document, usize::MAX), (Audience::Terminal, most_causes)]
        {
            let causes = causes(c, most).into_iter().map(Item::from).collect::<Vec<Item>>();
            out.add_for(audience, "causes", Section::plain("Causes found", "causes", causes));
        }
        out.add("sides", sides.to_vec());
        let main = Section::plain("Main results", "first", points.table(&points.first));
        out.add("first", main);
        out.add("signs", signs(c));
        out.add("prices", prices::table(std::slice::from_ref(c)));
        out.add("subsystems", subsystems(c));
        out.add("notes", Section::plain("Notes", "notes", notes));
    });
    Section { unseen: true, ..section }
}

/// Returns the meaning of the signs before figures; empty where all are valid.
fn signs(c: &Comparison) -> Vec<String> {
    let verdicts = || c.points.iter().flat_map(|p| [&p.a, &p.b]).flatten().map(|n| n.verdict);
    let signs = [
        (Verdict::Suspect, "! suspect"),
        (Verdict::Coarse, "~ coarse"),
        (Verdict::NoInterval, "~ no interval"),
    ];
    let there = signs.into_iter().filter(|(verdict, _)| verdicts().any(|v| v == *verdict));
    let there = joined(there.map(|(_, sign)| sign), ", ");
    let sentence = enclosed("Signs before figures: ", &there, ".");
    Some(sentence).filter(|s| !s.is_empty()).into_iter().collect()
}

/// The results that differ. With `is_part`, the main ones have a table of their own.
fn differing(c: &Comparison, points: &Points, is_part: bool) -> Section {
    let key =
        "Whiskers: 95 % interval of the ratio. Line: 1. Grey: the margin. The axis is logarithmic.";
    let has_rows = !points.differing.is_empty();
    let title =
        if is_part && has_rows { "Other results that differ" } else { "Results that differ" };
    Section::new("differing", title, |out| {
        if has_rows {
            out.add_for(Audience::Page, "key", Text::new(Style::Quiet, [key]));
        }
        let reasons = together(c, |p| p.change().differs());
        add_table(out, points.table(&points.differing), reasons);
    })
}

fn undecided(c: &Comparison, points: &Points) -> Section {
    Section::new("undecided", "Undecided results", |out| {
        out.add("key", verdict::undecided_advice(c).unwrap_or_default().to_owned());
        add_table(out, points.table(&points.undecided), together(c, ComparedPoint::undecided));
    })
}

fn without_difference(points: &Points, is_part: bool) -> Section {
    let title = match is_part {
        true => "Other results without a shown difference",
        false => "Results without a shown difference",
    };
    Section::new("alike", title, |out| add_table(out, points.table(&points.alike), Vec::new()))
}

/// Adds a table of results; on the page with the reasons of groups of them.
fn add_table(out: &mut Blocks, table: Table, reasons: Vec<String>) {
    out.add("points", table);
    let reasons = reasons.into_iter().map(Item::from).collect::<Vec<Item>>();
    out.add_for(Audience::Page, "reasons", Section::plain("Reasons", "reasons", reasons));
}

/// The user's name for the machine or the run; empty without one.
pub(super) fn label(side: &Side) -> String {
    side.label.as_deref().map(clean).unwrap_or_default()
}

/// Returns `A old; label ...; machine ...; started ...; program ...; profile ...; price ...`.
fn side(side: &Side) -> String {
    let letter = side.letter;
    let started = match side.group {
        None => format!("started {}", when(side)),
        Some(_) => when(side),
    };
    let (name, machine, profile) = (clean(&side.name), clean(&side.machine), clean(&side.profile));
    let version = clean(&side.version);
    let label = enclosed("; label ", &label(side), "");
    format!(
        "{letter} {name}{label}; machine {machine}; {started}; program proofmark {version}; \
         profile {profile}{}",
        enclosed("; price ", &prices::price(side).unwrap_or_default(), "")
    )
}

/// Returns the start of a run, or of several `5 runs, ... to ...`.
pub(super) fn when(side: &Side) -> String {
    match &side.group {
        None => side.started.display(),
        Some(RunsSpan { runs, first, last }) => {
            format!("{}, {} to {}", counted(*runs, "run"), first.display(), last.display())
        }
    }
}

/// Groups results whose reasons differ in figures only, each with that reason and the ranges of its
/// figures, in the order of the first results.
pub(super) fn alike<'a>(
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

/// Returns at most so many causes of differences; similar causes are merged.
pub(super) fn causes(c: &Comparison, most: usize) -> Vec<String> {
    let mut all = alike(c.points.iter().filter(|p| p.change().differs()));
    all.sort_by_key(|(_, points)| Reverse(points.len()));
    let rest: Vec<&ComparedPoint> =
        all.iter().skip(most).flat_map(|(_, points)| points).copied().collect();
    let named = all.iter().take(most).map(|(reason, points)| {
        let word = points[0].change().as_str();
        format!("{word} in {}: {reason}", counted(points.len() as u64, "result"))
    });
    let more = (!rest.is_empty()).then(|| {
        let results = counted(rest.len() as u64, "more result");
        format!("other causes in {results}; --all lists them")
    });
    named.chain(more).collect()
}

/// The counts of each subsystem. Its results are of one thread and of all CPUs alike, so that no
/// median of them is one of the machine.
fn subsystems(c: &Comparison) -> Table {
    type Row<'a> = &'a ComparedSubsystem;
    Columns::new("Results by subsystem, of one thread and of all CPUs alike.")
        .column("subsystem", |s: &Row| s.subsystem.as_str())
        .keys()
        .number("slower", |s| s.slower.to_string())
        .number("faster", |s| s.faster.to_string())
        .number("no difference", |s| s.no_difference_shown.to_string())
        .number("undecided", |s| s.undecided.to_string())
        .spare(1)
        .number("not comparable", |s| s.not_comparable.to_string())
        .spare(2)
        .when(c.subsystems.iter().any(|s| s.not_measured > 0), |table| {
            table.number("not measured", |s| s.not_measured.to_string()).spare(2)
        })
        .number("gone", |s| s.gone.to_string())
        .spare(2)
        .number("smallest detectable slowdown", |s| {
            let delivered = s.delivered_resolution.and_then(margin);
            let delivered = enclosed("; delivered ", &delivered.unwrap_or_default(), "");
            let headline = s.resolution.and_then(margin);
            headline.map(|all| all + &delivered).ok_or("no result was judged")
        })
        .spare(1)
        .number("minimum margin", |s| margin(s.margin).ok_or("not a number"))
        .spare(3)
        .rows(&c.subsystems)
}

/// Returns a sentence for each group of similar reasons, with the results that have them.
pub(super) fn together(c: &Comparison, keep: impl Fn(&ComparedPoint) -> bool) -> Vec<String> {
    let groups = alike(c.points.iter().filter(|p| keep(p))).into_iter();
    groups.map(|(reason, points)| format!("{}: {reason}", places(&points))).collect()
}

/// Returns `FP peak, 2 CPUs; FP peak, 4 threads`; for many results the workloads with their counts.
fn places(points: &[&ComparedPoint]) -> String {
    if points.len() <= NAMED {
        return points.iter().map(|p| title(p)).collect::<Vec<_>>().join("; ");
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

/// The facts that differ, with their values in both runs.
pub(super) fn differences(c: &Comparison) -> Table {
    Columns::new("")
        .column("what", |d: &&Difference| clean(&d.what))
        .keys()
        .column(&c.a.letter.to_string(), |d| clean(&d.a))
        .column(&c.b.letter.to_string(), |d| clean(&d.b))
        .rows(&c.differences)
}

/// The method of a comparison.
const METHOD: [&str; 6] = [
    "Ratio. B / A is the ratio of the two figures shown. Its 95 % interval comes from order \
     statistics of all pairs of a round of A and a round of B (Hodges and Lehmann; Mann and \
     Whitney). Results without rounds use trials instead. These statistics assume no shape of the \
     noise. Where the ratio is outside the interval, both are shown. If the two lead to different \
     conclusions, the result is undecided.",
    "Figures. For results with rounds, two figures are compared. The headline, attainable or \
     typical, leaves out the time that other processes or the hypervisor took: it shows the \
     machine. Delivered includes that time: where it differs and the headline does not, the run's \
     share of the machine changed. A result counts by both: it is slower if one of the two is, else \
     undecided if one is.",
    "Variation between runs. Where it is known, from several runs of each side or from the history, \
     each run is one value, and the interval is Student's, for all figures together: of equal \
     machines at most one comparison in 20 shows a difference by chance. A level that lasts for an \
     hour is not made more certain by more runs in that hour, unless runs of A and B alternate. \
     The margin then is at least 2 %. For two single runs it is also at least the half-widths of \
     both intervals and the CPU time that others took.",
    "Margin. Two runs of one machine differ by more than their trials show. A difference is shown \
     only where the whole interval is beyond the margin. Without that variation, it is the largest \
     of five values. \
     First: twice the target, or four times on a virtual machine except for the CPU, at most a \
     third; a target below 2 % counts as 2 %. Second: three robust standard deviations of the \
     ratios in the subsystem, about the median of the same workload and number of threads. It is \
     at most a fifth, or a third for a result that was disturbed in both runs. Third: the \
     half-widths of both figures' intervals, at most a third; of delivered that of the fast side, \
     since the slow side allows for a stall that no round had. Fourth: the CPU time that other \
     processes or the hypervisor took from both runs, except for a figure that leaves it out. \
     Where that is more than a third and no difference shows, the result is not compared. Fifth: \
     the largest difference that two runs of one virtual machine are known to have, 14 % \
     (CPU), 42 % (complete solves, memory, disk) or 68 % (network); a quarter of that without a \
     hypervisor. --margin sets another margin. A margin of a third reaches from a ratio of 0.667 to one of 1.50.",
    "Few trials. Too few trials give no interval. With 3 or more on each side, all trials of B \
     must be beyond all trials of A, and beyond the margin. With fewer, no difference is shown. \
     The smallest detectable slowdown is that of the median result, for each of the figures.",
    "Verdicts. Suspect results are compared, and their findings are reported as the cause. Invalid \
     results are not compared. The first sentence is about the main results that are neither. It \
     gives the range of the ratios B / A that differ: their whole intervals are beyond the margin. \
     Within the margin no difference is shown, however wide it is. B is perhaps slower where the \
     whole interval is on one side of 1, but not beyond the margin. A cause is named only if its \
     size can explain the difference.",
];
