//! Figures per unit of money, where the machines have prices.

use std::collections::BTreeMap;

use proofmark_model::{
    ComparedPoint, Comparison, FigureKind, Number, Side, Subsystem, format_factor, median,
};

use super::words::{
    contradiction, interval, main_rows, margin, same_result, sign, signed, signed_words, title,
};
use crate::view::{Columns, Entry, Scale, Table, capital, clean, enclosed, joined, plain};

/// Returns `0.17 $/h`; `None` without a price.
pub fn price(side: &Side) -> Option<String> {
    let price = side.price.as_ref()?;
    let number = money(price.per_hour);
    Some(match price.currency.as_str() {
        "" => format!("{number}/h"),
        currency => format!("{number} {}/h", clean(currency)),
    })
}

/// A price, below 10 with at least two decimals: `0.10`.
fn money(value: f64) -> String {
    let number = plain(value);
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_small = (1e-3..10.0).contains(&value) && decimals < 2;
    if is_small { format!("{value:.2}") } else { number }
}

/// The rates of the main results of A, or of all, divided by the price of an hour; empty without
/// prices.
pub fn table(all: &[Comparison]) -> Table {
    let rows = main_rows(all, |p| p.per_price.is_some());
    let Some(unit) = all.iter().find_map(|c| Some(clean(&c.a.price.as_ref()?.unit()))) else {
        return Table::default();
    };
    type Row<'a> = &'a ComparedPoint;
    let kinds = rows.iter().flatten().filter_map(|p| kind(p));
    let kinds: Vec<FigureKind> = kinds.collect();
    let are_alike = kinds.iter().all(|kind| *kind == kinds[0]);
    let of_which = match are_alike {
        true => capital(kinds.first().map_or("", |kind| kind.as_str())),
        false => "Figures".to_owned(),
    };
    let counts_differ = all.iter().flat_map(|c| &c.points).any(|p| p.all_cpus.is_some());
    let some_cpus = match counts_differ {
        true => " The CPU counts differ, so rates on some of a machine's CPUs are left out, too.",
        false => "",
    };
    let caption = format!(
        "{of_which} per unit of money: the figure for {unit}. Times and clocks are left out: a \
         second machine does not change them.{some_cpus}{}",
        undetectable(rows.iter().flatten())
    );
    // Names the figure of a result where the caption does not.
    let named = move |p: Row| kind(p).filter(|_| !are_alike).map_or("", |kind| kind.as_str());
    let figure = |value: f64, p: Row, number: &Option<Number>| {
        let scale = Scale::for_result([value], p.unit, (p.subsystem, p.random), &p.params);
        Some(signed(number.as_ref()?.verdict, scale.with_label(value)?))
    };
    let table = Columns::new(caption)
        .column("result", |p: &Row| joined([&*title(p), named(p)], ", "))
        .keys()
        .number("A", move |p| figure(p.per_price.as_ref()?.a, p, &p.a));
    let with_others = all.iter().fold(table, |table, c| {
        let letter = c.b.letter;
        let find = move |p: &Row| {
            let other = same_result(p, c)?;
            Some((other, other.per_price.as_ref()?))
        };
        table
            .number(&letter.to_string(), move |p| {
                let (other, money) = find(p)?;
                // In several comparisons one result may have several kinds.
                let name = if kind(p) == kind(other) { "" } else { named(other) };
                Some(joined([name, &figure(money.b, other, &other.b)?], " "))
            })
            .number(&format!("{letter} / A"), move |p| {
                let Some((_, money)) = find(p) else { return "-".into() };
                // Two runs have a column of words with the sign.
                let figure = &money.compared;
                let sign = if all.len() == 1 { "" } else { sign(figure.outcome, money.leaning()) };
                let ratio = format!("{sign}{}", format_factor(figure.value));
                Entry::from(ratio).noted(contradiction(figure))
            })
            .number("95 %", move |p| {
                find(p).and_then(|(_, money)| interval(money.compared.ratio.ci95))
            })
            .spare(1)
            .number("margin", move |p| find(p).and_then(|(_, money)| margin(money.compared.margin)))
            .spare(2)
    });
    let with_words = with_others.when(all.len() == 1, |table| {
        table.column("difference", |p| {
            let money = p.per_price.as_ref()?;
            Some(signed_words(money.compared.outcome, money.leaning()))
        })
    });
    with_words.rows(rows.into_iter().map(|same| same[0]))
}

