//! Numbers and results of a comparison as text.

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedPoint, ComparedSubsystem, Comparison,
    FigureKind, Leaning, Number, Toward, Verdict, format_factor,
};

use crate::view::{Scale, clean, enclosed, grouped, joined, percent, verdict_mark};

/// Returns `0.498–0.512`; `None` without an interval.
pub fn interval(ci95: Option<[f64; 2]>) -> Option<String> {
    let [low, high] = ci95?;
    Some(format!("{}–{}", format_factor(low), format_factor(high)))
}

/// Returns `4.0 %`.
pub fn margin(share: f64) -> Option<String> {
    Some(format!("{} %", percent(share)?))
}

/// Returns `FP peak, 2 CPUs, avx2`.
pub fn title(p: &ComparedPoint) -> String {
    clean(&p.title)
}

/// Gathers the results to show, of one result of A in all comparisons: the main ones, or all where no
/// run has main ones. They are in the order of the first screen. The first of a result is one on all
/// CPUs of each, if there is one: its title is right for all.
pub fn main_rows(
    all: &[Comparison],
    is_shown: impl Fn(&ComparedPoint) -> bool,
) -> Vec<Vec<&ComparedPoint>> {
    let declared = all.iter().flat_map(|c| &c.points).any(|p| p.is_main());
    let is_shown = &|p: &ComparedPoint| is_shown(p) && (p.is_main() || !declared);
    let shown = all.iter().flat_map(|c| {
        // A comparison may have the result twice: with as many threads, and on all CPUs of each.
        let twice = move |p: &ComparedPoint| {
            let is_other = |q: &ComparedPoint| q.all_cpus.is_none() && is_same_result(p, q);
            p.all_cpus.is_some() && c.points.iter().any(|q| is_shown(q) && is_other(q))
        };
        let here = c.points.iter().filter(|p| is_shown(p));
        here.map(move |p| ((&p.workload, &p.params, p.is_main(), twice(p)), p))
    });
    let mut rows: Vec<_> = grouped(shown).into_iter().map(|(_, same)| same).collect();
    rows.iter_mut().for_each(|same| same.sort_by_key(|p| p.all_cpus.is_none()));
    rows.sort_by_key(|same| same[0].main_row);
    rows
}

/// Returns true for one result of A.
fn is_same_result(p: &ComparedPoint, q: &ComparedPoint) -> bool {
    p.workload == q.workload && p.params == q.params && p.is_main() == q.is_main()
}

/// Returns the same result of A in a comparison with another run, of all CPUs if that is.
pub fn same_result<'a>(p: &ComparedPoint, c: &'a Comparison) -> Option<&'a ComparedPoint> {
    let same = || c.points.iter().filter(|q| is_same_result(p, q));
    same().find(|q| q.all_cpus.is_some() == p.all_cpus.is_some()).or_else(|| same().next())
}

/// Returns the compared figure of both sides with its label and the sign of the result's verdict, in
/// one scale; their headlines without a ratio. `None` where a side has none. An invalid figure is
/// not shown.
pub fn values(p: &ComparedPoint) -> [Option<String>; 2] {
    both(p, p.figure, Scale::with_label)
}

/// Returns the same with the label of the first only, for two columns of one row. Where the second
/// is far smaller, it has a scale and label of its own, on which it keeps its digits.
pub fn columns(p: &ComparedPoint, figure: Option<FigureKind>) -> [Option<String>; 2] {
    let [a, _] = both(p, figure, Scale::with_label);
    let values = [&p.a, &p.b].map(|n| value(n, figure));
    if values[0].zip(values[1]).is_some_and(|(a, b)| b / a < FAR) {
        let alone = ComparedPoint { a: None, ..p.clone() };
        return [a, both(&alone, figure, Scale::with_label)[1].clone()];
    }
    let [_, b] = both(p, figure, if a.is_some() { Scale::number } else { Scale::with_label });
    [a, b]
}

/// Ratio below which two values of a row have different scales.
const FAR: f64 = 0.1;

