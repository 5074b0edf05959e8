//! The comparison in one sentence: for each subsystem what B delivers of A.
//!
//! It is about the main results of A; of a run without any, about all. A ratio counts if both
//! results are undoubted and the interval decides: it is beyond the margin, or wholly within it. Of
//! others a difference is possible, or they are undecided, in the words of the counts. Results that
//! are suspect, invalid, missing or not comparable are left out, and counted.

use std::collections::BTreeSet;

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedPoint, FigureKind, Number, PerPrice, Side,
    Subsystem, Verdict, and_list, clean_excerpt, counted,
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
    /// The interval is beyond the margin; with the kind of the figure.
    Differs(f64, FigureKind),
    /// The interval is within the margin.
    Alike(f64, FigureKind),
    /// The interval reaches beyond the margin: no difference is shown, but one is possible.
    Possible,
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
        let headline_kind = p.figure.unwrap_or(FigureKind::Delivered);
        let [first, last] = match &p.delivered {
            Some(d) => [(headline_kind, headline), (FigureKind::Delivered, d)],
            None => [(headline_kind, headline); 2],
        };
        match p.deciding() {
            _ if p.undecided() => Self::Undecided,
            Some((kind, figure)) if figure.outcome.differs() => Self::Differs(speed(figure), kind),
            _ if [first, last].iter().all(|(_, f)| f.is_within_margin()) => {
                Self::Alike(speed(last.1), last.0)
            }
            _ => Self::Possible,
        }
    }

    fn speed(self) -> Option<f64> {
        self.figure().map(|(speed, _)| speed)
    }

    /// The speed, and the kind of its figure.
    fn figure(self) -> Option<(f64, FigureKind)> {
        match self {
            Self::Differs(speed, kind) | Self::Alike(speed, kind) => Some((speed, kind)),
            Self::Possible | Self::Undecided | Self::LeftOut => None,
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

    /// Returns `0.58 to 0.62 of A's CPU (2 of 3 results)`, of the figures that are delivered or
    /// not, if one of them differs. Of an undisturbed figure: `0.80 of A's undisturbed CPU`.
    fn range(&self, a: char, delivered: bool) -> Option<String> {
        let wanted = |kind| (kind == FigureKind::Delivered) == delivered;
        let all = self.said.iter().map(|(_, said)| *said);
        let all: Vec<Said> = all.filter(|s| s.figure().is_some_and(|f| wanted(f.1))).collect();
        let speeds: Vec<f64> = all.iter().filter_map(|said| said.speed()).collect();
        let what = if delivered { "" } else { "undisturbed " };
        let any = all.iter().any(|said| matches!(said, Said::Differs(..)));
        any.then(|| format!("{} of {a}'s {what}{}", range(&speeds), self.named(speeds.len())))
    }

    /// Returns `memory`, or `memory (2 of 3 results)` where so many of them count.
    fn named(&self, decided: usize) -> String {
        match self.said.len() {
            n if decided < n => format!("{} ({decided} of {n} results)", self.word),
            _ => self.word.to_owned(),
        }
    }

    /// What is said of it where no result decides.
    fn open(&self) -> Option<Said> {
        let is = |one: &Said| self.said.iter().any(|(_, said)| said == one);
        let open = [Said::Undecided, Said::Possible].into_iter().find(is);
        self.speeds().is_empty().then(|| open.unwrap_or(Said::LeftOut))
    }
}

/// Returns what B delivers and what it reaches undisturbed, where it does not differ, and where that
/// is open.
fn speeds(parts: &[Part], a: char, b: char) -> Option<String> {
    let ranges = |delivered| parts.iter().filter_map(move |p| p.range(a, delivered));
    let ranges = [true, false].map(|delivered| ranges(delivered).collect::<Vec<_>>());
    let verbs = ["delivers", "reaches"].iter().zip(&ranges).filter(|(_, all)| !all.is_empty());
    let verbs: Vec<String> = verbs.map(|(verb, all)| format!("{verb} {}", and_list(all))).collect();
    let shown = (!verbs.is_empty()).then(|| format!("{b} {}", verbs.join(", and ")));
    let alike = parts.iter().filter(|p| !p.differs() && !p.speeds().is_empty());
    let alike: Vec<String> = alike.map(|p| p.named(p.speeds().len())).collect();
    let open = |said| {
        let words = parts.iter().filter(|p| p.open() == Some(said)).map(|p| p.word.to_owned());
        Some(and_list(words.collect::<Vec<_>>())).filter(|words| !words.is_empty())
    };
    let alike = (!alike.is_empty()).then(|| match shown {
        None => format!("No difference between {a} and {b} is shown in {}", and_list(&alike)),
        Some(_) => format!("no difference shown in {}", and_list(&alike)),
    });
    let first = shown.is_none() && alike.is_none();
    let possible = open(Said::Possible).map(|words| match first {
        true => {
            format!("No difference between {a} and {b} is shown in {words}, but one is possible")
        }
        false => format!("none shown in {words}, but possible"),
    });
    let first = first && possible.is_none();
    let undecided = open(Said::Undecided).map(|words| match first {
        true => format!("Whether {a} or {b} is faster is undecided in {words}"),
        false => format!("{words} undecided"),
    });
    let first = first && undecided.is_none();
    let left_out = open(Said::LeftOut).map(|words| match first {
        true => format!("No result counts in {words}"),
        false => format!("no result counts in {words}"),
    });
    let texts: Vec<String> =
        [shown, alike, possible, undecided, left_out].into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Returns `per unit of money B delivers 1.4 of A's CPU`, of the results that count. Times and
/// clocks have no such figure.
fn per_price(parts: &[Part], a: &Side, b: &Side) -> Option<String> {
    a.price.as_ref().and(b.price.as_ref())?;
    let each = parts.iter().filter_map(|part| {
        let counted = part.said.iter().filter(|(_, said)| said.speed().is_some());
        let figures: Vec<&PerPrice> = counted.filter_map(|(p, _)| p.per_price.as_ref()).collect();
        let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
        let delivered = figures.iter().all(|figure| figure.figure == FigureKind::Delivered);
        (!values.is_empty())
            .then(|| (format!("{} of {}'s {}", range(&values), a.letter, part.word), delivered))
    });
    let (each, delivered): (Vec<String>, Vec<bool>) = each.unzip();
    let verb = if delivered.iter().all(|is| *is) { "delivers" } else { "has" };
    Some(match each.is_empty() {
        true => "nothing is decided per unit of money".to_owned(),
        false => format!("per unit of money {} {verb} {}", b.letter, and_list(&each)),
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
        () if p.change() == Comparability::NotComparable => NOT_COMPARABLE,
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
