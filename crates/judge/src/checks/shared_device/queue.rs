//! Others' I/Os in the device together with the load's.

use proofmark_model::{Finding, Measurement, Severity, Trial, format_factor};

use super::{CHECK, THRESHOLD, own_times};
use crate::Context;
use crate::checks::loss::Loss;
use crate::checks::percent;
use crate::checks::programs::stop_disk_users;
use crate::disk::{Cached, Way, asked, asks, commits, in_flight_at_most, is_random};

/// Others that have less of the device's I/Os in flight are not reported.
const QUEUED: f64 = 0.05;
/// Others' share of the I/Os in flight and of the bytes, both, from which on a result is suspect where the
/// cost is not known. A queue alone may be one that costs nothing: 30 MB/s of a journal had three quarters
/// of the I/Os in flight beside random reads, at their full rate. A stream loses its share of the queue:
/// beside readers with 44 % of it and 4 % of the bytes, sequential writes lost 25 %.
const MUCH: f64 = 0.4;
/// The same for bytes alone: few large I/Os fill a device beside many small ones. Beside readers with 83 to
/// 88 % of the bytes, of whose I/Os the queue showed 0 to 13 %, random reads at a queue depth of 32 lost 53
/// to 70 %. Commits do not: beside 97 % of the bytes and an empty queue they lost 4 to 12 %.
const MOST: f64 = 0.75;

/// I/Os of others in flight during a trial, and the load's own, each times how long; `None` where its
/// own are not known: the kernel reads ahead and writes back as it likes.
pub(super) fn in_flight(ctx: &Context, m: &Measurement, t: &Trial) -> Option<(f64, f64)> {
    if Cached::read(m) != Cached::Direct && !commits(m) {
        return None;
    }
    let all = t.device.as_ref()?.in_flight_s;
    let requests = requests_of_block(ctx, m)?.max(requests_seen(m, t).unwrap_or(1.0));
    let own = (in_flight_at_most(m) * requests * t.seconds).min(all);
    Some((all - own, own)).filter(|(others, own)| others.is_finite() && *own > 0.0)
}

/// Requests that a block makes at most: the kernel splits what is larger than a device takes, a stripe is on
/// several devices, and each write may be on all of them.
fn requests_of_block(ctx: &Context, m: &Measurement) -> Option<f64> {
    let storage = ctx.host.storage.get()?;
    let largest = storage.leaves().map(|d| d.request_bytes).collect::<Option<Vec<_>>>()?;
    let least = *largest.iter().min()? as f64;
    let parts = (m.params.block_bytes()? / least).ceil().max(1.0);
    let stripes = parts > 1.0 || asks(m, Way::Written);
    Some(parts * if stripes { largest.len() as f64 } else { 1.0 })
}

/// Bytes of the smallest request.
const SECTOR: f64 = 512.0;

/// Fewer requests than this for each block are those of blocks that were asked for, and some stray ones.
const SPLIT: f64 = 1.05;

/// Requests into which each block of direct I/O was split at most, by what the devices counted: a limit
/// of segments splits what is smaller than the largest request. Others had no more requests than their
/// bytes have sectors: the rest are the load's own.
fn requests_seen(m: &Measurement, t: &Trial) -> Option<f64> {
    if commits(m) {
        return None; // A journal has requests of its own.
    }
    let d = t.device.as_ref()?;
    let sum = |of: &dyn Fn(Way) -> f64| Way::BOTH.into_iter().map(of).sum::<f64>();
    let blocks = sum(&|way| asked(t, way)) / m.params.block_bytes()?;
    let others = sum(&|way| (way.moved(d) - asked(t, way)).max(0.0));
    let requests = (d.reads.saturating_add(d.writes) as f64 - others / SECTOR) / blocks;
    Some(requests).filter(|r| r.is_finite() && *r >= SPLIT).map(f64::ceil)
}

/// Others' share of the I/Os in flight during a trial.
pub(in crate::checks) fn others_in_device(
    ctx: &Context,
    m: &Measurement,
    t: &Trial,
) -> Option<f64> {
    in_flight(ctx, m, t).map(|(others, own)| others / (others + own))
}

/// Others' share of all bytes that the devices moved, both ways: all but what the load may have had moved; 0
/// where that has no bound.
fn share_of_bytes(ctx: &Context, m: &Measurement) -> f64 {
    let sum = |of: &dyn Fn(&Trial, Way) -> f64| -> f64 {
        m.trials.iter().flat_map(|t| Way::BOTH.map(|way| of(t, way))).sum()
    };
    let moved = sum(&|t, way| t.device.as_ref().map_or(0.0, |d| way.moved(d)));
    let own =
        sum(&|t, way| own_times(ctx, m, way).unwrap_or(f64::INFINITY) * asked(t, way).max(1.0));
    1.0 - (own / moved).min(1.0)
}

/// What is found of them, and what it weighs.
pub(super) fn weighed(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let flights: Vec<(f64, f64)> = m.trials.iter().filter_map(|t| in_flight(ctx, m, t)).collect();
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let (others, own) = flights.iter().fold((0.0, 0.0), |(a, b), (o, w)| (a + o, b + w));
    let share = others / (others + own);
    let bytes = share_of_bytes(ctx, m);
    let in_queue = share > QUEUED;
    // A load that keeps several I/Os in flight may have fewer in the device, and others fill the rest.
    let may_hide = !commits(m) && in_flight_at_most(m) > 1.0;
    let fills = bytes > MOST && (in_queue || may_hide);
    if flights.len() < m.trials.len() || !share.is_finite() || !(in_queue || fills) {
        return None;
    }
    let loss = Loss::of_trials(m, |t| others_in_device(ctx, m, t));
    let shares = is_random(m) || commits(m);
    let much = share > MUCH && bytes > if shares { MUCH } else { THRESHOLD };
    let unknown = if much || fills { Severity::Suspect } else { Severity::Note };
    let severity = loss.and_then(|l| l.severity(m)).unwrap_or(unknown);
    let cost = match loss {
        Some(loss) => {
            format!(
                "compared with the trials without them, the figure lost {}",
                percent(loss.value.max(0.0))
            )
        }
        None => "what they cost is unknown".to_owned(),
    };
    let took = match in_queue {
        true => format!("had {} I/Os in flight", format_factor(others / seconds)),
        false => "moved most bytes".to_owned(),
    };
    let of_all = percent(if in_queue { share } else { bytes });
    let message = format!("other programs {took} on the same device, {of_all} of all; {cost}");
    let finding = CHECK.finding(severity, message, stop_disk_users(ctx));
    let finding = finding.with("others_in_flight", others / seconds);
    let finding = finding.with("own_in_flight", own / seconds).with("share", share);
    Some(finding.with("share_of_bytes", bytes))
}
