//! Why a tool may show another number, by what was recorded of both. Each cause is one function
//! that says nothing where its evidence lacks, or where it would move the ratio the other way.

use proofmark_model::{
    AUTO, Better, KnobKind, Measurement, Param, Params, Reference, Severity, Subsystem, Trial,
    Unit, format_seconds, format_size,
};

use crate::Context;
use crate::capacity::Capacity;
use crate::memory::{SIZES, Streams, array_bytes};
use crate::network::{connections, streams};
use crate::references::stand_in;
use crate::statistics::median;
use crate::words::times;

/// A tool that disagrees, and what it disagrees with.
pub(super) struct Pair<'a> {
    ctx: &'a Context<'a>,
    ours: &'a Measurement,
    tool: &'a Reference,
    /// The tool's trials, with our knobs where it tells none.
    theirs: Measurement,
    /// Ours / theirs.
    ratio: f64,
}

/// What a cause has to say.
pub(super) struct Told {
    pub(super) words: String,
    /// Whether no other cause needs to be looked for.
    pub(super) whole: bool,
}

/// One cause.
pub(super) struct Cause {
    /// A word for it, in the evidence.
    pub(super) id: &'static str,
    /// What it says of a pair, if it applies.
    pub(super) tell: fn(&Pair) -> Option<Told>,
    /// What to do about it.
    pub(super) advice: &'static str,
}

/// All of them: first what makes a number another thing than its name says, then what makes it
/// differ.
pub(super) const CAUSES: &[Cause] = &[
    Cause {
        id: "page_cache",
        tell: page_cache,
        advice: "give both direct I/O, or a file that is out of the page cache and a flush at the end",
    },
    Cause {
        id: "in_cache",
        tell: in_cache,
        advice: "build or run the tool with arrays of 4 times all last-level cache",
    },
    Cause {
        id: "socket_buffers",
        tell: socket_buffers,
        advice: "let the tool send more, or for longer",
    },
    Cause {
        id: "write_allocate",
        tell: write_allocate,
        advice: "compare the bytes that move, or run our point with the stores of the tool (knob stores)",
    },
    Cause {
        id: "unoptimised",
        tell: unoptimised,
        advice: "build the tool with optimisation for this processor (-O3 -march=native)",
    },
    Cause {
        id: "params",
        tell: differing,
        advice: "run both with the same values (--set, or the tool's options)",
    },
    Cause { id: "disturbed", tell: disturbed, advice: "run both again on a quiet machine" },
    Cause { id: "duration", tell: duration, advice: "let both run about as long" },
];

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Ours,
    Theirs,
}

impl<'a> Pair<'a> {
    /// Of a tool with that ratio.
    pub(super) fn new(
        ctx: &'a Context<'a>,
        ours: &'a Measurement,
        tool: &'a Reference,
        ratio: f64,
    ) -> Self {
        Self { ctx, ours, tool, theirs: stand_in(ours, tool), ratio }
    }

    /// Which of the two shows the better number.
    fn ahead(&self) -> Side {
        if (self.ratio > 1.0) == (self.ours.better == Better::Higher) {
            Side::Ours
        } else {
            Side::Theirs
        }
    }
}

fn whole(words: String) -> Option<Told> {
    Some(Told { words, whole: true })
}

fn part(words: String) -> Option<Told> {
    Some(Told { words, whole: false })
}

/// What one of these checks found of at least that weight.
fn found<'m>(m: &'m Measurement, checks: &[&str], least: Severity) -> Option<&'m str> {
    let of =
        |f: &&proofmark_model::Finding| f.severity >= least && checks.contains(&f.check.as_ref());
    m.findings.iter().find(of).map(|f| f.message.as_str())
}

/// The median over the trials that tell.
fn typical(trials: &[Trial], of: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
    let all: Vec<f64> = trials.iter().filter_map(of).collect();
    median(&all).filter(|v| *v > 0.0)
}

/// Only one of the two asked a device.
fn page_cache(p: &Pair) -> Option<Told> {
    let cached = |m| found(m, &["page_cache", "not_durable"], Severity::Invalid);
    match (cached(&p.theirs), cached(p.ours)) {
        (Some(why), None) => whole(format!("it used the page cache: {why}")),
        (None, Some(why)) => whole(format!("ours used the page cache, and it did not: {why}")),
        _ => None,
    }
}

/// Only one of the two went to memory, by the sizes of its arrays or by what was found of them.
fn in_cache(p: &Pair) -> Option<Told> {
    let cache = p.ctx.host.usable_cache();
    let fits = |m| cache.zip(array_bytes(m)).is_some_and(|(cache, array)| array <= cache);
    let cached = |m| fits(m) || found(m, &["in_cache"], Severity::Suspect).is_some();
    let (one, other, with, without) = match (p.ahead(), cached(&p.theirs), cached(p.ours)) {
        (Side::Theirs, true, false) => ("its", "ours", &p.theirs, p.ours),
        (Side::Ours, false, true) => ("our", "its own", p.ours, &p.theirs),
        _ => return None,
    };
    let (small, large) = (format_size(array_bytes(with)?), format_size(array_bytes(without)?));
    whole(match cache.filter(|_| fits(with)) {
        Some(cache) => format!(
            "{one} array of {small} fits into {} of last-level cache, {other} of {large} does not",
            format_size(cache)
        ),
        None => format!(
            "much of {one} array of {small} may come from the last-level cache, less of {other} of {large}"
        ),
    })
}

