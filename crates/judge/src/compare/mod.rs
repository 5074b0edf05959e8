//! Compares two runs result by result: faster, slower, no difference shown, or the reason why they
//! are not comparable.
//!
//! If both have rounds, the headline and the delivered figure are compared. Time that windows leave
//! out, such as that of a quota, shows only in delivered (`reason`). A difference is shown only if
//! the whole interval of B / A (`rank`) is beyond a margin (`margin`). Without an interval, all
//! ratios of B and A must be. A result counts by both of its figures, see
//! [`ComparedPoint::change`]. It comes with its cause, if the findings of both runs and the facts
//! about both machines name one (`cause`, `facts`).

mod all_cpus;
mod cause;
mod circumstances;
mod comparable;
mod decide;
pub(crate) mod effect;
pub(crate) mod facts;
mod instruction_sets;
mod left_out;
mod margin;
mod names;
mod pairs;
mod percentiles;
mod prices;
mod rank;
mod reason;
mod sentence;
mod sums;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{
    Better, COMPARISON_SCHEMA, Comparability, ComparedFigure, ComparedPoint, ComparedRow,
    Comparison, Difference, MainResult, Margin, Measurement, Number, Price, Run, Side, Subsystem,
    clean, clean_excerpt, margin_bounds,
};

pub(crate) use circumstances::clock_under_load;
use comparable::{Compared, Figured, NotCompared};
use decide::Decided;
use facts::Fact;
pub use facts::changes;
use instruction_sets::Matched;
use margin::{Margins, Speed};
pub(crate) use names::Names;
use pairs::{Match, Pair, spec_of};
use reason::JudgedFigure;

/// Most characters of a reason.
const LONGEST: usize = 600;

/// Options of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Options {
    /// The margin of every result, a share such as 0.03. `None`: derived by subsystem, from the
    /// differences between the results of both runs and from the variation of each.
    pub margin: Option<f64>,
}

/// A run and its source.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// The letter by which texts name it: A for the baseline.
    pub letter: char,
    /// File or id that it was read from.
    pub name: &'a str,
    /// The run.
    pub run: &'a Run,
    /// Price of its machine.
    pub price: Option<&'a Price>,
}

impl<'a> Named<'a> {
    /// A run without a price.
    pub fn new(letter: char, name: &'a str, run: &'a Run) -> Self {
        Self { letter, name, run, price: None }
    }
}

/// Compares B with A.
pub fn compare(a: Named, b: Named, options: Options) -> Comparison {
    let facts = all_facts(a.run, b.run);
    let names = Names::collect(a.run, b.run);
    let mut ranks = rank::Ranks::default();
    let (runs, letters) = ([a.run, b.run], [a.letter, b.letter]);
    let matched = matched(runs, letters);
    let judged: Vec<(Pair, Result<Compared, NotCompared>)> = matched
        .pairs
        .into_iter()
        // What neither run measured is no result.
        .filter(Pair::has_figure)
        .map(|pair| {
            let compared = comparable::compared(runs, letters, &pair, &mut ranks);
            (pair, compared)
        })
        .collect();
    let margins =
        |figure: Which| Margins::new(a.run, b.run, &speeds(&judged, figure), options.margin);
    let (margins, delivered_margins) =
        (margins(|c| Some(&c.headline)), margins(|c| c.delivered.as_ref()));
    let rows = a.run.main_results().into_iter().flat_map(|(_, rows)| rows).collect();
    let of_same_set = judged.iter().filter_map(|(pair, _)| match pair {
        Pair::Both(_, _, how) if how.best.is_some() => None,
        Pair::Both(m, _, how) => Some((std::ptr::from_ref(*m), how.cpus.is_some())),
        pair => Some((std::ptr::from_ref(pair.in_a()?), false)),
    });
    let of_same_set = of_same_set.collect();
    let on_all = judged.iter().filter_map(|(pair, _)| match pair {
        Pair::Both(m, _, how) if how.cpus.is_some() => Some(std::ptr::from_ref(*m)),
        _ => None,
    });
    let on_all = on_all.collect();
    let cpus = all_cpus::counts(runs);
    let are_virtual = [a.run, b.run].iter().all(|run| run.host.is_virtual() == Some(true));
    let same_machine = a.run.host.is_same_machine(&b.run.host);
    let facts = &facts;
    let judge = Judge {
        a,
        b,
        rows,
        of_same_set,
        on_all,
        cpus,
        names,
        margins,
        delivered_margins,
        facts,
        are_virtual,
        same_machine,
    };
    let points: Vec<ComparedPoint> =
        judged.into_iter().map(|(pair, compared)| judge.point(&pair, compared)).collect();
    let (a, b) = (side(a), side(b));
    Comparison {
        schema: Cow::Borrowed(COMPARISON_SCHEMA),
        sentence: sentence::write(&points, &a, &b, &matched.left_out),
        a,
        b,
        subsystems: sums::all(&points, |s| judge.margins.for_subsystem(s)),
        differences: facts.iter().map(|f| f.difference.clone()).collect(),
        points,
    }
}

