//! The comparison in one sentence: for each subsystem what B delivers of A.
//!
//! It is about the main results of A; of a run without any, about all. A ratio counts if both
//! results are undoubted and a difference is shown: the interval is beyond the margin. Within the
//! margin no difference is shown, however wide it is. Of others B is perhaps slower or faster, if
//! the whole interval is on one side of 1; else a difference is possible, or they are undecided.
//! Each subsystem has one place in the sentence, by the most that is said of it; the rest is in
//! parentheses behind it. One result that stands for several is named. Results that are suspect,
//! invalid, missing, not measured or not comparable are left out, and counted. Each figure is that of
//! a row: a time is not inverted. What is said per unit of money is about the rates by which the same
//! was said of the figures, and of no other results.

use std::collections::BTreeSet;

use proofmark_model::{
    Better, Comparability, ComparedPoint, FigureKind, Leaning, Number, Side, Subsystem, Toward,
    Verdict, and_list, clean_excerpt, counted,
};

use super::all_cpus::{of_whole_machines, words};

/// Most characters of a list of instruction sets, or of a result's name.
const LONGEST: usize = 120;

/// Writes the sentence. `lacked` has the instruction sets of results of A and of B that are left
/// out since the other CPU lacks them.
pub(super) fn write(
    points: &[ComparedPoint],
    [a, b]: [&Side; 2],
    lacked: &[Vec<&str>; 2],
) -> String {
    let rows = points.iter().any(|p| p.is_main());
    let of_a = points.iter().filter(|p| p.a.is_some() || p.b.is_some());
    let all: Vec<&ComparedPoint> =
        of_a.filter(|p| if rows { p.is_main() } else { p.a.is_some() }).collect();
    let main = if rows { "main result" } else { "result" };
    let (all, cpus) = of_whole_machines(all);
    if all.is_empty() {
        return format!("{} and {} have no result in common.", a.letter, b.letter);
    }
    let parts: Vec<Part> =
        Subsystem::KNOWN.iter().filter_map(|subsystem| Part::collect(*subsystem, &all)).collect();
    let each = [
        speeds(&parts, a.letter, b.letter),
        means(points, [a.letter, b.letter]),
        per_price(&parts, a, b),
        cpus.map(|cpus| all_cpus(cpus, [a.letter, b.letter])),
        best_of_each(&all),
        sets_left_out(lacked, [a.letter, b.letter]),
        left_out(&all, main),
    ];
    let text: Vec<String> = each.into_iter().flatten().collect();
    format!("{}.", text.join("; "))
}

fn all_cpus(cpus: [u64; 2], letters: [char; 2]) -> String {
    let counts = words(cpus, letters);
    format!("the CPU counts differ ({counts}), so the results on all CPUs of each are compared")
}

/// What a result says about B relative to A.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Said {
    /// The interval is beyond the margin: B / A, with the kind of the figure.
    Differs(f64, FigureKind),
    /// The interval reaches beyond the margin, and B is worse or better in all of it.
    Perhaps(Toward),
    /// The interval is within the margin.
    Alike,
    Undecided,
    /// The interval contains 1 and reaches beyond the margin, or there is none.
    Possible,
    LeftOut,
}

/// What may be said of a subsystem without a difference, the most first.
const WITHOUT_DIFFERENCE: [Said; 6] = [
    Said::Perhaps(Toward::Slower),
    Said::Perhaps(Toward::Faster),
    Said::Alike,
    Said::Undecided,
    Said::Possible,
    Said::LeftOut,
];

impl Said {
    fn read(p: &ComparedPoint) -> Self {
        let Some(headline) = p.headline.as_ref().filter(|_| why_left_out(p).is_none()) else {
            return Self::LeftOut;
        };
        let mut figures = [headline].into_iter().chain(&p.delivered);
        match p.deciding() {
            _ if p.undecided() => Self::Undecided,
            Some((kind, figure)) if figure.outcome.differs() => Self::Differs(figure.value, kind),
            _ if figures.all(|f| f.leaning(p.better).is_some_and(Leaning::is_within_margin)) => {
                Self::Alike
            }
            _ => p.perhaps().map_or(Self::Possible, Self::Perhaps),
        }
    }

