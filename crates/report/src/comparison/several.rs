//! Several runs, each compared with the first: a sentence per run, then a row per result and a column
//! per run.

use proofmark_model::{
    Comparability, ComparedFigure, ComparedPoint, Comparison, FigureKind, Side, Verdict,
    format_factor,
};

use super::points::BELOW;
use super::verdict::{self, Tally};
use super::words::{
    NOT_MEASURED, color, columns, contradiction, delivered, each_own, main_rows, other_figure,
    same_result, sign, title, why_none_shown,
};
use super::{prices, view};
use crate::view::{
    Audience, Blocks, Columns, Document, Entry, Item, Section, Style, Table, Text, clean, counted,
    enclosed, joined,
};

/// Makes the document: the first sentence on each run, and a matrix of the main results; all results
/// of runs that have no main ones. A page has the rest of each comparison below.
pub fn document(all: &[Comparison]) -> Document {
    let mut out = Blocks::default();
    let first = all.iter().take(1).map(|c| item(&c.a, String::new()));
    let others = all.iter().map(|c| item(&c.b, format!(". {}", clean(&c.sentence))));
    out.add("runs", first.chain(others).collect::<Vec<Item>>());
    out.add("results", table(all));
    out.add("signs", Text::new(Style::Quiet, [SIGNS]));
    out.add("prices", prices::table(all));
    for c in all {
        let anchor = format!("run-{}", c.b.letter);
        let title = format!("{} compared with {}", c.b.letter, c.a.letter);
        out.add_for(Audience::Document, "run", Section::new(&anchor, &title, |out| more(out, c)));
    }
    let title = format!("{} compared with run A", counted(all.len() as u64, "run"));
    Document { title, facts: Vec::new(), blocks: out.0 }
}

const SIGNS: &str = "Signs before ratios: ▲ faster, ▼ slower, △ perhaps faster, ▽ perhaps slower, ? \
                     undecided. Without a sign, no difference is shown.";

/// Adds what else is known of a comparison: counts, causes, notes and what the two runs do not share.
fn more(out: &mut Blocks, c: &Comparison) {
    let tally = Tally::count(c);
    let sentences = [verdict::sentences(c, &tally)].into_iter();
    let sentences = sentences.chain(verdict::not_measured(c).map(|sentence| sentence + "."));
    out.add("more", joined(sentences.chain(verdict::notes(c, &tally)), " "));
    let causes = view::causes(c, usize::MAX).into_iter().map(Item::from).collect::<Vec<Item>>();
    out.add("causes", Section::plain("Causes found", "causes", causes));
    let differences = view::differences(c);
    out.add("differences", Section::plain(view::DIFFERENCES, "differences", differences));
}

/// Returns `B: new (label ...; a machine; 0.17 $/h). B is slower in ...`
fn item(side: &Side, verdict: String) -> Item {
    let (name, machine) = (clean(&side.name), clean(&side.machine));
    let label = enclosed("label ", &view::label(side), "");
    let about = joined([label, machine, prices::price(side).unwrap_or_default()], "; ");
    let texts = vec![format!("{name} ({about}){verdict}").into()];
    Item { term: side.letter.to_string(), texts }
}

/// Maximum of runs, A included: one per letter.
pub const MOST_RUNS: usize = 26;

/// A row of the matrix: a result, and which of its figures.
#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    point: &'a ComparedPoint,
    delivered: bool,
}

impl<'a> Row<'a> {
    fn title(&self) -> String {
        let p = self.point;
        match self.delivered {
            true => format!("{BELOW}{}", FigureKind::Delivered.name(p.better)),
            false => title(p),
        }
    }

    /// The figure of the row in another comparison's result, with its kind.
    fn figure(&self, p: &'a ComparedPoint) -> (Option<FigureKind>, Option<&'a ComparedFigure>) {
        let delivered = FigureKind::Delivered;
        match self.delivered {
            // Where one run has no other figure, delivered is what was compared.
            true if p.figure == Some(delivered) => (p.figure, p.headline.as_ref()),
            true => (Some(delivered), p.delivered.as_ref()),
            false => (p.figure, p.headline.as_ref()),
        }
    }
}

fn table(all: &[Comparison]) -> Table {
    let rows = main_rows(all, |p| p.a.is_some()).into_iter().flat_map(|same| {
        let below = same.iter().find(|p| delivered(p).is_some());
        let below = below.map(|p| Row { point: p, delivered: true });
        [Some(Row { point: same[0], delivered: false }), below].into_iter().flatten()
    });
    let table = Columns::new("").column("result", Row::title).keys().number("A", |row| {
        let p = row.point;
        let own = p.a.as_ref().map(|n| n.summary.headline);
        let [a, _] = columns(p, if row.delivered { Some(FigureKind::Delivered) } else { own });
        a
    });
    let with_others = all.iter().fold(table, |table, c| {
        let letter = c.b.letter;
        let find = move |row: &Row<'_>| same_result(row.point, c);
        table
            .number(&letter.to_string(), move |row| {
                let p = find(row)?;
                columns(p, row.figure(p).0)[1].clone()
            })
            .spare(1)
            .number(&format!("{letter} / A"), move |row| {
                find(row).map_or_else(|| "-".into(), |p| entry(row, p, letter))
            })
    });
    with_others.rows(rows)
}

/// Returns `▼ 0.500`, with the colour that repeats it.
fn entry<'a>(row: &Row<'a>, p: &'a ComparedPoint, letter: char) -> Entry {
    if p.gone() {
        return Entry::from("✗ gone").coloured(Some(Verdict::Invalid));
    }
    if p.is_left_out() {
        return NOT_MEASURED.into();
    }
    let (_, figure) = row.figure(p);
    let Some(figure) = figure.filter(|f| f.outcome != Comparability::NotComparable) else {
        return if row.delivered {
            "-".into()
        } else {
            Comparability::NotComparable.as_str().into()
        };
    };
    let sign = sign(figure.outcome, figure.leaning(p.better));
    // Where another figure than A's headline is compared, its name shows that.
    let other = other_figure(p).filter(|_| !row.delivered);
    let name = enclosed("", other.unwrap_or_default(), " ");
    let ratio = format_factor(figure.value);
    let note = joined(
        [contradiction(figure), why_none_shown(p.better, figure), each_own(p, letter)],
        "; ",
    );
    Entry::from(format!("{name}{sign}{ratio}")).noted(note).coloured(color(figure.outcome))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Better, Figure, Number, Params, Ratio, Subsystem, Unit, testing};

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
            title: "FP peak".into(),
            main_row: None,
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
                margin_given: false,
                between_runs: None,
                resolution: None,
                outcome: Comparability::Slower,
            }),
            delivered: None,
            mean_of: None,
            best_of_each: None,
            all_cpus: None,
            percentiles: Vec::new(),
            per_price: None,
            left_out: None,
            disturbances: Vec::new(),
            reason: String::new(),
        };
        let entry = |p: &ComparedPoint| entry(&Row { point: p, delivered: false }, p, 'B').text;
        let label = |v: &str| Some(format!("{v} GFLOP/s"));
        assert_eq!(values(&p), [label("80.00"), label("80.00")]);
        assert_eq!(entry(&p), "delivered ▼ 0.500");
        p.figure = Some(FigureKind::Attainable);
        assert_eq!(values(&p), [label("120.0"), label("120.0")]);
        assert_eq!(columns(&p, p.figure), [label("120.0"), Some("120.0".to_owned())]);
        assert_eq!(entry(&p), "▼ 0.500");
        p.figure = None;
        assert_eq!(values(&p), [label("120.0"), label("80.00")]);
    }
}