/// Bytes that TCP may hold of a connection where nothing is told: Linux lets buffers grow to 4 MiB
/// at the sender and 6 MiB at the receiver (tcp_wmem, tcp_rmem), each doubled by some systems.
const BUFFERS: f64 = 16e6;
/// A trial of such an amount that lasts longer went over a slow way, which the rate shows.
const BRIEF_S: f64 = 0.1;
/// Times that a window which is told may be held on the way: at both ends, doubled.
const WINDOWS: f64 = 4.0;

/// So little was sent that no byte of it needs to have arrived.
fn socket_buffers(p: &Pair) -> Option<Told> {
    if !streams(p.ours) || p.ahead() != Side::Theirs {
        return None;
    }
    let window = ["window", "socket_buffer"].iter().find_map(|name| p.tool.params.int(name));
    let each =
        |m: &Measurement| Some(typical(&m.trials, |t| Some(t.work))? / 8.0 / connections(m) as f64);
    let seconds = typical(&p.theirs.trials, |t| Some(t.seconds))?;
    let held = match window {
        Some(window) => WINDOWS * window as f64,
        None if seconds <= BRIEF_S => BUFFERS,
        None => return None,
    };
    let bytes = each(&p.theirs).filter(|bytes| *bytes <= held)?;
    each(p.ours).filter(|ours| *ours > held)?;
    whole(format!(
        "it sent {} a connection in {}, which sockets' buffers may take whole: that is the rate of a \
         copy into memory",
        format_size(bytes as u64),
        format_seconds(seconds)
    ))
}

/// What is left of a ratio that bytes explain: how much faster some bytes move than others, and
/// what both scatter.
const EXPLAINED: f64 = 0.1;
/// Less than this is no other traffic.
const SAME_TRAFFIC: f64 = 0.01;

/// The knob that says how a memory kernel stores.
const STORES: &str = "stores";

/// Bytes that move for each one that is counted: as declared, else by the stores that are told.
fn traffic(m: &Measurement, told: &Params) -> Option<f64> {
    let declared = typical(&m.trials, |t| Some(t.moved? / t.work));
    let by_stores = || {
        let streams = Streams::of(m)?;
        let allocated = match told.text(STORES)? {
            "temporal" => streams.written,
            "nontemporal" => 0.0,
            _ => return None,
        };
        Some(1.0 + allocated / streams.counted())
    };
    declared.or_else(by_stores)
}

/// Both count the bytes that the program asks for, and one has more of them moved.
fn write_allocate(p: &Pair) -> Option<Told> {
    if p.ours.subsystem != Subsystem::Memory || p.ours.unit != Unit::BytePerSecond {
        return None;
    }
    let ours = traffic(p.ours, &p.ours.params)?;
    let theirs = traffic(&p.theirs, &p.tool.params)?;
    let predicted = theirs / ours;
    if (predicted - 1.0).abs() < SAME_TRAFFIC || (predicted > 1.0) != (p.ratio > 1.0) {
        return None;
    }
    let rest = p.ratio / predicted;
    let explained = (rest - 1.0).abs() <= EXPLAINED;
    let verdict = match explained {
        true => "which explains it".to_owned(),
        false => format!("which leaves {} times", times(rest)),
    };
    let words = format!(
        "a line that an ordinary store overwrites is read first: for each byte that is counted ours \
         moves {} and it {}, which alone makes {} times, {verdict}",
        times(ours),
        times(theirs),
        times(predicted)
    );
    Some(Told { words, whole: explained })
}

/// Times as fast that ours is where memory, the way or the processor is not what holds the tool.
const SEVERAL: f64 = 3.0;

/// What a thread does in a cycle at most where every variable of its loop lies in memory, as
/// compilers leave it without optimisation. An iteration then takes 3 cycles and more: of the
/// loops after STREAM, in the first cache, gcc -O0 gave 6 to 7.5 B a cycle and 0.6 operations
/// on Granite Rapids (gcc -O2: 32 to 85 B).
fn without_optimisation(m: &Measurement) -> Option<(f64, &'static str)> {
    match (m.subsystem, m.unit) {
        (Subsystem::Memory, Unit::BytePerSecond) => Some((8.0, "B")),
        (Subsystem::Cpu, Unit::FlopPerSecond) => Some((1.0, "operations")),
        _ => None,
    }
}

