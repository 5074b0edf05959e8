//! The comparison in one sentence: for each subsystem what B delivers of A.
//!
//! It is about the main results of A; of a run without any, about all. A ratio counts if both
//! results are undoubted and the interval decides: it is beyond the margin, or wholly within it. Of
//! others B is perhaps slower or faster, if the whole interval is on one side of 1; else a
//! difference is possible, or they are undecided. Results that are suspect, invalid, missing or not
//! comparable are left out, and counted. Each figure is that of a row: a time is not inverted.

use std::collections::BTreeSet;

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedPoint, FigureKind, Leaning, Number, PerPrice,
    Side, Subsystem, Toward, Verdict, and_list, clean_excerpt, counted,
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

/// What a result says about B relative to A.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Said {
    /// The interval is beyond the margin: B / A, with the kind of the figure.
    Differs(f64, FigureKind),
    /// The interval is within the margin.
    Alike(f64, FigureKind),
    /// The interval reaches beyond the margin, and B is worse or better in all of it.
    Perhaps(Toward),
    /// The interval contains 1 and reaches beyond the margin, or there is none.
    Possible,
    Undecided,
    LeftOut,
}

impl Said {
    fn read(p: &ComparedPoint) -> Self {
        let Some(headline) = p.headline.as_ref().filter(|_| why_left_out(p).is_none()) else {
            return Self::LeftOut;
        };
        let headline_kind = p.figure.unwrap_or(FigureKind::Delivered);
        let figures = match &p.delivered {
            Some(d) => [(headline_kind, headline), (FigureKind::Delivered, d)],
            None => [(headline_kind, headline); 2],
        };
        let [_, (last_kind, last)] = figures;
        match p.deciding() {
            _ if p.undecided() => Self::Undecided,
            Some((kind, figure)) if figure.outcome.differs() => Self::Differs(figure.value, kind),
            _ if figures.iter().all(|(_, f)| is_within_margin(p, f)) => {
                Self::Alike(last.value, last_kind)
            }
            _ => p.perhaps().map_or(Self::Possible, Self::Perhaps),
        }
    }

    /// B / A, and the kind of its figure.
    fn figure(self) -> Option<(f64, FigureKind)> {
        match self {
            Self::Differs(ratio, kind) | Self::Alike(ratio, kind) => Some((ratio, kind)),
            _ => None,
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

    fn count(&self, is: impl Fn(&Said) -> bool) -> usize {
        self.said.iter().filter(|(_, said)| is(said)).count()
    }

    fn differs(&self) -> bool {
        self.count(|said| matches!(said, Said::Differs(..))) > 0
    }

    /// Returns `0.58 to 0.62 of A's CPU (2 of 3 results)`, of the rates or times whose figures are
    /// delivered or not, if one of them differs. Of an undisturbed figure: `0.80 of A's undisturbed
    /// CPU`; of a time: `1.50 of A's time in memory`.
    fn range(&self, a: char, delivered: bool, better: Better) -> Option<String> {
        let wanted = |kind| (kind == FigureKind::Delivered) == delivered;
        let all = self.said.iter().filter(|(p, _)| p.better == better).map(|(_, said)| *said);
        let all: Vec<Said> = all.filter(|s| s.figure().is_some_and(|f| wanted(f.1))).collect();
        let ratios: Vec<f64> = all.iter().filter_map(|said| Some(said.figure()?.0)).collect();
        let what = match (delivered, better) {
            (true, Better::Higher) => "",
            (false, Better::Higher) => "undisturbed ",
            (true, Better::Lower) => "time in ",
            (false, Better::Lower) => "undisturbed time in ",
        };
        let any = all.iter().any(|said| matches!(said, Said::Differs(..)));
        any.then(|| format!("{} of {a}'s {what}{}", range(&ratios), self.named(ratios.len())))
    }

    fn named(&self, counted: usize) -> String {
        of_results(self.word, counted, self.said.len())
    }

    /// Returns true if that is said of it, and no result says more.
    fn is_open(&self, said: Said) -> bool {
        let more = self.count(|s| s.figure().is_some() || matches!(s, Said::Perhaps(_)));
        let open = [Said::Undecided, Said::Possible];
        let first = open.into_iter().find(|one| self.count(|s| s == one) > 0);
        more == 0 && first.unwrap_or(Said::LeftOut) == said
    }

    /// Returns `network`, or `network (2 suspect results are slower)` where such are left out.
    fn left_out(&self) -> String {
        let of = |outcome: Comparability| {
            let here = self
                .said
                .iter()
                .filter(|(p, _)| p.change() == outcome && why_left_out(p) == Some(SUSPECT));
            here.count()
        };
        let each = [Comparability::Slower, Comparability::Faster].map(|o| (of(o), o.as_str()));
        let each = each.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| {
            let is = if n == 1 { "is" } else { "are" };
            format!("{} {is} {word}", counted(n as u64, "suspect result"))
        });
        match each.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => self.word.to_owned(),
            some => format!("{} ({some})", self.word),
        }
    }
}

fn is_within_margin(p: &ComparedPoint, figure: &ComparedFigure) -> bool {
    figure.leaning(p.better).is_some_and(Leaning::is_within_margin)
}