fn value(n: &Option<Number>, figure: Option<FigureKind>) -> Option<f64> {
    let n = n.as_ref()?;
    n.summary.figure(figure.unwrap_or(n.summary.headline)).value
}

/// Puts the sign of a verdict before a figure, unless the result is valid.
pub fn signed(verdict: Verdict, figure: String) -> String {
    let sign = verdict_mark(verdict).split(' ').next().filter(|_| verdict != Verdict::Valid);
    joined([sign.unwrap_or_default(), &figure], " ")
}

fn both(
    p: &ComparedPoint,
    figure: Option<FigureKind>,
    text: fn(&Scale, f64) -> Option<String>,
) -> [Option<String>; 2] {
    let values = [value(&p.a, figure), value(&p.b, figure)];
    let scale = scale(p, values.iter().flatten().copied());
    let shown = |n: &Option<Number>, value: Option<f64>| {
        let verdict = n.as_ref()?.verdict;
        match verdict {
            Verdict::Invalid => Some(verdict_mark(verdict).to_owned()),
            _ => Some(signed(verdict, text(&scale, value?)?)),
        }
    };
    [shown(&p.a, values[0]), shown(&p.b, values[1])]
}

/// Returns the scale of a result's values.
fn scale(p: &ComparedPoint, values: impl Iterator<Item = f64>) -> Scale {
    Scale::for_result(values, p.unit, (p.subsystem, p.random), &p.params)
}

/// Returns the name of the compared figure, where it is not the one that A's first screen lists.
pub fn other_figure(p: &ComparedPoint) -> Option<&'static str> {
    let (figure, a) = (p.figure?, p.a.as_ref()?);
    (figure != a.summary.headline).then(|| figure.as_str())
}

/// Returns the sign and words of a figure's outcome, for a column of differences.
pub fn outcome(better: Better, figure: Option<&ComparedFigure>) -> String {
    match figure {
        Some(figure) => signed_words(figure.outcome, figure.leaning(better)),
        None => Comparability::NotComparable.as_str().to_owned(),
    }
}

/// Returns the sign and words of an outcome. A whole interval on one side of 1 has words of its own:
/// B is lower, but not beyond the margin.
pub fn signed_words(outcome: Comparability, leaning: Option<Leaning>) -> String {
    let words = match leaning {
        None => outcome.as_str(),
        Some(Leaning::WithinMargin(_)) => "within margin",
        Some(Leaning::Perhaps(Toward::Slower)) => "perhaps slower",
        Some(Leaning::Perhaps(Toward::Faster)) => "perhaps faster",
        Some(Leaning::Alike | Leaning::Possible | Leaning::TooFew) => "none shown",
    };
    format!("{}{words}", sign(outcome, leaning))
}

/// Returns the sign of an outcome with a space; of none that is shown, that of what is perhaps so.
pub fn sign(outcome: Comparability, leaning: Option<Leaning>) -> &'static str {
    match (outcome, leaning) {
        (Comparability::Slower, _) => "▼ ",
        (Comparability::Faster, _) => "▲ ",
        (Comparability::Undecided, _) => "? ",
        (_, Some(Leaning::Perhaps(Toward::Faster))) => "△ ",
        (_, Some(Leaning::Perhaps(Toward::Slower))) => "▽ ",
        _ => "",
    }
}

/// Returns why no difference is shown where the ratio or its interval suggests one; empty where the
/// interval contains 1 and is within the margin.
pub fn why_none_shown(better: Better, figure: &ComparedFigure) -> String {
    let leaning = figure.leaning(better).filter(|l| *l != Leaning::Alike);
    leaning.map(|l| l.why(better, figure.margin())).unwrap_or_default()
}

/// Returns the instruction sets of A and of the run `b`, where each is the best of its machine, and the
/// numbers of CPUs, where all of each are compared; empty where both are alike.
pub fn each_own(p: &ComparedPoint, b: char) -> String {
    let sets = p.best_of_each.as_ref().map_or_else(String::new, |[of_a, of_b]| {
        let [of_a, of_b] = [of_a, of_b].map(|set| clean(set));
        format!("best instruction set of each: {of_a} in A, {of_b} in {b}")
    });
    let cpus = p.all_cpus.map_or_else(String::new, |[of_a, of_b]| {
        format!("all CPUs of each: {of_a} in A, {of_b} in {b}")
    });
    joined([sets, cpus], "; ")
}

