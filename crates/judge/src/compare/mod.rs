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
mod judge;
mod left_out;
mod margin;
mod means;
mod names;
mod pairs;
mod percentiles;
mod prices;
mod promise;
mod rank;
mod reason;
mod sentence;
mod several;
mod side_runs;
mod subsystems;
#[cfg(test)]
mod tests;
mod variance;
mod variation;

use std::borrow::Cow;
use std::collections::BTreeMap;

use proofmark_model::{
    Better, COMPARISON_SCHEMA, ComparedPoint, Comparison, Difference, Measurement, Price, Run,
    RunsSpan, Side, Subsystem, clean,
};

pub(crate) use circumstances::clock_under_load;
use comparable::{Compared, Figured, NotCompared};
use facts::Fact;
pub use facts::changes;
use instruction_sets::Matched;
use judge::Judge;
use margin::{Margins, Speed};
use means::Means;
pub(crate) use names::Names;
use pairs::Pair;
pub use several::Several;
use side_runs::SideRuns;
use variation::Prior;

/// Options of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Options {
    /// The margin of every result, a share such as 0.03. `None`: 2 % where the variation between runs
    /// is known, else derived by subsystem, from the differences between the results of both runs and
    /// from the variation within each.
    pub margin: Option<f64>,
}

/// A run and its source.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// The letter by which texts name it: A for the baseline.
    pub letter: char,
    /// File or id that it was read from.
    pub name: &'a str,
    /// The run; of several the one that stands for them.
    pub run: &'a Run,
    /// The runs that it stands for, the earliest first.
    pub runs: &'a [Run],
    /// Price of its machine.
    pub price: Option<&'a Price>,
}

impl<'a> Named<'a> {
    /// A run without a price.
    pub fn new(letter: char, name: &'a str, run: &'a Run) -> Self {
        Self { letter, name, run, runs: std::slice::from_ref(run), price: None }
    }

    /// Several runs without a price.
    pub fn several(letter: char, name: &'a str, several: &'a Several) -> Self {
        Self { letter, name, run: several.merged(), runs: several.runs(), price: None }
    }
}

/// Compares B with A.
pub fn compare(a: Named, b: Named, options: Options) -> Comparison {
    let facts = all_facts(a.run, b.run);
    let names = Names::collect(a.run, b.run);
    let mut ranks = rank::Ranks::default();
    let (runs, letters) = ([a.run, b.run], [a.letter, b.letter]);
    let matched = matched(runs, letters);
    let sides = [a.runs, b.runs].map(SideRuns::new);
    let (sides, prior) = ([&sides[0], &sides[1]], Prior::new(a.run, b.run));
    let mut judged: Vec<(Pair, Result<Compared, NotCompared>)> = matched
        .pairs
        .into_iter()
        // What neither run measured is no result.
        .filter(Pair::has_figure)
        .map(|pair| {
            let compared = comparable::compared(runs, letters, &pair, (sides, prior), &mut ranks);
            (pair, compared)
        })
        .collect();
    let misses = comparable::widen(judged.iter_mut().filter_map(|(_, c)| c.as_mut().ok()));
    let margins =
        |figure: Which| Margins::new(runs, prior, &speeds(&judged, figure), options.margin);
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
    let same_machine = prior.same_machine;
    let facts = &facts;
    let of_subsystems = Means { sides, prior, cpus, margin: options.margin };
    let of_subsystems =
        of_subsystems.points(judged.iter().filter_map(|(_, compared)| compared.as_ref().ok()));
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
        misses,
        are_virtual,
        same_machine,
    };
    let mut points: Vec<ComparedPoint> =
        judged.into_iter().map(|(pair, compared)| judge.point(&pair, compared)).collect();
    let subsystems = subsystems::all(&points);
    points.extend(of_subsystems);
    let (a, b) = (side(a), side(b));
    Comparison {
        schema: Cow::Borrowed(COMPARISON_SCHEMA),
        sentence: sentence::write(&points, [&a, &b], &matched.left_out),
        between_runs: promise::write(&points, [a.letter, b.letter]),
        a,
        b,
        subsystems,
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
pub fn facts_that_differ(a: &Run, b: &Run) -> Vec<Difference> {
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
        group: match named.runs {
            [first, .., last] => Some(RunsSpan {
                runs: named.runs.len() as u64,
                first: first.started,
                last: last.started,
            }),
            _ => None,
        },
        version: clean(&run.tool.version),
        machine: run.machine_words(),
        profile: clean(&run.plan.profile),
        price: named.price.cloned(),
    }
}

/// Logarithm of B's speed over A's: above 0 where B is better.
pub(crate) fn speed(better: Better, ratio: f64) -> f64 {
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