/// Returns what B delivers and what it reaches undisturbed, where it does not differ, and where that
/// is open.
fn speeds(parts: &[Part], a: char, b: char) -> Option<String> {
    let kinds = [
        ("delivers", true, Better::Higher),
        ("reaches", false, Better::Higher),
        ("takes", true, Better::Lower),
        ("takes", false, Better::Lower),
    ];
    let verbs = kinds.map(|(verb, delivered, better)| {
        let each = parts.iter().filter_map(|p| p.range(a, delivered, better));
        (verb, each.collect::<Vec<String>>())
    });
    let verbs = verbs.into_iter().filter(|(_, all)| !all.is_empty());
    let verbs: Vec<String> =
        verbs.map(|(verb, all)| format!("{verb} {}", and_list(&all))).collect();
    let shown = (!verbs.is_empty()).then(|| format!("{b} {}", verbs.join(", and ")));
    let alike = parts.iter().filter(|p| !p.differs()).filter_map(|p| {
        let n = p.count(|said| said.figure().is_some());
        (n > 0).then(|| p.named(n))
    });
    let perhaps = |toward| {
        let said = Said::Perhaps(toward);
        let each = parts.iter().filter_map(move |p| {
            let n = p.count(|s| *s == said);
            (n > 0).then(|| p.named(n))
        });
        list(each)
    };
    let open = |said| parts.iter().filter(move |p| p.is_open(said));
    let words = |said| list(open(said).map(|p| p.word.to_owned()));
    // Each with the words around it as the first of the sentence, and as a later one.
    let between = format!("between {a} and {b} is shown in ");
    let none = format!("No difference {between}");
    let is_perhaps = |word| format!("{b} is perhaps {word} than {a} in ");
    let sentences: [(Option<String>, [&str; 2], [&str; 2]); 7] = [
        (shown, ["", ""], ["", ""]),
        (list(alike), [&none, ""], ["no difference shown in ", ""]),
        (perhaps(Toward::Slower), [&is_perhaps("slower"), ""], ["perhaps slower in ", ""]),
        (perhaps(Toward::Faster), [&is_perhaps("faster"), ""], ["perhaps faster in ", ""]),
        (
            words(Said::Possible),
            [&none, ", but one is possible"],
            ["none shown in ", ", but possible"],
        ),
        (
            words(Said::Undecided),
            [&format!("Whether {a} or {b} is faster is undecided in "), ""],
            ["", " undecided"],
        ),
        (
            list(open(Said::LeftOut).map(Part::left_out)),
            ["No result counts in ", ""],
            ["no result counts in ", ""],
        ),
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

/// Returns `CPU, memory and disk`; `None` for nothing.
fn list(each: impl Iterator<Item = String>) -> Option<String> {
    Some(and_list(each.collect::<Vec<_>>())).filter(|all| !all.is_empty())
}

/// Returns `per unit of money B delivers 1.4 of A's CPU, and is perhaps slower in memory`, of the
/// rates that count: what the ratio per unit of money shows, which the figures may leave open. Times
/// and clocks have no such figure.
fn per_price(parts: &[Part], a: &Side, b: &Side) -> Option<String> {
    a.price.as_ref().and(b.price.as_ref())?;
    let all: Vec<Priced> = parts.iter().map(Priced::collect).collect();
    let decided: Vec<String> = all.iter().filter_map(|part| part.range(a.letter)).collect();
    let is_delivered =
        all.iter().flat_map(|part| part.decided()).all(|m| m.figure == FigureKind::Delivered);
    let verb = if is_delivered { "delivers" } else { "has" };
    let shown = (!decided.is_empty()).then(|| format!("{verb} {}", and_list(&decided)));
    let than = if shown.is_some() { String::new() } else { format!("than {} ", a.letter) };
    let perhaps = |toward: Toward| {
        let places = list(all.iter().filter_map(|part| part.perhaps(toward)))?;
        Some(format!("perhaps {} {than}in {places}", toward.as_str()))
    };
    let perhaps = list([Toward::Slower, Toward::Faster].into_iter().filter_map(perhaps));
    let perhaps = perhaps.map(|all| format!("is {all}"));
    let says: Vec<String> = shown.into_iter().chain(perhaps).collect();
    Some(match says.is_empty() {
        true => "nothing is decided per unit of money".to_owned(),
        false => format!("per unit of money {} {}", b.letter, says.join(", and ")),
    })
}

/// The rates of a subsystem that count, per unit of money.
struct Priced<'a> {
    word: &'static str,
    /// Number of its rates, with those that do not count.
    rates: usize,
    figures: Vec<&'a PerPrice>,
}

impl<'a> Priced<'a> {
    fn collect(part: &Part<'a>) -> Self {
        let rates = || part.said.iter().map(|(p, _)| *p).filter(|p| is_rate(p));
        let counted = rates().filter(|p| why_left_out(p).is_none());
        let figures = counted.filter_map(|p| p.per_price.as_ref()).collect();
        Self { word: part.word, rates: rates().count(), figures }
    }

    fn decided(&self) -> impl Iterator<Item = &'a PerPrice> {
        self.figures.iter().copied().filter(|m| m.is_decided())
    }

    /// Returns `1.4 of A's CPU (1 of 2 results)`; `None` if none is decided.
    fn range(&self, a: char) -> Option<String> {
        let values: Vec<f64> = self.decided().map(|m| m.value).collect();
        let named = self.named(values.len());
        (!values.is_empty()).then(|| format!("{} of {a}'s {named}", range(&values)))
    }

    /// Returns `CPU (1 of 2 results)`, where results are perhaps slower or faster.
    fn perhaps(&self, toward: Toward) -> Option<String> {
        let is_perhaps = |m: &&&PerPrice| m.leaning() == Some(Leaning::Perhaps(toward));
        let n = self.figures.iter().filter(is_perhaps).count();
        (n > 0).then(|| self.named(n))
    }

    fn named(&self, counted: usize) -> String {
        of_results(self.word, counted, self.rates)
    }
}

/// Returns `memory`, or `memory (2 of 3 results)` where so many of them count.
fn of_results(word: &str, counted: usize, all: usize) -> String {
    match counted < all {
        true => format!("{word} ({counted} of {all} results)"),
        false => word.to_owned(),
    }
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
