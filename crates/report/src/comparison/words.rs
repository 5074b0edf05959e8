//! Numbers and results of a comparison as text.

use proofmark_model::{
    Comparability, ComparedFigure, ComparedPoint, ComparedSubsystem, FigureKind, Number, Ratio,
    format_factor,
};

use crate::view::{Scale, clean, enclosed, joined, percent};

/// Returns `0.498–0.512`; `None` without an interval.
pub fn interval(ratio: &Ratio) -> Option<String> {
    let [low, high] = ratio.ci95?;
    Some(format!("{}–{}", format_factor(low), format_factor(high)))
}

/// Returns `4.0 %`.
pub fn margin(share: f64) -> Option<String> {
    Some(format!("{} %", percent(share)?))
}

/// Returns `cpu.flops avx2, 2 threads`.
pub fn point(p: &ComparedPoint) -> String {
    let (workload, name) = (clean(&p.workload), clean(&p.name));
    joined([workload, name], " ")
}

/// Returns the compared figure of both sides in one scale, with its name where it is not A's
/// headline. Without a ratio it is each side's headline. `None` where a side has none.
pub fn values(p: &ComparedPoint) -> [Option<String>; 2] {
    let name = enclosed("", other_figure(p).unwrap_or_default(), " ");
    both(p, p.figure).map(|v| v.map(|text| format!("{name}{text}")))
}

/// Returns a figure of both sides in one scale; their headlines for `None`.
fn both(p: &ComparedPoint, figure: Option<FigureKind>) -> [Option<String>; 2] {
    let value = |n: &Option<Number>| {
        let summary = &n.as_ref()?.summary;
        summary.figure(figure.unwrap_or(summary.headline)).value
    };
    let both = [value(&p.a), value(&p.b)];
    let scale = scale(p, both.iter().flatten().copied());
    both.map(|v| v.and_then(|v| scale.with_label(v)))
}

/// Returns the delivered figures of both sides, where they differ and another figure is compared.
pub fn delivered(p: &ComparedPoint) -> [Option<String>; 2] {
    match moved(p) {
        Some(_) => both(p, Some(FigureKind::Delivered)),
        None => [None, None],
    }
}

/// Returns the scale of a result's values.
fn scale(p: &ComparedPoint, values: impl Iterator<Item = f64>) -> Scale {
    Scale::for_result(values, p.unit, (p.subsystem, p.random), &p.params)
}

/// Returns A's headline with its label; `None` where A has none.
pub fn headline_of_a(p: &ComparedPoint) -> Option<String> {
    let value = p.a.as_ref()?.summary.value();
    scale(p, [value].into_iter()).with_label(value)
}

/// Returns the name of the compared figure, where it is not A's headline.
pub fn other_figure(p: &ComparedPoint) -> Option<&'static str> {
    let (figure, a) = (p.figure?, p.a.as_ref()?);
    (figure != a.summary.headline).then(|| figure.as_str())
}

/// Returns the sign and words of a result's outcome.
pub fn outcome(p: &ComparedPoint) -> &'static str {
    let alone = p.outcome() != p.change();
    match p.change() {
        _ if p.gone() => "✗ gone",
        Comparability::Slower if alone => "▼ delivered slower",
        Comparability::Faster if alone => "▲ delivered faster",
        Comparability::Slower => "▼ slower",
        Comparability::Faster => "▲ faster",
        Comparability::Undecided => "? undecided",
        other => other.as_str(),
    }
}

/// Returns the delivered figure, where it differs and another figure is compared.
pub fn moved(p: &ComparedPoint) -> Option<&ComparedFigure> {
    p.delivered.as_ref().filter(|d| d.outcome.differs())
}

/// Returns B / A of the figures, with that of their rounds where the two contradict each other:
/// `1.20; pairs 0.849`.
pub fn factor(figure: &ComparedFigure) -> String {
    let value = format_factor(figure.value);
    match figure.outcome {
        Comparability::Undecided => {
            format!("{value}; pairs {}", format_factor(figure.ratio.median))
        }
        _ => value,
    }
}

/// Returns `0.500 (0.495–0.505), margin 4.0 %`.
pub fn ratio(figure: &ComparedFigure) -> String {
    let ends = enclosed(" (", &interval(&figure.ratio).unwrap_or_default(), ")");
    let least = enclosed(", margin ", &margin(figure.margin).unwrap_or_default(), "");
    format!("{}{ends}{least}", factor(figure))
}

/// Returns the word for a result that fails a check.
pub fn failure(p: &ComparedPoint) -> &'static str {
    if p.gone() { "gone" } else { Comparability::Slower.as_str() }
}

/// Returns `slowdowns below 33 % (CPU), 20 % (memory) are not detectable`; `None` where no result
/// was judged.
pub fn resolution(subsystems: &[ComparedSubsystem]) -> Option<String> {
    let each = subsystems.iter().filter_map(|s| {
        Some(format!(
            "{} ({})",
            margin(s.resolution.filter(|r| r.is_finite())?)?,
            s.subsystem.info().word
        ))
    });
    let all = joined(each, ", ");
    (!all.is_empty()).then(|| format!("slowdowns below {all} are not detectable"))
}
