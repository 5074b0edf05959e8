//! Causes of a disagreement with a tool, from the recorded facts of both. Each cause is one
//! function. It returns `None` without evidence, or if the cause would move the ratio the other
//! way.

use proofmark_model::{
    AUTO, Better, FactId, Finding, Isa, Measurement, Pace, Param, ParameterKind, Params, Probe,
    Reference, Severity, Traffic, Trial, Unit, check_id, format_factor, format_seconds,
    format_size, key, word,
};

use super::library;
use crate::capacity::Capacity;
use crate::disk::Cached;
use crate::memory::{array_bytes, cache_at, touched_bytes, traffic};
use crate::network::Carried;
use crate::references::is_disturbance;
use crate::{Context, statistics};

/// A tool that disagrees, and the result that it disagrees with.
pub(super) struct Compared<'a> {
    pub(super) ctx: &'a Context<'a>,
    /// proofmark's trials of the pairs.
    pub(super) ours: &'a Measurement,
    pub(super) tool: &'a Reference,
    /// The tool's trials, with proofmark's parameters where it reports none.
    pub(super) theirs: Measurement,
    /// Ours / theirs.
    pub(super) ratio: f64,
}

pub(super) struct Explanation {
    pub(super) words: String,
    pub(super) extent: Extent,
}

/// The part of a difference that a cause explains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Extent {
    /// All of it: the search for causes ends.
    Whole,
    /// An unknown part, which may be all.
    Open,
    Part,
}

pub(super) struct Cause {
    /// Name in the evidence.
    pub(super) id: &'static str,
    /// Explains the difference of a pair, if the cause applies.
    pub(super) explain: fn(&Compared) -> Option<Explanation>,
    pub(super) advice: &'static str,
}

/// The causes in order: first those by which a result is not what its name says, then those by
/// which it differs.
pub(super) const CAUSES: &[Cause] = &[
    Cause {
        id: "page_cache",
        explain: page_cache,
        advice: "use direct I/O in both, or evict the file first and flush at the end",
    },
    Cause {
        id: "in_cache",
        explain: in_cache,
        advice: "build or run the tool with arrays of 4 times all last-level cache",
    },
    Cause {
        id: "socket_buffers",
        explain: socket_buffers,
        advice: "have the tool send more data, or for longer",
    },
    Cause {
        id: "write_allocate",
        explain: write_allocate,
        advice: "compare bytes moved, or run proofmark with the tool's stores (parameter stores)",
    },
    Cause {
        id: "unoptimised",
        explain: unoptimised,
        advice: "build the tool with optimisation for this processor (-O3 -march=native)",
    },
    Cause {
        id: "params",
        explain: differing,
        advice: "run both with the same values (--set, or the tool's options)",
    },
    Cause {
        id: "library_core",
        explain: library_core,
        advice: "choose the library's kernels for this CPU (OpenBLAS: OPENBLAS_CORETYPE=SkylakeX uses \
                 AVX-512), or give proofmark the same instruction set (--set isa=avx2+fma)",
    },
    Cause {
        id: "reference_blas",
        explain: reference_blas,
        advice: "install an optimised BLAS (Debian: libopenblas0-pthread) and measure again",
    },
    Cause { id: "disturbed", explain: disturbed, advice: "repeat both on a quiet machine" },
    Cause { id: "duration", explain: duration, advice: "give both trials of similar length" },
];

impl Extent {
    /// Returns an explanation of that extent.
    fn explain(self, words: String) -> Option<Explanation> {
        Some(Explanation { words, extent: self })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Ours,
    Theirs,
}

impl Compared<'_> {
    /// The side with the better result.
    fn ahead(&self) -> Side {
        if (self.ratio > 1.0) == (self.ours.better == Better::Higher) {
            Side::Ours
        } else {
            Side::Theirs
        }
    }
}

/// The message of the first finding of these checks that has at least that severity.
fn found<'m>(m: &'m Measurement, checks: &[&str], least: Severity) -> Option<&'m str> {
    let matches = |f: &&Finding| f.severity >= least && checks.contains(&f.check.as_ref());
    m.findings.iter().find(matches).map(|f| f.message.as_str())
}

/// The message of the first disturbance that makes one side suspect.
fn disturbance(m: &Measurement) -> Option<&str> {
    let matches = |f: &&Finding| f.severity >= Severity::Suspect && is_disturbance(f);
    m.findings.iter().find(matches).map(|f| f.message.as_str())
}