/// The tool's threads do a few operations a cycle where ours do several times as many of the same.
fn unoptimised(p: &Pair) -> Option<Told> {
    let (most, what) = without_optimisation(p.ours)?;
    let threads = Params::THREADS.iter().find_map(|knob| p.tool.params.int(knob));
    let as_many = threads.unwrap_or(1) == p.ours.params.threads();
    let disturbance = found(&p.theirs, DISTURBANCES, Severity::Suspect);
    // Neither makes it several times as slow: data in the cache are looked for before, and what
    // stores move is counted below.
    let other = |name: &str| !SIZES.contains(&name) && name != STORES;
    let otherwise = differences(p).any(|(name, ..)| other(name));
    if !as_many || disturbance.is_some() || otherwise {
        return None;
    }
    let clock = typical(&p.ours.trials, |t| t.conditions.clock_hz)?;
    let capacity = Capacity::of(p.ctx.host, p.ours).ok()?;
    let rate = p.tool.value / (clock * capacity.threads.min(capacity.physical) as f64);
    // Ours has memory move at least so many times as many bytes, whatever the tool's stores are.
    let least = |s: Streams| {
        let ours = traffic(p.ours, &p.ours.params).unwrap_or(1.0);
        (ours / (1.0 + s.written / s.counted())).min(1.0)
    };
    let moved = Streams::of(p.ours).map_or(1.0, least);
    if rate > most || p.ratio * moved < SEVERAL {
        return None;
    }
    whole(format!(
        "it does {} {what} a clock cycle and thread, as code that was built without optimisation \
         does, and memory is not what holds it, since ours does {} times as many",
        times(rate),
        times(p.ratio)
    ))
}

/// A value as a person types it.
fn value(p: &Pair, name: &str, value: &Param) -> String {
    let size = p
        .ctx
        .spec
        .knobs
        .iter()
        .any(|knob| knob.name == name && matches!(knob.kind, KnobKind::Size { .. }));
    match value {
        Param::Int(bytes) if size => format_size(*bytes),
        other => other.to_string(),
    }
}

/// Knobs that the tool says were otherwise: name, its value, ours. What the machine chose is no
/// other value.
fn differences<'p>(p: &Pair<'p>) -> impl Iterator<Item = (&'p str, &'p Param, &'p Param)> {
    let ours = &p.ours.params;
    let both =
        p.tool.params.0.iter().filter_map(|(name, v)| Some((name.as_str(), v, ours.get(name)?)));
    both.filter(|(_, theirs, ours)| theirs != ours && **ours != Param::from(AUTO))
}

/// The tool says that it ran otherwise. Of its stores the bytes tell that they move.
fn differing(p: &Pair) -> Option<Told> {
    let by_bytes = write_allocate(p).is_some();
    let each: Vec<String> = differences(p)
        .filter(|(name, ..)| !(by_bytes && *name == STORES))
        .map(|(name, theirs, ours)| {
            format!("{name} {} (ours {})", value(p, name, theirs), value(p, name, ours))
        })
        .collect();
    if each.is_empty() { None } else { part(format!("it ran with {}", each.join(", "))) }
}

/// What took CPU time away.
const DISTURBANCES: &[&str] = &["steal", "throttled", "other_cpu", "swap"];

/// What takes CPU time and is not told of a tool, which is itself another process.
const UNWATCHED: &[&str] = &["other_cpu"];

/// The slower of the two was disturbed, or ours by what disturbs a tool unseen.
fn disturbed(p: &Pair) -> Option<Told> {
    let (slower, whose) = match p.ahead() {
        Side::Ours => (&p.theirs, "its"),
        Side::Theirs => (p.ours, "our"),
    };
    if let Some(why) = found(slower, DISTURBANCES, Severity::Suspect) {
        return part(format!("{whose} trials were disturbed: {why}"));
    }
    let watched = p.theirs.trials.iter().any(|t| t.conditions.other_cpu_s.is_some());
    let why = found(p.ours, UNWATCHED, Severity::Suspect).filter(|_| !watched)?;
    part(format!("our trials, between which its own ran unwatched, were disturbed: {why}"))
}

/// Trials are far shorter or longer from here on.
const FAR: f64 = 5.0;
/// And did another amount of work: the same work takes longer where it is slower.
const OTHER_WORK: f64 = 2.0;

/// One of the two ran much shorter.
fn duration(p: &Pair) -> Option<Told> {
    let over = |of: fn(&Trial) -> f64| {
        let typical = |m: &Measurement| typical(&m.trials, |t| Some(of(t)));
        Some([typical(&p.theirs)?, typical(p.ours)?])
    };
    let ([theirs, ours], [done, of_ours]) = (over(|t| t.seconds)?, over(|t| t.work)?);
    let shorter = ours / theirs >= FAR && of_ours / done >= OTHER_WORK;
    let longer = theirs / ours >= FAR && done / of_ours >= OTHER_WORK;
    if !shorter && !longer {
        return None;
    }
    let (theirs, ours) = (format_seconds(theirs), format_seconds(ours));
    part(format!("its trials last {theirs}, ours {ours}"))
}