/// Returns the colour of an outcome; `None` where no difference is shown.
pub fn color(outcome: Comparability) -> Option<Verdict> {
    match outcome {
        Comparability::Slower => Some(Verdict::Invalid),
        Comparability::Faster => Some(Verdict::Valid),
        _ => None,
    }
}

/// Returns the delivered figure, where it differs, or where a machine delivers less than its
/// headline.
pub fn delivered(p: &ComparedPoint) -> Option<&ComparedFigure> {
    let less = |n: &Option<Number>| {
        let n = n.as_ref().zip(p.figure);
        n.is_some_and(|(n, kind)| n.summary.small_delivered_share(kind, p.better).is_some())
    };
    let shown = |d: &&ComparedFigure| is_telling(d) || less(&p.a) || less(&p.b);
    p.delivered.as_ref().filter(shown)
}

/// Returns the delivered figure, where it differs or is not decided, and another figure is compared.
pub fn moved(p: &ComparedPoint) -> Option<&ComparedFigure> {
    p.delivered.as_ref().filter(is_telling)
}

fn is_telling(delivered: &&ComparedFigure) -> bool {
    delivered.outcome != Comparability::NoDifferenceShown
}

/// Returns B / A of the figures, with that of their rounds where the two contradict each other:
/// `1.20; pairs 0.849`.
fn factor(figure: &ComparedFigure) -> String {
    let value = format_factor(figure.value);
    match figure.is_contradicted() {
        true => format!("{value}; pairs {}", format_factor(figure.ratio.median)),
        false => value,
    }
}

/// Returns the median over the pairs, where the figures contradict it; empty elsewhere.
pub fn contradiction(figure: &ComparedFigure) -> String {
    if !figure.is_contradicted() {
        return String::new();
    }
    let ends = interval(figure.ratio.ci95).map(|ends| format!(" ({ends})")).unwrap_or_default();
    let says = match figure.outcome {
        Comparability::Undecided => "which of the two is right is open",
        _ => "it leads to the same conclusion",
    };
    format!(
        "the median over all pairs of rounds or trials is {}{ends}: {says}",
        format_factor(figure.ratio.median)
    )
}

/// Returns `0.500 (0.495–0.505), margin 4.0 %`.
pub fn ratio(figure: &ComparedFigure) -> String {
    let ends = enclosed(" (", &interval(figure.ratio.ci95).unwrap_or_default(), ")");
    let least = enclosed(", margin ", &margin(figure.margin).unwrap_or_default(), "");
    format!("{}{ends}{least}", factor(figure))
}

/// The word for a result that the time limit left out.
pub const NOT_MEASURED: &str = "not measured";

/// Returns the word for a result that fails a check.
pub fn failure(p: &ComparedPoint) -> &'static str {
    if p.gone() { "gone" } else { Comparability::Slower.as_str() }
}

/// Returns `slowdowns below 33 % (CPU), 20 % (memory) are not detectable; of delivered, those below
/// 40 % (CPU)`, each in the median result; `None` where no result was judged.
pub fn resolution(subsystems: &[ComparedSubsystem]) -> Option<String> {
    let all = |figure: fn(&ComparedSubsystem) -> Option<f64>| {
        let each = subsystems.iter().filter_map(|s| {
            let share = margin(figure(s).filter(|r| r.is_finite())?)?;
            Some(format!("{share} ({})", s.subsystem.info().word))
        });
        Some(joined(each, ", ")).filter(|all| !all.is_empty())
    };
    let headline = all(|s| s.resolution)?;
    let delivered = all(|s| s.delivered_resolution)
        .map(|all| format!("; of delivered, those below {all}"))
        .unwrap_or_default();
    Some(format!("slowdowns below {headline} are not detectable{delivered}"))
}