/// The median over the trials that report a value, if it is above 0.
fn positive_median(trials: &[Trial], value: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
    statistics::median_over(trials, value).filter(|v| *v > 0.0)
}

/// Explains the difference if only the faster of the two used the page cache. With a warm result of
/// proofmark both read from the cache by design, though the tool's output does not state it. Then
/// only writes that stayed in it differ.
fn page_cache(c: &Compared) -> Option<Explanation> {
    let warm = Cached::read(c.ours) == Cached::Warm;
    let checks: &[&str] = if warm {
        &[check_id::NOT_DURABLE]
    } else {
        &[check_id::PAGE_CACHE, check_id::NOT_DURABLE]
    };
    let cached = |m| found(m, checks, Severity::Invalid);
    match (c.ahead(), cached(&c.theirs), cached(c.ours)) {
        (Side::Theirs, Some(why), None) => {
            Extent::Whole.explain(format!("the tool used the page cache: {why}"))
        }
        (Side::Ours, None, Some(why)) => Extent::Whole
            .explain(format!("proofmark used the page cache, but the tool did not: {why}")),
        _ => None,
    }
}

/// Explains the difference if only one of the two used memory, by the sizes of their arrays or by
/// their findings.
fn in_cache(c: &Compared) -> Option<Explanation> {
    let cache = c.ctx.host.usable_cache();
    let fits = |m| cache.zip(array_bytes(c.ctx, m)).is_some_and(|(cache, array)| array <= cache);
    let cached = |m| fits(m) || found(m, &[check_id::IN_CACHE], Severity::Suspect).is_some();
    let (one, other, with, without) = match (c.ahead(), cached(&c.theirs), cached(c.ours)) {
        (Side::Theirs, true, false) => ("the tool's", "proofmark's", &c.theirs, c.ours),
        (Side::Ours, false, true) => ("proofmark's", "the tool's", c.ours, &c.theirs),
        _ => return None,
    };
    let (small, large) =
        (format_size(array_bytes(c.ctx, with)?), format_size(array_bytes(c.ctx, without)?));
    Extent::Whole.explain(match cache.filter(|_| fits(with)) {
        Some(cache) => format!(
            "{one} array of {small} fits into {} of last-level cache, but {other} of {large} does not",
            format_size(cache)
        ),
        None => format!(
            "much of {one} array of {small} may come from the last-level cache, but less of \
             {other} of {large}"
        ),
    })
}

/// Longest trial in seconds whose rate may be that of buffers: a longer one used a slow path, which
/// the rate shows.
const BRIEF_S: f64 = 0.1;

/// Explains the difference if the tool sent so little that buffers may have taken much of it.
fn socket_buffers(c: &Compared) -> Option<Explanation> {
    if c.ahead() != Side::Theirs {
        return None;
    }
    let (theirs, ours) = (Carried::median(&c.theirs)?, Carried::median(c.ours)?);
    if !theirs.only_filled() || theirs.seconds > BRIEF_S || ours.only_filled() {
        return None;
    }
    Extent::Whole.explain(format!(
        "the tool sent {} per connection in {}, and socket buffers alone can hold {}: much of its \
         rate may be that of a memory copy",
        format_size(theirs.bytes as u64),
        format_seconds(theirs.seconds),
        format_size(theirs.buffer_bytes as u64)
    ))
}

/// Largest remainder of a ratio that bytes explain: some move faster than others, and both scatter.
const EXPLAINED: f64 = 0.1;
/// Difference below which two amounts of traffic are the same.
const SAME_TRAFFIC: f64 = 0.01;

/// Bytes moved per byte counted: as declared, else by the reported stores.
fn moved_per_counted(ctx: &Context, m: &Measurement, params: &Params) -> Option<f64> {
    let declared = positive_median(&m.trials, |t| Some(t.moved? / t.work));
    let by_stores = || {
        let traffic = traffic(ctx, m).ok()?;
        let allocated = match params.get(key::STORES)? {
            word::TEMPORAL => traffic.written,
            word::NONTEMPORAL => 0.0,
            _ => return None,
        };
        Some(1.0 + allocated / traffic.counted())
    };
    declared.or_else(by_stores)
}

