//! The comparison in one sentence: for each subsystem what B delivers of A.
//!
//! It is about the main results of A; of a run without any, about all. A ratio counts if both
//! results are undoubted and the interval decides: it is beyond the margin, or wholly within it. The
//! others are undecided. Results that are suspect, invalid, missing or not comparable are left out,
//! and counted.

use std::collections::BTreeSet;

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedPoint, Number, Side, Subsystem, Verdict,
    and_list, clean_excerpt, counted,
};

/// Most characters of the list of instruction sets.
const LONGEST_LIST: usize = 120;

/// Writes the sentence. `lacked` has the instruction sets of results of A and of B that are left
/// out since the other CPU lacks them.
pub(super) fn write(
    points: &[ComparedPoint],
    a: &Side,
    b: &Side,
    lacked: &[Vec<&str>; 2],
) -> String {
    let rows = points.iter().any(|p| p.row.is_some());
    let of_a = points.iter().filter(|p| p.a.is_some() || p.b.is_some());
    let all: Vec<&ComparedPoint> =
        of_a.filter(|p| if rows { p.row.is_some() } else { p.a.is_some() }).collect();
    let main = if rows { "main result" } else { "result" };
    if all.is_empty() {
        return format!("{} and {} have no result in common.", a.letter, b.letter);
    }
    let parts: Vec<Part> =
        Subsystem::KNOWN.iter().filter_map(|subsystem| Part::collect(*subsystem, &all)).collect();
    let each = [
        speeds(&parts, a.letter, b.letter),
        per_price(&parts, a, b),
        best_of_each(&all),
        sets_left_out(lacked, [a.letter, b.letter]),
        left_out(&all, main),
    ];
    let text: Vec<String> = each.into_iter().flatten().collect();
    format!("{}.", text.join("; "))
}

/// What a result says about the speed of B relative to A.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Said {
    /// The interval is beyond the margin; true for a figure without taken time, whose delivered
    /// figure does not differ.
    Differs(f64, bool),
    /// The interval is within the margin.
    Alike(f64),
    Undecided,
    LeftOut,
}

impl Said {
    fn read(p: &ComparedPoint) -> Self {
        let Some(headline) = p.headline.as_ref().filter(|_| why_left_out(p).is_none()) else {
            return Self::LeftOut;
        };
        let speed = |f: &ComparedFigure| match p.better {
            Better::Higher => f.value,
            Better::Lower => f.value.recip(),
        };
        match &p.delivered {
            Some(d) if d.outcome.differs() => Self::Differs(speed(d), false),
            d if headline.outcome.differs() => Self::Differs(speed(headline), d.is_some()),
            d if [Some(headline), d.as_ref()]
                .into_iter()
                .flatten()
                .all(|f| f.is_within_margin()) =>
            {
                Self::Alike(speed(d.as_ref().unwrap_or(headline)))
            }
            _ => Self::Undecided,
        }
    }

    fn speed(self) -> Option<f64> {
        match self {
            Self::Differs(speed, _) | Self::Alike(speed) => Some(speed),
            Self::Undecided | Self::LeftOut => None,
        }
    }
}

/// What the results of a subsystem say.
struct Part<'a> {
    word: &'static str,
    said: Vec<(&'a ComparedPoint, Said)>,
}