    /// What the ratio per unit of money says, which the figures may leave open.
    fn read_price(p: &ComparedPoint) -> Self {
        match p.per_price.as_ref().filter(|_| why_left_out(p).is_none()) {
            None => Self::LeftOut,
            Some(money) if money.compared.outcome == Comparability::Undecided => Self::Undecided,
            Some(money) => match money.leaning() {
                None => Self::Differs(money.compared.value, money.figure),
                Some(Leaning::Perhaps(toward)) => Self::Perhaps(toward),
                Some(leaning) if leaning.is_within_margin() => Self::Alike,
                Some(_) => Self::Possible,
            },
        }
    }

    fn differs(&self) -> bool {
        matches!(self, Self::Differs(..))
    }

    /// The words behind a subsystem of which more is said: `perhaps slower in 1`.
    fn besides(self, n: usize) -> Option<String> {
        Some(match self {
            Self::Perhaps(toward) => format!("perhaps {} in {n}", toward.as_str()),
            Self::Alike => format!("no difference shown in {n}"),
            Self::Undecided => format!("{n} undecided"),
            Self::Differs(..) | Self::Possible | Self::LeftOut => return None,
        })
    }
}

/// What the results of a subsystem say.
struct Part<'a> {
    word: &'static str,
    said: Vec<(&'a ComparedPoint, Said)>,
    /// What the suspect results show, which are left out: `2 suspect results are slower`.
    suspects: Vec<String>,
}

