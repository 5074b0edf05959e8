//! The path of a disk's I/O: device or page cache, with or without the flush.

use crate::{FileState, Measurement, Param, key, word};

/// The parameter that represents the path of the I/O, which [`io_path`] describes.
pub const IO_PATH: &str = key::DIRECT.name();

/// Describes the path of the I/O: `direct`, or `buffered, cold cache`; for writes also whether the
/// time includes the flush. `None` for a configuration without such a choice.
pub fn io_path(m: &Measurement) -> Option<String> {
    if !m.subsystem.info().uses_block_devices || !m.params.has(key::DIRECT) {
        return None;
    }
    let path = match (asked_direct(m), direct(m)) {
        (true, true) => "direct",
        (true, false) => "direct requested, buffered used",
        (false, _) => match m.params.get(key::CACHE) {
            Some(word::WARM) => "buffered, warm cache",
            Some(word::COLD) => "buffered, cold cache",
            _ => "buffered",
        },
    };
    let flush = match (writes(m), flushed(m)) {
        (false, _) => "",
        (true, Some(true)) => ", flush included",
        (true, Some(false)) => ", no flush",
        (true, None) => ", flush in some trials only",
    };
    Some(format!("{path}{flush}"))
}

fn states(m: &Measurement) -> impl Iterator<Item = &FileState> {
    m.trials.iter().filter_map(|t| t.file.as_ref())
}

fn asked_direct(m: &Measurement) -> bool {
    m.params.get(key::DIRECT) == Some(word::ON)
        || m.params.named(IO_PATH) == Some(&Param::Flag(true))
}

/// Returns true if direct I/O was requested and no trial's file contradicts it.
fn direct(m: &Measurement) -> bool {
    asked_direct(m) && !states(m).any(|f| f.direct == Some(false))
}

fn writes(m: &Measurement) -> bool {
    m.params.has(key::FLUSH)
}

/// Returns true if every trial ended with a flush, or without trials, if one was requested; `None`
/// if only some did.
fn flushed(m: &Measurement) -> Option<bool> {
    let (all, any) = (states(m).all(FileState::flushed), states(m).any(FileState::flushed));
    match states(m).next() {
        None => Some(m.params.get(key::FLUSH) == Some(word::END)),
        Some(_) => (all == any).then_some(all),
    }
}

/// Returns the distance of a result from what the device does: 0 for direct I/O with its flush.
/// `None` where the page cache may have served everything.
pub fn distance_from_device(m: &Measurement) -> Option<u8> {
    if !m.subsystem.info().uses_block_devices || !m.params.has(key::DIRECT) {
        return Some(0);
    }
    let unflushed = writes(m) && flushed(m) != Some(true);
    match (direct(m), m.params.get(key::CACHE)) {
        (true, _) => Some(u8::from(unflushed)),
        (false, Some(word::WARM)) if !writes(m) => None,
        (false, _) if asked_direct(m) || unflushed => None,
        (false, _) => Some(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Subsystem;
    use crate::testing::{measurement, spec};
    use crate::{Params, Unit};

    fn point(parameters: &[(&str, &str)]) -> Measurement {
        let params = parameters.iter().fold(Params::default(), |p, (k, v)| p.with_named(k, *v));
        let mut spec = spec("disk.seq_read", Unit::BytePerSecond);
        spec.subsystem = Subsystem::Disk;
        measurement(&spec, params, &[])
    }

    #[test]
    fn every_io_path_has_a_name_and_a_distance() {
        for (parameters, name, far) in [
            (&[("direct", "on"), ("cache", "none")][..], "direct", Some(0)),
            (&[("direct", "on"), ("flush", "end")], "direct, flush included", Some(0)),
            (&[("direct", "on"), ("flush", "none")], "direct, no flush", Some(1)),
            (&[("direct", "off"), ("cache", "cold")], "buffered, cold cache", Some(2)),
            (&[("direct", "off"), ("cache", "warm")], "buffered, warm cache", None),
            (
                &[("direct", "off"), ("cache", "warm"), ("flush", "end")],
                "buffered, warm cache, flush included",
                Some(2),
            ),
            (
                &[("direct", "off"), ("cache", "cold"), ("flush", "none")],
                "buffered, cold cache, no flush",
                None,
            ),
        ] {
            let m = point(parameters);
            assert_eq!(io_path(&m).as_deref(), Some(name));
            assert_eq!(distance_from_device(&m), far, "{name}");
        }
        assert_eq!(io_path(&point(&[])), None);
    }
}