impl<'a> Part<'a> {
    fn collect(subsystem: Subsystem, all: &[&'a ComparedPoint]) -> Option<Self> {
        let here = all.iter().filter(|p| p.subsystem == subsystem);
        let said: Vec<_> = here.map(|p| (*p, Said::read(p))).collect();
        (!said.is_empty()).then(|| Self { word: subsystem.info().word, said })
    }

    fn speeds(&self) -> Vec<f64> {
        self.said.iter().filter_map(|(_, said)| said.speed()).collect()
    }

    fn differs(&self) -> bool {
        self.said.iter().any(|(_, said)| matches!(said, Said::Differs(..)))
    }

    /// Returns `0.58 to 0.62 of A's CPU (2 of 3 results, 1 undisturbed)`; `of` is `of A's`. Where
    /// all are undisturbed: `0.80 of A's undisturbed CPU`.
    fn range(&self, of: &str) -> String {
        let speeds = self.speeds();
        let is_undisturbed = |said: &Said| matches!(said, Said::Differs(_, true));
        let undisturbed = self.said.iter().filter(|(_, said)| is_undisturbed(said)).count();
        let (what, some) = match undisturbed {
            0 => ("", None),
            n if n == speeds.len() => ("undisturbed ", None),
            n => ("", Some(format!("{n} undisturbed"))),
        };
        format!("{} {of} {what}{}", range(&speeds), self.named(some))
    }

    /// Returns `memory`, or `memory (2 of 3 results)` where others are undecided. `more` follows
    /// in the parentheses.
    fn named(&self, more: Option<String>) -> String {
        let (decided, n) = (self.speeds().len(), self.said.len());
        let count = (decided < n).then(|| format!("{decided} of {n} results"));
        let notes: Vec<String> = [count, more].into_iter().flatten().collect();
        match notes.is_empty() {
            true => self.word.to_owned(),
            false => format!("{} ({})", self.word, notes.join(", ")),
        }
    }
}

/// Returns what B delivers, where it does not differ, and where that is undecided.
fn speeds(parts: &[Part], a: char, b: char) -> Option<String> {
    let differing: Vec<String> =
        parts.iter().filter(|p| p.differs()).map(|p| p.range(&format!("of {a}'s"))).collect();
    let alike = parts.iter().filter(|p| !p.differs() && !p.speeds().is_empty());
    let alike: Vec<String> = alike.map(|p| p.named(None)).collect();
    let undecided = parts.iter().filter(|p| p.speeds().is_empty());
    let undecided: Vec<String> = undecided.map(|p| p.word.to_owned()).collect();
    let texts = [
        (!differing.is_empty()).then(|| format!("{b} delivers {}", and_list(&differing))),
        (!alike.is_empty()).then(|| match differing.is_empty() {
            true => format!("No difference between {a} and {b} is shown in {}", and_list(&alike)),
            false => format!("no difference shown in {}", and_list(&alike)),
        }),
        (!undecided.is_empty()).then(|| match differing.is_empty() && alike.is_empty() {
            true => {
                format!("Whether {a} or {b} is faster is undecided in {}", and_list(&undecided))
            }
            false => format!("{} undecided", and_list(&undecided)),
        }),
    ];
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Returns `per unit of money B delivers 1.4 of A's CPU`, of the results that count. Times and
/// clocks have no such figure.
fn per_price(parts: &[Part], a: &Side, b: &Side) -> Option<String> {
    a.price.as_ref().and(b.price.as_ref())?;
    let each = parts.iter().filter_map(|part| {
        let counted = part.said.iter().filter(|(_, said)| said.speed().is_some());
        let values: Vec<f64> =
            counted.filter_map(|(p, _)| Some(p.per_price.as_ref()?.value)).collect();
        (!values.is_empty()).then(|| (range(&values), part.word))
    });
    let each: Vec<String> =
        each.map(|(range, word)| format!("{range} of {}'s {word}", a.letter)).collect();
    Some(match each.is_empty() {
        true => "nothing is decided per unit of money".to_owned(),
        false => format!("per unit of money {} delivers {}", b.letter, and_list(&each)),
    })
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
    let named = clean_excerpt(&named.collect::<Vec<_>>().join(", "), LONGEST_LIST);
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
const NOT_COMPARABLE: &str = "not comparable";
const REASONS: [&str; 4] = [SUSPECT, INVALID, MISSING, NOT_COMPARABLE];

/// The reason to leave a result out; `None` if its ratio counts.
fn why_left_out(p: &ComparedPoint) -> Option<&'static str> {
    let worst = |is: fn(&Number) -> bool| [&p.a, &p.b].into_iter().flatten().any(is);
    Some(match () {
        () if p.a.is_none() || p.b.is_none() => MISSING,
        () if worst(|n| n.verdict == Verdict::Invalid) => INVALID,
        () if worst(|n| n.verdict == Verdict::NotRun) => MISSING,
        () if worst(|n| n.verdict == Verdict::Suspect) => SUSPECT,
        () if p.outcome() == Comparability::NotComparable => NOT_COMPARABLE,
        () => return None,
    })
}

/// Returns the range of speeds: `0.58 to 0.62`, or one number where both ends print alike.
fn range(speeds: &[f64]) -> String {
    let low = speeds.iter().copied().fold(f64::INFINITY, f64::min);
    let high = speeds.iter().copied().fold(0.0, f64::max);
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