/// The facts and circumstances that differ between two runs.
fn all_facts(a: &Run, b: &Run) -> Vec<Fact> {
    facts::differences(a, b).into_iter().chain(circumstances::differences(a, b)).collect()
}

/// Returns the facts about machines, programs and plans that differ between two runs, without their
/// circumstances.
pub(crate) fn facts_that_differ(a: &Run, b: &Run) -> Vec<Difference> {
    facts::differences(a, b).into_iter().map(|fact| fact.difference).collect()
}

/// Matches the results of two runs: as they are, on all CPUs of each, and by the best instruction sets.
fn matched<'a>(runs: [&'a Run; 2], letters: [char; 2]) -> Matched<'a> {
    let pairs = all_cpus::with_pairs(runs, letters, pairs::pairs(runs, letters));
    instruction_sets::by_best(runs, letters, pairs)
}

/// Returns the results of A that B has too, as [`compare`] matches them.
pub fn in_both<'a>(a: &'a Run, b: &'a Run) -> Vec<&'a Measurement> {
    let (runs, letters) = ([a, b], ['A', 'B']);
    let matched = matched(runs, letters);
    let both = matched.pairs.into_iter().filter_map(|pair| match pair {
        Pair::Both(m, ..) => Some(m),
        Pair::OnlyA(_) | Pair::OnlyB(_) => None,
    });
    both.collect()
}

fn side(named: Named) -> Side {
    let run = named.run;
    Side {
        letter: named.letter,
        name: clean(named.name),
        label: run.label.as_deref().map(clean).filter(|label| !label.is_empty()),
        started: run.started,
        version: clean(&run.tool.version),
        machine: run.machine_words(),
        profile: clean(&run.plan.profile),
        price: named.price.cloned(),
    }
}

/// Logarithm of B's speed over A's: above 0 where B is better.
fn speed(better: Better, ratio: f64) -> f64 {
    match better {
        Better::Higher => ratio.ln(),
        Better::Lower => -ratio.ln(),
    }
}

/// Selects one of the compared figures.
type Which = for<'c, 'a> fn(&'c Compared<'a>) -> Option<&'c Figured>;

/// Speeds of the results that show noise: not those of which a quota took time on one side only.
fn speeds<'a>(
    judged: &[(Pair, Result<Compared<'a>, NotCompared>)],
    which: Which,
) -> BTreeMap<Subsystem, Vec<Speed<'a>>> {
    let mut out: BTreeMap<Subsystem, Vec<Speed>> = BTreeMap::new();
    for compared in judged.iter().filter_map(|(_, compared)| compared.as_ref().ok()) {
        let (a, b) = (compared.a, compared.b);
        let Some(Figured { windows, estimate, .. }) = which(compared) else { continue };
        if estimate.ends.is_some() && (*windows || !cause::throttled_on_one_side(a, b)) {
            let workload = a.workload.as_str();
            let threads = compared.cpus.is_none().then(|| a.params.threads());
            let log = speed(a.better, estimate.ratio.median);
            out.entry(a.subsystem).or_default().push(Speed { workload, threads, log });
        }
    }
    out
}

struct Judge<'a> {
    a: Named<'a>,
    b: Named<'a>,
    /// Rows of A's first screen.
    rows: Vec<MainResult<'a>>,
    /// Results of A that have a pair of their own instruction set, or none, and whether that is of
    /// all CPUs of each. That of the best sets takes no row from them.
    of_same_set: BTreeSet<(*const Measurement, bool)>,
    /// Results of A that have a pair of all CPUs of each.
    on_all: BTreeSet<*const Measurement>,
    /// The numbers of CPUs of A and of B, if they differ.
    cpus: Option<[u64; 2]>,
    names: Names<'a>,
    margins: Margins,
    /// Margins of delivered figures next to another headline.
    delivered_margins: Margins,
    facts: &'a [Fact],
    /// True if both machines are virtual.
    are_virtual: bool,
    /// True if both runs are of one machine.
    same_machine: bool,
}

