//! Others' bytes and I/Os, where they can be separated from the load's own.

use proofmark_model::{Finding, Measurement, Severity, Trial, Unit, format_count, format_quantity};

use super::{CHECK, THRESHOLD, cost_of_share, queue};
use crate::Context;
use crate::checks::loss::Loss;
use crate::checks::percent;
use crate::checks::programs::stop_disk_users;
use crate::checks::share::Share;
use crate::checks::weight::Weight;
use crate::disk::{Cached, Way, asked, commits, is_random};
use crate::words::counted;

/// Bytes per trial that may be read for others, such as single lookups.
const LOOKUPS: f64 = 32_768.0;
/// Bytes per trial that the file system writes by itself: a commit of its journal for our file's
/// times, or the run's own record.
const HOUSEKEEPING: f64 = 262_144.0;
/// Fewest I/Os of others in a trial that are more than housekeeping.
const FEW: f64 = 8.0;
/// Smallest I/O of others in bytes: a sector of /proc/diskstats.
const SECTOR: f64 = 512.0;
/// Others must have been in one of this many trials.
const ONE_IN: usize = 3;

/// A direction in which bytes can be separated, and how often the load's own are moved.
pub(super) type Compared = (Way, f64);

/// Bytes that the device moved in that direction for others.
fn moved_for_others(m: &Measurement, t: &Trial, (way, own_times): Compared) -> Option<f64> {
    let device = t.device.as_ref()?;
    // Without its own account a buffered read cannot be distinguished from readahead.
    let fallback = (Cached::read(m) == Cached::Direct).then(|| asked(t, way));
    let own = way.own(device).or(fallback)?;
    Some((way.moved(device) - own_times * own).max(0.0))
}

/// The same without housekeeping: journals write, and do not read.
fn bytes_of_others(m: &Measurement, t: &Trial, compared: Compared) -> Option<f64> {
    let allowance = if compared.0 == Way::Read { LOOKUPS } else { HOUSEKEEPING };
    Some((moved_for_others(m, t, compared)? - allowance).max(0.0))
}

/// Bytes of an I/O that is one request: direct, random (so few are merged), and too small to be
/// split.
fn one_request_each(ctx: &Context, m: &Measurement) -> Option<f64> {
    let largest = ctx.host.storage.get()?.leaves().filter_map(|d| d.request_bytes).min()? as f64;
    let alone = is_random(m) && Cached::read(m) == Cached::Direct;
    m.params.block_bytes().filter(|block| alone && *block <= largest)
}

/// I/Os of a trial by others and by proofmark, in the directions that can be compared. Requests
/// that moved no bytes of others are parts of proofmark's own, split for another reason.
fn others_ios(m: &Measurement, t: &Trial, ways: &[Compared], block: f64) -> Option<(f64, f64)> {
    let (device, _) = (t.device.as_ref()?, t.file.as_ref()?);
    ways.iter().try_fold((0.0, 0.0), |(others, own), way| {
        let ours = asked(t, way.0) / block;
        let more = (way.0.requests(device) - ours).max(0.0);
        Some((others + more.min(moved_for_others(m, t, *way)? / SECTOR), own + ours))
    })
}

/// Reports others with many small I/Os.
pub(super) fn by_count(ctx: &Context, m: &Measurement, ways: &[Compared]) -> Option<Finding> {
    let block = one_request_each(ctx, m)?;
    let trials: Vec<(f64, f64)> =
        m.trials.iter().filter_map(|t| others_ios(m, t, ways, block)).collect();
    let many = |(others, own): &&(f64, f64)| *others >= FEW && *others > THRESHOLD * own;
    let above = trials.iter().filter(many).count();
    if above == 0 || above * ONE_IN < trials.len() {
        return None;
    }
    let (others, own) = trials.iter().fold((0.0, 0.0), |(a, b), (o, w)| (a + o, b + w));
    let [theirs, ours] = [others, own].map(|count| format_count(count.round() as u64));
    let message = format!(
        "other programs did {theirs} small I/Os on the same device, against {ours} of this \
         process, in {above} of {}",
        counted(trials.len(), "trial")
    );
    let part = |(others, own): (f64, f64)| others / (others + own);
    let shown = Loss::shown(m, |t| others_ios(m, t, ways, block).map(part));
    let severity = shown.unwrap_or_else(|| Weight::derive(m).change(part((others, own))));
    let finding = CHECK
        .finding(severity, message, stop_disk_users(ctx))
        .with("others_ios", others)
        .with("own_ios", own);
    Some(finding.with("trials_affected", above).with("trials", trials.len()))
}

/// Reports others by the bytes that they moved.
pub(super) fn by_bytes(ctx: &Context, m: &Measurement, ways: &[Compared]) -> Option<Finding> {
    let others = |t: &Trial| -> Option<f64> {
        let parts: Vec<f64> = ways.iter().filter_map(|w| bytes_of_others(m, t, *w)).collect();
        (!parts.is_empty()).then(|| parts.iter().sum())
    };
    let base = |t: &Trial| Way::BOTH.iter().map(|w| asked(t, *w)).sum();
    let share = Share::sum(&m.trials, others, base)?;
    let above =
        m.trials.iter().filter(|t| others(t).is_some_and(|o| o > THRESHOLD * base(t))).count();
    share.severity(THRESHOLD)?;
    // Single small I/Os are weighed by the queue; a stream shares the device's bandwidth.
    let by_queue = (is_random(m) || commits(m))
        && m.trials.iter().all(|t| queue::in_flight(ctx, m, t).is_some());
    let severity = match above * ONE_IN < share.trials || by_queue {
        true => Severity::Note,
        false => {
            let shown = Loss::shown(m, |t| {
                let others = others(t)?;
                Some(others / (others + base(t)))
            });
            let of_all = share.usual / (1.0 + share.usual);
            shown.unwrap_or_else(|| Weight::derive(m).change(cost_of_share(of_all)))
        }
    };
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let rate = |way: Way| -> f64 {
        let compared = ways.iter().find(|(compared, _)| *compared == way);
        let sum =
            |c: &Compared| m.trials.iter().filter_map(|t| bytes_of_others(m, t, *c)).sum::<f64>();
        compared.map(|c| sum(c) / seconds).filter(|rate| rate.is_finite()).unwrap_or(0.0)
    };
    let [read, wrote] = Way::BOTH.map(|way| format_quantity(rate(way), Unit::BytePerSecond));
    let (part, trials) = (percent(share.all), counted(share.trials, "trial"));
    let message = format!(
        "other programs read {read} and wrote {wrote} on the same device, {part} of the requested \
         bytes, in {above} of {trials}"
    );
    let finding = CHECK
        .finding(severity, message, stop_disk_users(ctx))
        .with("others_read_bytes_per_s", rate(Way::Read))
        .with("others_written_bytes_per_s", rate(Way::Written));
    Some(share.add_to(finding, "others_bytes"))
}