/// Explains the difference if both count the requested bytes, but one moves more of them.
fn write_allocate(c: &Compared) -> Option<Explanation> {
    if c.ctx.work(c.ours).pace != Pace::Memory || c.ours.unit != Unit::BytePerSecond {
        return None;
    }
    let ours = moved_per_counted(c.ctx, c.ours, &c.ours.params)?;
    let theirs = moved_per_counted(c.ctx, &c.theirs, &c.tool.params)?;
    let predicted = theirs / ours;
    if (predicted - 1.0).abs() < SAME_TRAFFIC || (predicted > 1.0) != (c.ratio > 1.0) {
        return None;
    }
    let rest = c.ratio / predicted;
    let explained = (rest - 1.0).abs() <= EXPLAINED;
    let verdict = match explained {
        true => "which explains the ratio".to_owned(),
        false => format!("which leaves a factor of {}", format_factor(rest)),
    };
    let words = format!(
        "an ordinary store first reads the line that it overwrites: per byte counted, proofmark \
         moves {} B and the tool {} B; this alone gives a ratio of {}, {verdict}",
        format_factor(ours),
        format_factor(theirs),
        format_factor(predicted)
    );
    if explained { Extent::Whole.explain(words) } else { Extent::Part.explain(words) }
}

/// Smallest factor by which proofmark must be faster, with no other cause than the tool's code.
const SEVERAL: f64 = 3.0;
/// Smallest dense matrix, in equations or rows, whose time is mostly work on its blocks.
const LARGE_MATRIX: u64 = 2000;

/// Most work of a thread per cycle if every variable of its loop is in memory, as compilers leave
/// it without optimisation. An iteration then takes 3 cycles and more. Measured for STREAM's loops
/// in the L1 cache on Granite Rapids, per cycle: gcc -O0 6 to 7.5 B and 0.6 operations, gcc -O2 32
/// to 85 B.
fn without_optimisation(ctx: &Context, m: &Measurement) -> Option<(f64, &'static str)> {
    match (ctx.work(m).pace, m.unit) {
        (Pace::Memory, Unit::BytePerSecond) => Some((8.0, "bytes")),
        (Pace::Core, Unit::FlopPerSecond) => Some((1.0, "operations")),
        _ => None,
    }
}

/// True if another cause than its code may limit the tool. Causes: data beyond the core's own
/// caches, a matrix too small for its blocks, other threads or parameters, a disturbance.
fn has_other_limit(c: &Compared) -> bool {
    let own_cache = cache_at(c.ctx.host, 2).map_or(0, |cache| cache.size_bytes);
    let each = |bytes| bytes / c.theirs.params.threads().max(1);
    let outside = touched_bytes(c.ctx, &c.theirs).is_none_or(|bytes| each(bytes) > own_cache);
    let in_memory = c.ctx.work(c.ours).pace == Pace::Memory && outside;
    let small = c.theirs.params.get(key::MATRIX_SIZE).is_some_and(|n| n < LARGE_MATRIX);
    let threads = Params::THREADS.iter().find_map(|key| c.tool.params.get(*key));
    let as_many = threads.unwrap_or(1) == c.ours.params.threads();
    // Sizes and stores are causes of their own.
    let data = c.ctx.work(c.ours).data.as_ref().map(|data| &*data.parameter);
    let other = |name: &str| Some(name) != data && key::STORES != name;
    let disturbed = disturbance(&c.theirs).is_some();
    in_memory || small || !as_many || disturbed || differences(c).any(|(name, ..)| other(name))
}

/// True if the tool reports that it works on one number at a time: its loop does few operations per
/// cycle by design.
fn narrow(tool: &Reference) -> bool {
    Isa::from_params(&tool.params) == Some(Isa::Scalar) || tool.params.has(key::WORD)
}

/// Explains the difference if the tool's threads do a few operations per cycle, and proofmark's
/// several times as many of the same.
fn unoptimised(c: &Compared) -> Option<Explanation> {
    let (most, what) = without_optimisation(c.ctx, c.ours)?;
    if narrow(c.tool) || has_other_limit(c) {
        return None;
    }
    let clock = positive_median(&c.ours.trials, |t| t.conditions.clock_hz)?;
    let capacity = Capacity::derive(c.ctx.host, c.ours).ok()?;
    let rate = c.tool.value / (clock * capacity.threads.min(capacity.physical) as f64);
    // The least factor by which proofmark moves more bytes, whatever the tool's stores are.
    let least = |t: &Traffic| {
        let ours = moved_per_counted(c.ctx, c.ours, &c.ours.params).unwrap_or(1.0);
        (ours / (1.0 + t.written / t.counted())).min(1.0)
    };
    let moved = traffic(c.ctx, c.ours).map_or(1.0, least);
    if rate > most || c.ratio * moved < SEVERAL {
        return None;
    }
    Extent::Part.explain(format!(
        "at proofmark's clock a thread of the tool does at most {} {what} per clock cycle, like \
         code built without optimisation",
        format_factor(rate)
    ))
}