impl Judge<'_> {
    fn point(&self, pair: &Pair, compared: Result<Compared, NotCompared>) -> ComparedPoint {
        let alone = Match::default();
        let (m, in_a, in_b, how) = match pair {
            Pair::Both(a, b, how) => (a, Some(*a), Some(*b), how),
            Pair::OnlyA(m) => (m, Some(*m), None, &alone),
            Pair::OnlyB(m) => (m, None, Some(*m), &alone),
        };
        let spec = spec_of([self.a.run, self.b.run], &m.workload);
        let judged = compared.map(|c| {
            let delivered =
                c.delivered.as_ref().map(|d| self.judge(&c, d, &self.delivered_margins));
            (self.judge(&c, &c.headline, &self.margins), delivered)
        });
        let (reason, left_out) = match &judged {
            Ok((headline, delivered)) => (reason::both(headline, delivered.as_ref()), None),
            Err(why) => (why.reason.clone(), why.left_out),
        };
        let disturbances = match &judged {
            Ok((headline, delivered)) => reason::disturbances(headline, delivered.as_ref()),
            Err(_) => Vec::new(),
        };
        let (headline, delivered) = judged.map_or((None, None), |(h, d)| (Some(h), d));
        let reason = self.with_match(reason, how);
        let number =
            |m: &Measurement| Some(Number { summary: m.summary.clone()?, verdict: m.verdict });
        let is_of_a_part = how.cpus.is_none()
            && self.cpus.is_some_and(|cpus| {
                all_cpus::is_of_a_part((m.subsystem, m.better), &m.params, cpus)
            });
        let prices = [self.a, self.b].map(|side| side.price.filter(|_| !is_of_a_part));
        ComparedPoint {
            workload: clean(&m.workload),
            name: shared_name(self.names.name(m), m, how),
            row: in_a.and_then(|m| self.row(m, how)),
            subsystem: m.subsystem,
            params: m.params.clone(),
            unit: m.unit,
            random: spec.is_some_and(|s| s.work.is_random()),
            better: m.better,
            a: in_a.and_then(number),
            b: in_b.and_then(number),
            figure: headline.as_ref().map(|h| h.kind),
            per_price: prices::per_price(prices, [in_a, in_b], &headline, &delivered),
            headline: headline.map(|h| h.figure),
            delivered: delivered.map(|d| d.figure),
            best_of_each: how.best.clone(),
            all_cpus: how.cpus,
            percentiles: percentiles::compared([in_a, in_b]),
            left_out,
            disturbances,
            reason: clean_excerpt(&reason, LONGEST),
        }
    }

    /// Place and title of a result of A on its first screen. The title has what A and B share.
    fn row(&self, m: &Measurement, how: &Match) -> Option<ComparedRow> {
        let (own, on_all) = (std::ptr::from_ref(m), how.cpus.is_some());
        if how.best.is_some() && self.of_same_set.contains(&(own, on_all)) {
            return None;
        }
        let place = self.rows.iter().position(|r| std::ptr::eq(r.measurement, m))?;
        // The row of all CPUs is for the pair of all; that of one CPU may be the same result.
        if !on_all && self.on_all.contains(&own) && !all_cpus::is_row_of_one(self.rows[place].row?)
        {
            return None;
        }
        let title = self.rows[place].title(self.a.run)?;
        Some(ComparedRow { place, title: shared_name(title, m, how) })
    }

    /// Adds to a reason how the two results were matched.
    fn with_match(&self, reason: String, how: &Match) -> String {
        let mut out = reason;
        if let Some([of_a, of_b]) = &how.best {
            let (a, b) = (self.a.letter, self.b.letter);
            out += &format!("; best instruction set of each: {of_a} in {a}, {of_b} in {b}");
        }
        if let Some(cpus) = how.cpus {
            let letters = [self.a.letter, self.b.letter];
            out += &format!("; all CPUs of each: {}", all_cpus::words(cpus, letters));
        }
        if !how.sizes.is_empty() {
            out += &format!("; set by the machines: {}", how.sizes);
        }
        out
    }

    /// Judges one figure.
    fn judge(&self, compared: &Compared, figure: &Figured, margins: &Margins) -> JudgedFigure {
        let (a, b, estimate) = (compared.a, compared.b, &figure.estimate);
        let share = margins.for_result(a, b, figure);
        let margin = Margin { share, is_given: margins.is_given() };
        let hidden = margins.hidden(a, b, figure);
        let Decided { outcome, why, by_placement, disturbances } =
            self.decide(compared, figure, margin, hidden);
        let compared = outcome != Comparability::NotComparable;
        let resolution = resolution(a.better, figure, share).filter(|_| compared);
        let compared_figure = ComparedFigure {
            value: figure.value,
            ratio: estimate.ratio.clone(),
            margin: share,
            margin_given: margin.is_given,
            resolution,
            outcome,
        };
        let ends = estimate.ends;
        let (kind, better) = (figure.kind, a.better);
        let figure = compared_figure;
        JudgedFigure { kind, better, figure, ends, why, by_placement, disturbances }
    }
}

/// A title or name of a result of A without what B has otherwise: its instruction set, and its number
/// of CPUs.
fn shared_name(text: String, m: &Measurement, how: &Match) -> String {
    let text = match &how.best {
        Some([set, _]) => without_part(&text, set),
        None => text,
    };
    if how.cpus.is_some() { all_cpus::named(&text, m) } else { text }
}

/// A title or name without one of its parts, such as an instruction set.
fn without_part(text: &str, part: &str) -> String {
    text.split(", ").filter(|one| *one != part).collect::<Vec<_>>().join(", ")
}

/// Slowdown of B from which it would be reported as slower. The noise reaches from the ratio to the
/// end of the interval at which a slowdown shows, or to the ratio of the figures beyond it.
fn resolution(better: Better, figure: &Figured, margin: f64) -> Option<f64> {
    let (value, middle) = (figure.value, figure.estimate.ratio.median);
    let [low, high] = figure.estimate.ends?;
    let reach = match better {
        Better::Higher => high.max(value) / middle,
        Better::Lower => middle / low.min(value),
    };
    Some(1.0 - margin_bounds(margin)[0] / reach).filter(|share| share.is_finite())
}