/// A kind of range: the verb, true if it is of delivered figures, and what is better.
type RangeKind = (&'static str, bool, Better);

const RANGES: [RangeKind; 4] = [
    ("delivers", true, Better::Higher),
    ("reaches", false, Better::Higher),
    ("takes", true, Better::Lower),
    ("takes", false, Better::Lower),
];

impl<'a> Part<'a> {
    fn collect(subsystem: Subsystem, all: &[&'a ComparedPoint]) -> Option<Self> {
        let here = || all.iter().copied().filter(|p| p.subsystem == subsystem);
        let said: Vec<_> = here().map(|p| (p, Said::read(p))).collect();
        let suspects = [Comparability::Slower, Comparability::Faster].into_iter().filter_map(|o| {
            let n = here().filter(|p| p.change() == o && why_left_out(p) == Some(SUSPECT)).count();
            let is = if n == 1 { "is" } else { "are" };
            let results = counted(n as u64, "suspect result");
            (n > 0).then(|| format!("{results} {is} {}", o.as_str()))
        });
        let suspects = suspects.collect();
        (!said.is_empty()).then(|| Self { word: subsystem.info().word, said, suspects })
    }

    /// What the rates say per unit of money; times and clocks have no such figure. They are the rates
    /// of which most is said: those that differ, or else those of the first other statement.
    fn priced(&self) -> Self {
        let rates = || self.said.iter().filter(|(p, _)| is_rate(p));
        let says = |said: &Said| rates().any(|(_, one)| one == said);
        let differ = rates().any(|(_, said)| said.differs());
        let most = WITHOUT_DIFFERENCE.into_iter().find(says).filter(|_| !differ);
        let same = rates().filter(|(_, said)| most.map_or(said.differs(), |most| *said == most));
        let said = same.map(|(p, _)| (*p, Said::read_price(p))).collect();
        Self { word: self.word, said, suspects: Vec::new() }
    }

    fn count(&self, is: impl Fn(&Said) -> bool) -> usize {
        self.said.iter().filter(|(_, said)| is(said)).count()
    }

    fn differs(&self) -> bool {
        self.count(Said::differs) > 0
    }

    /// The ratios that differ, of one kind, with their results.
    fn ratios(&self, (_, delivered, better): RangeKind) -> Vec<(&'a ComparedPoint, f64)> {
        let here = self.said.iter().filter(|(p, _)| p.better == better);
        let ratio = |(p, said): &(&'a ComparedPoint, Said)| match said {
            Said::Differs(ratio, kind) => {
                Some((*p, *ratio)).filter(|_| (*kind == FigureKind::Delivered) == delivered)
            }
            _ => None,
        };
        here.filter_map(ratio).collect()
    }

    /// Returns `0.58 to 0.62 of A's CPU (2 of 3 results)`, of the rates or times that differ by
    /// delivered figures or by others. Of an undisturbed figure: `0.80 of A's undisturbed CPU`; of a
    /// time: `1.50 of A's time in memory`. The first range has the rest that is said.
    fn range(&self, a: char, kind: RangeKind) -> Option<String> {
        let ratios = self.ratios(kind);
        let what = match kind {
            (_, true, Better::Higher) => "",
            (_, false, Better::Higher) => "undisturbed ",
            (_, true, Better::Lower) => "time in ",
            (_, false, Better::Lower) => "undisturbed time in ",
        };
        let first = RANGES.into_iter().find(|kind| !self.ratios(*kind).is_empty());
        let (results, ratios): (Vec<_>, Vec<f64>) = ratios.into_iter().unzip();
        let named = self.named(&results, first == Some(kind), Said::differs);
        (!ratios.is_empty()).then(|| format!("{} of {a}'s {what}{named}", range(&ratios)))
    }

    /// Returns `memory (2 of 3 results; perhaps slower in 1)`: how many say it, or which one, and with
    /// `rest` what the others say.
    fn named(&self, these: &[&ComparedPoint], rest: bool, is: impl Fn(&Said) -> bool) -> String {
        let all = self.said.len();
        let count = match these {
            [] => None,
            [one] if all > 1 => Some(format!("1 of {all} results: {}", name(one))),
            _ => (these.len() < all).then(|| format!("{} of {all} results", these.len())),
        };
        let others = WITHOUT_DIFFERENCE.into_iter().filter(|said| !is(said)).filter_map(|said| {
            let n = self.count(|one| *one == said);
            said.besides(n).filter(|_| n > 0)
        });
        let others = others.chain(self.suspects.iter().cloned()).filter(|_| rest);
        match count.into_iter().chain(others).collect::<Vec<_>>().join("; ") {
            none if none.is_empty() => self.word.to_owned(),
            more => format!("{} ({more})", self.word),
        }
    }

    /// Returns the subsystem where that is the most that is said of it.
    fn named_if(&self, said: Said) -> Option<String> {
        let most = WITHOUT_DIFFERENCE.into_iter().find(|one| self.count(|s| s == one) > 0);
        // A count of open results says nothing.
        let is_counted = matches!(said, Said::Perhaps(_) | Said::Alike);
        let these = self.said.iter().filter(|(_, s)| is_counted && *s == said).map(|(p, _)| *p);
        let these: Vec<&ComparedPoint> = these.collect();
        (!self.differs() && most == Some(said)).then(|| self.named(&these, true, |s| *s == said))
    }
}

/// The subsystems with a difference, by verb: `delivers 0.50 of A's CPU, and takes 2.0 of A's time
/// in memory`.
fn ranges(parts: &[Part], a: char) -> Option<String> {
    let verbs = RANGES.map(|kind| {
        let each = parts.iter().filter_map(|p| p.range(a, kind));
        list(each).map(|all| format!("{} {all}", kind.0))
    });
    let verbs: Vec<String> = verbs.into_iter().flatten().collect();
    (!verbs.is_empty()).then(|| verbs.join(", and "))
}

/// The subsystems of which that is the most that is said.
fn list_of(parts: &[Part], said: Said) -> Option<String> {
    list(parts.iter().filter_map(|p| p.named_if(said)))
}

/// Returns what B delivers and what it reaches undisturbed, where it does not differ, and where that
/// is open.
fn speeds(parts: &[Part], a: char, b: char) -> Option<String> {
    let shown = ranges(parts, a).map(|all| format!("{b} {all}"));
    // Each with the words around it as the first of the sentence, and as a later one.
    let between = format!("between {a} and {b} is shown in ");
    let none = format!("No difference {between}");
    let is_perhaps = |word| format!("{b} is perhaps {word} than {a} in ");
    let of = |said| list_of(parts, said);
    let sentences: [(Option<String>, [&str; 2], [&str; 2]); 7] = [
        (shown, ["", ""], ["", ""]),
        (of(Said::Alike), [&none, ""], ["no difference shown in ", ""]),
        (
            of(Said::Perhaps(Toward::Slower)),
            [&is_perhaps("slower"), ""],
            ["perhaps slower in ", ""],
        ),
        (
            of(Said::Perhaps(Toward::Faster)),
            [&is_perhaps("faster"), ""],
            ["perhaps faster in ", ""],
        ),
        (
            of(Said::Possible),
            [&none, ", but one is possible"],
            ["no difference shown in ", ", but one is possible"],
        ),
        (
            of(Said::Undecided),
            [&format!("Whether {a} or {b} is faster is undecided in "), ""],
            ["undecided in ", ""],
        ),
        (of(Said::LeftOut), ["No result counts in ", ""], ["no result counts in ", ""]),
    ];
    let all = sentences.into_iter().filter_map(|(what, first, later)| Some((what?, first, later)));
    let texts: Vec<String> = all
        .enumerate()
        .map(|(i, (what, first, later))| {
            let [before, after] = if i == 0 { first } else { later };
            format!("{before}{what}{after}")
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Returns `by the mean of all results, B has 0.91 of A's CPU`, of each mean that differs where no
/// single result does so.
fn means(points: &[ComparedPoint], [a, b]: [char; 2]) -> Option<String> {
    let alike = |p: &ComparedPoint, q: &ComparedPoint| {
        q.mean_of.is_none() && q.subsystem == p.subsystem && q.change() == p.change()
    };
    let each = points.iter().filter(|p| p.mean_of.is_some() && p.change().differs());
    let each = each.filter(|p| !points.iter().any(|q| alike(p, q)));
    let each = each.filter_map(|p| {
        let (kind, figure) = p.deciding()?;
        let undisturbed = match kind {
            FigureKind::Delivered => "",
            _ if p.delivered.is_none() => "",
            _ => "undisturbed ",
        };
        let word = p.subsystem.info().word;
        Some(format!("{} of {a}'s {undisturbed}{word}", two_digits(figure.value)))
    });
    list(each).map(|all| format!("by the mean of all results, {b} has {all}"))
}

/// Returns `CPU, memory and disk`; `None` for nothing.
fn list(each: impl Iterator<Item = String>) -> Option<String> {
    Some(and_list(each.collect::<Vec<_>>())).filter(|all| !all.is_empty())
}

/// Returns `per unit of money, of the same results, B delivers 1.4 of A's CPU, is perhaps slower in
/// memory, and shows no difference in disk`.
fn per_price(parts: &[Part], a: &Side, b: &Side) -> Option<String> {
    a.price.as_ref().and(b.price.as_ref())?;
    let parts: Vec<Part> = parts.iter().map(Part::priced).collect();
    let shown = ranges(&parts, a.letter);
    let than = if shown.is_some() { String::new() } else { format!("than {} ", a.letter) };
    let perhaps = |toward: Toward| {
        let places = list_of(&parts, Said::Perhaps(toward))?;
        Some(format!("is perhaps {} {than}in {places}", toward.as_str()))
    };
    let alike = list_of(&parts, Said::Alike).map(|all| format!("shows no difference in {all}"));
    let says = [shown, perhaps(Toward::Slower), perhaps(Toward::Faster), alike];
    let mut says: Vec<String> = says.into_iter().flatten().collect();
    // Of nothing but what is open there is a sentence of its own.
    let open = |said| list_of(&parts, said).filter(|_| !says.is_empty());
    let [possible, undecided] = [Said::Possible, Said::Undecided].map(open);
    says.extend(possible.map(|all| format!("shows no difference in {all}, but one is possible")));
    says.extend(undecided.map(|all| format!("is undecided in {all}")));
    Some(match says.is_empty() {
        true => "nothing is decided per unit of money".to_owned(),
        false => {
            let says = says.join(", and ");
            format!("per unit of money, of the same results, {} {says}", b.letter)
        }
    })
}

fn name(p: &ComparedPoint) -> String {
    clean_excerpt(&p.title, LONGEST)
}

/// Returns true if the result may have a figure per unit of money.
fn is_rate(p: &ComparedPoint) -> bool {
    p.better == Better::Higher && p.unit.is_work()
}

fn best_of_each(all: &[&ComparedPoint]) -> Option<String> {
    let any = all.iter().any(|p| p.best_of_each.is_some());
    any.then(|| "the instruction sets differ, so the best of each is compared".to_owned())
}

/// Returns `2 results are left out since the other CPU lacks their instruction set (avx2 in A, neon
/// in B)`.
fn sets_left_out(lacked: &[Vec<&str>; 2], letters: [char; 2]) -> Option<String> {
    let n: usize = lacked.iter().map(Vec::len).sum();
    let named = lacked.iter().zip(letters).filter(|(sets, _)| !sets.is_empty());
    let named = named.map(|(sets, letter)| {
        let sets: BTreeSet<&str> = sets.iter().copied().collect();
        format!("{} in {letter}", and_list(sets))
    });
    let named = clean_excerpt(&named.collect::<Vec<_>>().join(", "), LONGEST);
    let [is, their] = if n == 1 { ["is", "its"] } else { ["are", "their"] };
    let results = counted(n as u64, "result");
    (n > 0).then(|| {
        format!(
            "{results} {is} left out since the other CPU lacks {their} instruction set ({named})"
        )
    })
}

/// Returns `3 of 14 main results are left out: 2 suspect and 1 invalid`.
fn left_out(all: &[&ComparedPoint], main: &str) -> Option<String> {
    let why: Vec<&str> = all.iter().filter_map(|p| why_left_out(p)).collect();
    let count = |word: &&str| why.iter().filter(|one| *one == word).count();
    let named = REASONS.iter().filter(|word| count(word) > 0);
    let named: Vec<String> = named.map(|word| format!("{} {word}", count(word))).collect();
    let is = if why.len() == 1 { "is" } else { "are" };
    let of = counted(all.len() as u64, main);
    (!why.is_empty()).then(|| format!("{} of {of} {is} left out: {}", why.len(), and_list(&named)))
}

const SUSPECT: &str = "suspect";
const INVALID: &str = "invalid";
const MISSING: &str = "missing";
const NOT_MEASURED: &str = "not measured";
const NOT_COMPARABLE: &str = "not comparable";
const REASONS: [&str; 5] = [SUSPECT, INVALID, MISSING, NOT_MEASURED, NOT_COMPARABLE];

/// The reason to leave a result out; `None` if its ratio counts.
fn why_left_out(p: &ComparedPoint) -> Option<&'static str> {
    let worst = |is: fn(&Number) -> bool| [&p.a, &p.b].into_iter().flatten().any(is);
    Some(match () {
        () if p.left_out.is_some() => NOT_MEASURED,
        () if worst(|n| n.verdict == Verdict::Invalid) => INVALID,
        () if p.a.is_none() || p.b.is_none() => MISSING,
        () if worst(|n| n.verdict == Verdict::NotRun) => MISSING,
        () if worst(|n| n.verdict == Verdict::Suspect) => SUSPECT,
        () if p.change() == Comparability::NotComparable => NOT_COMPARABLE,
        () => return None,
    })
}

/// Returns the range of ratios: `0.58 to 0.62`, or one number where both ends print alike.
fn range(ratios: &[f64]) -> String {
    let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ratios.iter().copied().fold(0.0, f64::max);
    let [low, high] = [low, high].map(two_digits);
    if low == high { low } else { format!("{low} to {high}") }
}

/// Formats a ratio with two digits; near 1 with two decimals.
fn two_digits(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "-".to_owned(),
        r if r >= 9.95 => format!("{r:.0}"),
        r if r >= 1.995 => format!("{r:.1}"),
        r if r >= 0.0995 => format!("{r:.2}"),
        r if r >= 0.000_995 => format!("{r:.3}"),
        r => format!("{r:.1e}"),
    }
}
