//! Properties of disk results: device or page cache, flush, I/Os per second, and what the device
//! counted.

pub use proofmark_model::{IO_PATH, distance_from_device, io_path};
use proofmark_model::{Measurement, Unit, check_id, format_factor, key};

use super::num::{Scale, median, percentage};
use super::operation;
use super::text::joined;

/// Parameters that the words of [`io_path`] already include.
pub const COVERED_BY_IO_PATH: [&str; 2] = [key::CACHE.name(), key::FLUSH.name()];

/// The largest number that has room on the axis of a chart.
const DIGITS: f64 = 20_000.0;

/// The scale that shows a disk's rate as I/Os per second.
pub fn iops(m: &Measurement) -> Option<Scale> {
    let rate = m.subsystem.info().uses_block_devices && m.unit == Unit::BytePerSecond;
    m.params.get(key::BLOCK_SIZE).filter(|_| rate).and_then(Scale::iops)
}

/// The scale of a disk's rate; operations have no prefix, as is usual for IOPS.
pub fn scale(m: &Measurement, values: &[f64]) -> Scale {
    match (m.subsystem.info().uses_block_devices, m.unit) {
        (true, Unit::OpPerSecond) => Scale::for_largest([1.0], Unit::OpPerSecond),
        _ => Scale::for_values(values, m.unit),
    }
}

/// The scale of I/Os per second on a chart's axis, which has room for few digits. Each result's own
/// block size decides, so there is one scale per result.
pub fn chart_iops<'a>(
    all: impl Iterator<Item = &'a Measurement>,
) -> impl Fn(&Measurement) -> Option<Scale> + Copy {
    let most = all
        .filter_map(|m| Some(iops(m)?.scaled(m.summary.as_ref()?.value())))
        .filter(|v| v.is_finite())
        .fold(0.0, f64::max);
    move |m| iops(m).map(|scale| if most > DIGITS { scale.thousands() } else { scale })
}

/// I/Os per second in a trial of this value.
pub fn trial_iops(m: &Measurement, value: f64) -> Option<f64> {
    iops(m).map(|scale| scale.scaled(value)).filter(|v| v.is_finite())
}

/// Bytes that the devices transferred as a share of those requested: the median over the trials.
pub fn device_share(m: &Measurement) -> Option<f64> {
    median(m.trials.iter().filter_map(|t| {
        let (device, file) = (t.device.as_ref()?, t.file.as_ref()?);
        let asked = file.asked_read_bytes.saturating_add(file.asked_written_bytes);
        // What the devices transferred in the other direction is not part of this work.
        let of = |asked: u64, moved: u64| if asked > 0 { moved } else { 0 };
        let moved = of(file.asked_read_bytes, device.read_bytes)
            .saturating_add(of(file.asked_written_bytes, device.written_bytes));
        (asked > 0).then(|| moved as f64 / asked as f64)
    }))
}

/// What the devices transferred in words: `100.0 % of the bytes`; `1601 times the bytes`.
pub fn device_words(m: &Measurement) -> Option<String> {
    /// Shares from here on are easier to read as factors.
    const FACTOR: f64 = 10.0;
    match device_share(m)? {
        share if share >= FACTOR => Some(format!("{} times the bytes", format_factor(share))),
        share => percentage(share).map(|share| format!("{share} of the bytes")),
    }
}

/// The burst and the sustained rate, where the rate fell.
pub fn fall(m: &Measurement) -> Option<[f64; 2]> {
    let evidence = &m.findings.iter().find(|f| f.check == check_id::FALLING_RATE)?.evidence;
    let number = |name| evidence.get(name).and_then(serde_json::Value::as_f64);
    Some([number("burst")?, number("sustained")?])
}

/// `burst 900.0 MB/s, sustained 120.0 MB/s`.
pub fn fall_phrase(m: &Measurement, scale: &Scale) -> Option<String> {
    let [burst, sustained] = fall(m)?.map(|v| scale.with_label(v));
    Some(format!("burst {}, sustained {}", burst?, sustained?))
}

/// Details of a disk's result: `p50 118.0 us, p99 310.0 us; device moved 100.0 % of the bytes`.
pub fn extra(m: &Measurement, scale: &Scale) -> Option<String> {
    if !m.subsystem.info().uses_block_devices {
        return None;
    }
    let times = operation::phrase(m);
    let device = device_words(m).map(|words| format!("device moved {words}"));
    let parts = joined([fall_phrase(m, scale), times, device].into_iter().flatten(), "; ");
    (!parts.is_empty()).then_some(parts)
}
