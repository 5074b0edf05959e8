//! Figures per unit of money, where the machines have prices.

use proofmark_model::{ComparedPoint, Comparison, Number, PerPrice, Side, format_factor};

use super::words::{point, same_result, signed};
use crate::view::{Columns, Scale, Table, clean, grouped, plain};

/// Returns `0.17 $/h`; `None` without a price.
pub fn price(side: &Side) -> Option<String> {
    let price = side.price.as_ref()?;
    let number = plain(price.per_hour);
    Some(match price.currency.as_str() {
        "" => format!("{number}/h"),
        currency => format!("{number} {}/h", clean(currency)),
    })
}

/// The rates of the main results of A, or of all, divided by the price of an hour; empty without
/// prices.
pub fn table(all: &[Comparison]) -> Table {
    let points = || all.iter().flat_map(|c| &c.points);
    let declared = points().any(|p| p.row.is_some());
    let shown = points().filter(|p| p.per_price.is_some() && (p.row.is_some() || !declared));
    let mut rows = grouped(shown.map(|p| ((&p.workload, &p.params, p.row.is_some()), p)));
    rows.sort_by_key(|(_, same)| same[0].row.as_ref().map(|row| row.place));
    let Some(unit) = all.iter().find_map(|c| Some(clean(&c.a.price.as_ref()?.unit()))) else {
        return Table::default();
    };
    let caption = format!(
        "Delivered per unit of money: the figure for {unit}. Times are left out: a second machine \
         does not shorten them."
    );
    type Row<'a> = &'a ComparedPoint;
    let figure = |value: f64, p: Row, number: &Option<Number>| {
        let scale = Scale::for_result([value], p.unit, (p.subsystem, p.random), &p.params);
        Some(signed(number.as_ref()?.verdict, scale.with_label(value)?))
    };
    let table = Columns::new(caption)
        .column("result", |p: &Row| {
            p.row.as_ref().map_or_else(|| point(p), |row| clean(&row.title))
        })
        .keys()
        .number("A", move |p| figure(p.per_price.as_ref()?.a, p, &p.a));
    let with_others = all.iter().fold(table, |table, c| {
        let letter = c.b.letter;
        let find = move |p: &Row| {
            let other = c.points.iter().find(|q| same_result(p, q))?;
            Some((other, other.per_price.as_ref()?))
        };
        table
            .number(&letter.to_string(), move |p| {
                let (other, money) = find(p)?;
                figure(money.b, other, &other.b)
            })
            .number(&format!("{letter} / A"), move |p| Some(format_factor(find(p)?.1.value)))
            .number("95 %", move |p| find(p).and_then(|(_, money)| ends(money)))
            .spare(1)
    });
    with_others.rows(rows.into_iter().map(|(_, same)| same[0]))
}

fn ends(money: &PerPrice) -> Option<String> {
    let [low, high] = money.ci95?;
    Some(format!("{}–{}", format_factor(low), format_factor(high)))
}
