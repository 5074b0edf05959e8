//! Several runs, each compared with the first: a row per result, a column per run.

use proofmark_model::{Comparability, ComparedPoint, Comparison, Side, Verdict};

use super::verdict::{self, Tally};
use super::words::{factor, headline_of_a, other_figure, point};
use crate::Options;
use crate::terminal::page::Page;
use crate::view::{
    Blocks, Columns, Document, Entry, Item, Table, clean, counted, enclosed, grouped, joined,
};

/// Writes the verdict on each run, and the main results; all results of runs that have no main
/// ones.
pub fn several(all: &[Comparison], options: &Options) -> String {
    let mut out = Blocks::default();
    let first = all.iter().take(1).map(|c| item('A', &c.a, String::new()));
    let others = all.iter().zip(letters()).map(|(c, letter)| {
        let sentences = Some(verdict::sentences(c, &Tally::count(c), letter));
        let sentences = [verdict::unequal(c, letter), sentences].into_iter().flatten();
        item(letter, &c.b, format!(". {}", joined(sentences, " ")))
    });
    out.add("runs", first.chain(others).collect::<Vec<Item>>());
    out.add("results", table(all));
    let title = format!("{} compared with run A", counted(all.len() as u64, "run"));
    Page::new(options).document(&Document { title, facts: Vec::new(), blocks: out.0 })
}

/// Returns `B: new (a machine). B is slower in ...`
fn item(letter: char, side: &Side, verdict: String) -> Item {
    let (name, machine) = (clean(&side.name), clean(&side.machine));
    let says = vec![format!("{name} ({machine}){verdict}").into()];
    Item { term: letter.to_string(), says }
}

/// Returns the letters of the runs after A.
fn letters() -> impl Iterator<Item = char> {
    'B'..='Z'
}

/// Maximum of runs, A included: one per letter.
pub const MOST_RUNS: usize = 26;

fn table(all: &[Comparison]) -> Table {
    let points = || all.iter().flat_map(|c| &c.points);
    let declared = points().any(|p| p.row.is_some());
    let shown = points().filter(|p| p.a.is_some() && (p.row.is_some() || !declared));
    let shown = grouped(shown.map(|p| ((&p.workload, &p.params), p))).into_iter();
    let table = Columns::new("")
        .column("result", |p: &&ComparedPoint| {
            p.row.as_ref().map_or_else(|| point(p), |row| clean(&row.title))
        })
        .keys()
        .number("A", |p| headline_of_a(p));
    let with_ratios = all.iter().zip(letters()).fold(table, |table, (c, letter)| {
        table.number(&format!("{letter} / A"), move |p| {
            let same = |q: &&ComparedPoint| q.workload == p.workload && q.params == p.params;
            c.points.iter().find(same).map_or_else(|| "-".into(), entry)
        })
    });
    with_ratios.rows(shown.map(|(_, same)| same[0]))
}

/// Returns `▼ 0.500`, with the colour that repeats it.
fn entry(p: &ComparedPoint) -> Entry {
    if p.gone() {
        return Entry::from("✗ gone").coloured(Some(Verdict::Invalid));
    }
    let Some(headline) = p.headline.as_ref().filter(|_| !p.not_comparable()) else {
        return "not comparable".into();
    };
    // Where delivered alone moved, its name shows that it is another figure than A's.
    let delivered = p.delivered.as_ref().filter(|_| p.outcome() != p.change());
    let ratio = factor(delivered.unwrap_or(headline));
    let (sign, verdict) = match p.change() {
        Comparability::Slower => ("▼ ", Some(Verdict::Invalid)),
        Comparability::Faster => ("▲ ", Some(Verdict::Valid)),
        Comparability::Undecided => ("? ", None),
        _ => ("", None),
    };
    let figure = if delivered.is_some() { Some("delivered") } else { other_figure(p) };
    let figure = enclosed("", figure.unwrap_or_default(), " ");
    Entry::from(format!("{figure}{sign}{ratio}")).coloured(verdict)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{
        Better, ComparedFigure, Figure, FigureKind, Number, Params, Ratio, Subsystem, Unit, testing,
    };

    use super::super::words::values;
    use super::*;

    fn number(headline: FigureKind) -> Option<Number> {
        let mut summary = testing::summary(80e9);
        summary.headline = headline;
        summary.attainable = Figure::alone(120e9, "");
        Some(Number { summary, verdict: Verdict::Valid })
    }

    #[test]
    fn a_figure_that_is_not_the_first_columns_has_its_name() {
        let mut p = ComparedPoint {
            workload: "cpu.flops".into(),
            name: String::new(),
            row: None,
            random: false,
            subsystem: Subsystem::Cpu,
            params: Params::default(),
            unit: Unit::FlopPerSecond,
            better: Better::Higher,
            a: number(FigureKind::Attainable),
            b: number(FigureKind::Delivered),
            figure: Some(FigureKind::Delivered),
            headline: Some(ComparedFigure {
                value: 0.5,
                ratio: Ratio { median: 0.5, ci95: None },
                margin: 0.0,
                resolution: None,
                outcome: Comparability::Slower,
            }),
            delivered: None,
            reason: String::new(),
        };
        let same = Some("delivered 80.00 GFLOP/s".to_owned());
        assert_eq!(values(&p), [same.clone(), same]);
        assert_eq!(headline_of_a(&p).unwrap(), "120.0 GFLOP/s");
        assert_eq!(entry(&p).text, "delivered ▼ 0.500");
        p.figure = Some(FigureKind::Attainable);
        assert_eq!(values(&p), [(); 2].map(|()| Some("120.0 GFLOP/s".to_owned())));
        assert_eq!(entry(&p).text, "▼ 0.500");
        p.figure = None;
        assert_eq!(values(&p), ["120.0", "80.00"].map(|v| Some(format!("{v} GFLOP/s"))));
    }
}
