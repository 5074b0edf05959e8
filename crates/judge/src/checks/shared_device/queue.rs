//! Others' I/Os that are in the device together with the load's.

use proofmark_model::{Finding, Measurement, Severity, Trial, format_factor};

use super::{CHECK, THRESHOLD, own_times};
use crate::Context;
use crate::checks::loss::Loss;
use crate::checks::percent;
use crate::checks::programs::stop_disk_users;
use crate::disk::{Cached, Way, asked, asks, commits, in_flight_at_most, is_random};

/// Smallest share of the device's I/Os in flight by others that is reported.
const QUEUED: f64 = 0.05;
/// Others' share of both the I/Os in flight and the bytes from which a result is suspect, if the
/// cost is unknown. A queue alone may cost nothing: a journal of 30 MB/s had 3 of 4 I/Os in flight
/// during random reads at their full rate. A stream loses its share of the queue: sequential writes
/// lost 25 % to readers with 44 % of it and 4 % of the bytes.
const MUCH: f64 = 0.4;
/// The same for bytes alone: few large I/Os fill a device that also serves many small ones. Random
/// reads at a queue depth of 32 lost 53 to 70 % to readers with 83 to 88 % of the bytes and 0 to 13
/// % of the queue. Commits lose less: with 97 % of the bytes by others and an empty queue they lost
/// 4 to 12 %.
const MOST: f64 = 0.75;

/// I/Os in flight during a trial times their seconds, by others and by the load. `None` if the
/// load's own are unknown: the kernel reads ahead and writes back at times of its own.
pub(super) fn in_flight(ctx: &Context, m: &Measurement, t: &Trial) -> Option<(f64, f64)> {
    if Cached::read(m) != Cached::Direct && !commits(m) {
        return None;
    }
    let all = t.device.as_ref()?.in_flight_s;
    let requests = requests_of_block(ctx, m)?.max(requests_seen(m, t).unwrap_or(1.0));
    let own = (in_flight_at_most(m) * requests * t.seconds).min(all);
    Some((all - own, own)).filter(|(others, own)| others.is_finite() && *own > 0.0)
}

/// Most requests per block. The kernel splits a block above the device's largest request, a stripe
/// is on several devices, and each write may be on all.
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

/// Smallest number of requests per block that shows splitting; fewer are whole blocks and some
/// stray requests.
const SPLIT: f64 = 1.05;

/// Most requests per block of direct I/O, by the device counters: a limit of segments splits blocks
/// below the largest request. Others had at most as many requests as their bytes have sectors; the
/// rest are the load's own.
fn requests_seen(m: &Measurement, t: &Trial) -> Option<f64> {
    if commits(m) {
        return None; // A journal has requests of its own.
    }
    let d = t.device.as_ref()?;
    let sum = |bytes: &dyn Fn(Way) -> f64| Way::BOTH.into_iter().map(bytes).sum::<f64>();
    let blocks = sum(&|way| asked(t, way)) / m.params.block_bytes()?;
    let others = sum(&|way| (way.moved(d) - asked(t, way)).max(0.0));
    let requests = (d.reads.saturating_add(d.writes) as f64 - others / SECTOR) / blocks;
    Some(requests).filter(|r| r.is_finite() && *r >= SPLIT).map(f64::ceil)
}

/// Others' share of the device during a trial: of the I/Os in flight, or of the bytes where those
/// may hide.
pub(in crate::checks) fn others_in_device(
    ctx: &Context,
    m: &Measurement,
    t: &Trial,
) -> Option<f64> {
    let of_queue = in_flight(ctx, m, t).map(|(others, own)| others / (others + own))?;
    Some(if may_hide(m) { of_queue.max(share_of_bytes(ctx, m, [t])) } else { of_queue })
}

/// True if others may be in the device without more I/Os in flight: a load with several may have
/// fewer there, and others fill the rest.
fn may_hide(m: &Measurement) -> bool {
    !commits(m) && in_flight_at_most(m) > 1.0
}

/// Others' share of all bytes that the devices moved in these trials, beyond those that the load may
/// cause; 0 if the load's bytes have no bound.
fn share_of_bytes<'a>(
    ctx: &Context,
    m: &Measurement,
    trials: impl IntoIterator<Item = &'a Trial> + Copy,
) -> f64 {
    let sum = |bytes: &dyn Fn(&Trial, Way) -> f64| -> f64 {
        trials.into_iter().flat_map(|t| Way::BOTH.map(|way| bytes(t, way))).sum()
    };
    let moved = sum(&|t, way| t.device.as_ref().map_or(0.0, |d| way.moved(d)));
    let own =
        sum(&|t, way| own_times(ctx, m, way).unwrap_or(f64::INFINITY) * asked(t, way).max(1.0));
    1.0 - (own / moved).min(1.0)
}

/// Reports others' I/Os in flight, with their weight.
pub(super) fn weighed(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let flights: Vec<(f64, f64)> = m.trials.iter().filter_map(|t| in_flight(ctx, m, t)).collect();
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let (others, own) = flights.iter().fold((0.0, 0.0), |(a, b), (o, w)| (a + o, b + w));
    let share = others / (others + own);
    let bytes = share_of_bytes(ctx, m, &m.trials);
    let in_queue = share > QUEUED;
    let fills = bytes > MOST && (in_queue || may_hide(m));
    if flights.len() < m.trials.len() || !share.is_finite() || !(in_queue || fills) {
        return None;
    }
    let loss = Loss::from_trials(m, |t| others_in_device(ctx, m, t));
    let shares = is_random(m) || commits(m);
    let much = share > MUCH && bytes > if shares { MUCH } else { THRESHOLD };
    let unknown = if much || fills { Severity::Suspect } else { Severity::Note };
    let severity = loss.and_then(|l| l.severity(m)).unwrap_or(unknown);
    let cost = match loss {
        Some(loss) => {
            format!(
                "the trials with them cost the figure {}, compared with those without",
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
    let finding = finding.with("share_of_bytes", bytes);
    Some(match loss {
        Some(loss) => finding.with("loss", loss.value.max(0.0)),
        None => finding,
    })
}
