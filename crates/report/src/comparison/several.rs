//! Several runs, each compared with the first: a row a result, a column a run.

use proofmark_model::{Comparability, ComparedPoint, Comparison, Verdict};

use super::verdict::{self, Tally};
use super::words::{factor, headline_of_a, other_figure, point};
use crate::Options;
use crate::terminal::page::Page;
use crate::view::{Columns, Entry, Table, clean, enclosed, grouped, joined};

/// What is said of each run, and the results of the first screen; of few results all.
pub fn several(all: &[Comparison], options: &Options) -> String {
    let mut page = Page::new(options);
    let Some(first) = all.first() else { return page.out };
    page.wrap("", 3, &format!("A: {} ({})", clean(&first.a.name), clean(&first.a.machine)));
    for (c, letter) in all.iter().zip(letters()) {
        let said =
            [verdict::unequal(c, letter), Some(verdict::sentences(c, &Tally::count(c), letter))];
        let said = joined(said.into_iter().flatten(), " ");
        let (name, machine) = (clean(&c.b.name), clean(&c.b.machine));
        page.wrap("", 3, &format!("{letter}: {name} ({machine}). {said}"));
    }
    page.blank();
    page.table(&table(all));
    page.out
}

/// Names of the runs after A.
fn letters() -> impl Iterator<Item = char> {
    'B'..='Z'
}

/// Runs that there are letters for, A included.
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

/// `▼ 0.500`, with the colour that repeats it.
fn entry(p: &ComparedPoint) -> Entry {
    if p.gone() {
        return Entry::from("✗ gone").coloured(Some(Verdict::Invalid));
    }
    let Some(headline) = p.headline.as_ref().filter(|_| !p.not_comparable()) else {
        return "not comparable".into();
    };
    // Delivered alone moved: it is another figure than A's, and says so.
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
    fn values_and_ratio_are_of_one_figure_which_has_its_name_where_it_is_not_the_first_columns() {
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