/// Returns ` In the median result, a value lower by less than 24 % (CPU) is not detectable.`; empty
/// where no ratio was judged.
fn undetectable<'a>(points: impl Iterator<Item = &'a &'a ComparedPoint>) -> String {
    let mut all: BTreeMap<Subsystem, Vec<f64>> = BTreeMap::new();
    for p in points {
        let share = p.per_price.as_ref().and_then(|money| money.compared.resolution);
        all.entry(p.subsystem).or_default().extend(share);
    }
    let each = all.into_iter().filter_map(|(subsystem, shares)| {
        Some(format!("{} ({})", margin(median(&shares)?)?, subsystem.info().word))
    });
    let shares = joined(each, ", ");
    enclosed(" In the median result, a value lower by less than ", &shares, " is not detectable.")
}

fn kind(p: &ComparedPoint) -> Option<FigureKind> {
    p.per_price.as_ref().map(|money| money.figure)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proofmark_model::{
        Better, COMPARISON_SCHEMA, Comparability, ComparedFigure, Params, PerPrice, Price, Ratio,
        Timestamp, Unit, Verdict, key, testing,
    };

    use super::*;

    fn side(letter: char) -> Side {
        Side {
            group: None,
            letter,
            name: "a".into(),
            label: None,
            started: Timestamp::from_millis(1_000).unwrap(),
            version: String::new(),
            machine: String::new(),
            profile: String::new(),
            price: Some(Price { per_hour: 1.0, currency: "$".into() }),
        }
    }

    /// `cpu.flops` on so many threads, with a price of that figure.
    fn point(threads: u64, figure: FigureKind) -> ComparedPoint {
        let summary = || testing::summary(1e9);
        let number = || Some(Number { summary: summary(), verdict: Verdict::Valid });
        ComparedPoint {
            workload: "cpu.flops".into(),
            name: String::new(),
            title: "FP peak".into(),
            main_row: None,
            random: false,
            subsystem: Subsystem::Cpu,
            params: Params::default().with(key::THREADS, threads),
            unit: Unit::FlopPerSecond,
            better: Better::Higher,
            a: number(),
            b: number(),
            figure: Some(figure),
            headline: None,
            delivered: None,
            mean_of: None,
            best_of_each: None,
            all_cpus: None,
            percentiles: Vec::new(),
            per_price: Some(PerPrice {
                figure,
                a: 1e9,
                b: 2e9,
                compared: ComparedFigure {
                    value: 2.0,
                    ratio: Ratio { median: 2.0, ci95: None },
                    margin: 0.04,
                    margin_given: false,
                    between_runs: None,
                    resolution: None,
                    outcome: Comparability::Faster,
                },
            }),
            left_out: None,
            disturbances: Vec::new(),
            reason: String::new(),
        }
    }

    /// A comparison with B by results of these figures, on 1 thread and so on.
    fn comparison(figures: &[FigureKind]) -> Comparison {
        let points = (1..).zip(figures).map(|(threads, figure)| point(threads, *figure));
        Comparison {
            between_runs: String::new(),
            schema: Cow::Borrowed(COMPARISON_SCHEMA),
            a: side('A'),
            b: side('B'),
            sentence: String::new(),
            differences: Vec::new(),
            subsystems: Vec::new(),
            points: points.collect(),
        }
    }

    fn texts(table: &Table, column: usize) -> Vec<&str> {
        table.rows.iter().map(|row| row.cells[column].text.as_str()).collect()
    }

    #[test]
    fn the_caption_names_the_figure_or_each_result_does() {
        use FigureKind::{Attainable, Delivered};
        for (kind, name) in [(Delivered, "Delivered"), (Attainable, "Attainable")] {
            let table = table(&[comparison(&[kind, kind])]);
            let caption = format!("{name} per unit of money: the figure for 1 $/h. Times and");
            assert!(table.caption.starts_with(&caption), "{}", table.caption);
            assert_eq!(texts(&table, 0), ["FP peak"; 2]);
        }
        let mixed = table(&[comparison(&[Delivered, Attainable])]);
        assert!(mixed.caption.starts_with("Figures per unit of money: "), "{}", mixed.caption);
        assert_eq!(texts(&mixed, 0), ["FP peak, delivered", "FP peak, attainable"]);
        // The second run has another figure than the row.
        let several = table(&[comparison(&[Delivered]), comparison(&[Attainable])]);
        assert_eq!(texts(&several, 0), ["FP peak, delivered"]);
        assert_eq!(texts(&several, 2), ["2.000 GFLOP/s"]);
        assert_eq!(texts(&several, 6), ["attainable 2.000 GFLOP/s"]);
    }
}
