//! Every trial of a kernel, with what the system did meanwhile.

use proofmark_model::{Conditions, Unit};

use super::kernel::{caption, keyed, keys};
use super::label::{Group, why_no_trials};
use super::num::{Scale, plain};
use super::table::{Cell, Table};

/// A condition's title, unit and value.
type Column = (&'static str, Option<&'static str>, fn(&Conditions) -> Option<f64>);

/// Conditions that are shown, where any trial has them.
const COLUMNS: [Column; 10] = [
    ("clock", Some("GHz"), |c| c.clock_hz.map(|v| v / 1e9)),
    ("steal", Some("s"), |c| c.steal_s),
    ("throttled", Some("s"), |c| c.throttled_s),
    ("other CPU", Some("s"), |c| c.other_cpu_s),
    ("own CPU", Some("s"), |c| c.own_cpu_s),
    ("switches", None, |c| c.involuntary_switches.map(|v| v as f64)),
    ("migrations", None, |c| c.migrations.map(|v| v as f64)),
    ("minor faults", None, |c| c.minor_faults.map(|v| v as f64)),
    ("major faults", None, |c| c.major_faults.map(|v| v as f64)),
    ("swapped pages", None, |c| c.swapped_pages.map(|v| v as f64)),
];

/// One row a trial; a measurement without trials has one that says why.
pub fn table(group: &Group, scale: &Scale) -> Table {
    let work = match group.all.first().map(|m| m.unit) {
        Some(Unit::FlopPerSecond) => "FLOP",
        Some(Unit::Hertz) => "cycles",
        Some(Unit::BytePerSecond) => "B",
        Some(Unit::BitPerSecond) => "bit",
        _ => "op",
    };
    let mut table = keyed(group, caption(group, "every trial"), &[])
        .number("trial")
        .measured("value", scale.label())
        .measured("wall time", "s")
        .measured("work", work)
        .column("started, UTC");
    let told = |read: fn(&Conditions) -> Option<f64>| {
        group.all.iter().flat_map(|m| &m.trials).any(|t| read(&t.conditions).is_some())
    };
    let columns: Vec<&Column> = COLUMNS.iter().filter(|(_, _, read)| told(*read)).collect();
    for (title, unit, _) in &columns {
        table = match unit {
            Some(unit) => table.measured(*title, *unit),
            None => table.number(*title),
        };
    }
    for m in &group.all {
        let key = keys(group, m, &mut table, &[]);
        if m.trials.is_empty() {
            let none = table.missing(why_no_trials(m));
            let mut cells = key.clone();
            cells.resize(table.columns.len(), none);
            table.push(cells);
        }
        for (i, t) in m.trials.iter().enumerate() {
            let mut cells = key.clone();
            cells.push(Cell::text((i + 1).to_string()));
            let finite = || "not a finite number".to_owned();
            cells.push(table.maybe(scale.number(t.value), finite));
            let wall = t.seconds.is_finite().then(|| format!("{:.4}", t.seconds));
            let wall = wall.map(|w| if w.len() > 12 { plain(t.seconds) } else { w });
            cells.push(table.maybe(wall, finite));
            cells.push(Cell::text(plain(t.work)));
            cells.push(Cell::text(t.started.0.strftime("%H:%M:%S%.3f").to_string()));
            for (_, _, read) in &columns {
                let value = read(&t.conditions).map(plain);
                cells.push(table.maybe(value, || "this system does not tell".to_owned()));
            }
            table.push(cells);
        }
    }
    table
}