/// The value as a user types it.
fn value(c: &Compared, name: &str, value: &Param) -> String {
    let parameters = c.ctx.spec(c.ours).map_or(&[][..], |spec| &spec.parameters);
    let size = parameters.iter().any(|parameter| {
        parameter.name == name && matches!(parameter.kind, ParameterKind::Size { .. })
    });
    match value {
        Param::Int(bytes) if size => format_size(*bytes),
        other => other.to_string(),
    }
}

/// Parameters that differ: name, the tool's value and proofmark's, without those set to `auto`.
fn differences<'c>(c: &Compared<'c>) -> impl Iterator<Item = (&'c str, &'c Param, &'c Param)> {
    let ours = &c.ours.params;
    let both =
        c.tool.params.0.iter().filter_map(|(name, v)| Some((name.as_str(), v, ours.named(name)?)));
    both.filter(|(_, theirs, ours)| theirs != ours && **ours != Param::from(AUTO))
}

/// Explains the difference by parameters that the tool reports. Its stores are left out if
/// `write_allocate` explains them.
fn differing(c: &Compared) -> Option<Explanation> {
    let by_bytes = write_allocate(c).is_some();
    let each: Vec<String> = differences(c)
        .filter(|(name, ..)| !(by_bytes && key::STORES == *name))
        .map(|(name, theirs, ours)| {
            format!("{name} {} (proofmark: {})", value(c, name, theirs), value(c, name, ours))
        })
        .collect();
    if each.is_empty() {
        None
    } else {
        Extent::Open.explain(format!("the tool ran with {}", each.join(", ")))
    }
}

/// Explains that proofmark is faster if it used a wider instruction set than the library's kernels.
fn library_core(c: &Compared) -> Option<Explanation> {
    if c.ahead() != Side::Ours {
        return None;
    }
    let environment = c.ctx.host.settings.get(FactId::Environment.as_str()).and_then(Probe::get);
    let environment = environment.map_or("", String::as_str);
    let ours = Isa::from_params(&c.ours.params)?;
    Extent::Open.explain(library::explain(&c.tool.tool, &c.tool.version, environment, ours)?)
}

/// Name of the reference implementation, as the tool's parameter `BLAS` has it.
const REFERENCE_BLAS: &str = "blas";

/// Explains that proofmark is faster if the tool is linked to the reference implementation of BLAS.
fn reference_blas(c: &Compared) -> Option<Explanation> {
    let is_reference = |blas: &Param| *blas == Param::from(REFERENCE_BLAS);
    c.theirs.params.named("BLAS").filter(|blas| is_reference(blas))?;
    let words = "its BLAS is the reference library, which has no kernels for this CPU".to_owned();
    Extent::Open.explain(words).filter(|_| c.ahead() == Side::Ours)
}

/// Explains the difference if the slower of the two was disturbed. A disturbance of the faster one
/// explains nothing, even where nobody watched the other.
fn disturbed(c: &Compared) -> Option<Explanation> {
    let (slower, whose) = match c.ahead() {
        Side::Ours => (&c.theirs, "the tool's"),
        Side::Theirs => (c.ours, "proofmark's"),
    };
    let why = disturbance(slower)?;
    Extent::Open.explain(format!("{whose} trials were disturbed: {why}"))
}

/// Smallest factor between durations of trials that are not comparable.
const OTHER_DURATION: f64 = 5.0;
/// Smallest factor between their amounts of work: the same work takes longer where it is slower.
const OTHER_WORK: f64 = 2.0;

/// Explains the difference if one of the two had much shorter trials.
fn duration(c: &Compared) -> Option<Explanation> {
    let over = |quantity: fn(&Trial) -> f64| {
        let median = |m: &Measurement| positive_median(&m.trials, |t| Some(quantity(t)));
        Some([median(&c.theirs)?, median(c.ours)?])
    };
    let ([theirs, ours], [their_work, our_work]) = (over(|t| t.seconds)?, over(|t| t.work)?);
    let shorter = ours / theirs >= OTHER_DURATION && our_work / their_work >= OTHER_WORK;
    let longer = theirs / ours >= OTHER_DURATION && their_work / our_work >= OTHER_WORK;
    if !shorter && !longer {
        return None;
    }
    let (theirs, ours) = (format_seconds(theirs), format_seconds(ours));
    Extent::Open.explain(format!("the tool's trials last {theirs}, proofmark's {ours}"))
}
