//! `disk.link`: the rate that the link to the device carries.
//!
//! The host's probe has the sources of the rates: Serial ATA (8b/10b), PCI Express (8b/10b up to 5
//! GT/s, 128b/130b from 8 GT/s) by lanes.

use proofmark_model::{
    Bottleneck, Ceiling, Input, Link, Measurement, Provenance, Unit, ceiling_id, format_quantity,
};

use super::CeilingRule;
use super::parts::{Formula, input, input_of};
use crate::disk::{Cached, read_share};
use crate::words::known;
use crate::{Capacity, Context};

/// Largest error of a link's clock: 350 ppm and 0.5 % of spread in Serial ATA, less in PCI Express;
/// doubled.
const CLOCK: f64 = 0.01;

/// Returns true if a link carries both directions at the same time, each at its rate: PCI Express,
/// SAS and USB from 5 Gbit/s have a pair of wires for each.
fn both_at_once(link: &Link) -> bool {
    let usb = link.name.strip_prefix("USB ").and_then(|rest| rest.split_whitespace().next());
    let megabits = usb.and_then(|n| n.parse::<f64>().ok());
    link.name.starts_with("PCIe")
        || link.name.starts_with("SAS")
        || megabits.is_some_and(|rate| rate >= 5000.0)
}

/// Fails if the result needs no byte from the device.
pub(super) fn ensure_from_device(m: &Measurement) -> Result<(), String> {
    match Cached::read(m) {
        Cached::Warm => Err("a warm page cache serves the reads, not the device".to_owned()),
        _ => Ok(()),
    }
}

/// Bytes of an operation, by which bytes per second are divided.
pub(super) fn operation(m: &Measurement) -> Result<Input, String> {
    let block = m.params.block_bytes().ok_or("the configuration has no block_size")?;
    let note = "an operation moves at least this";
    Ok(input("block_size", block, "B", Provenance::Declared, note))
}

/// The link of the only leaf device.
fn link<'a>(ctx: &'a Context) -> Result<&'a Link, String> {
    let storage = known(&ctx.host.storage, "the device of the folder")?;
    let mut leaves = storage.leaves();
    let device = leaves.next().ok_or("the folder has no known block device")?;
    if leaves.next().is_some() {
        return Err("several devices share the bytes in an unknown way".to_owned());
    }
    device.link.as_ref().ok_or_else(|| match device.transport.as_deref() {
        Some(how @ "virtio") => format!("{} is a {how} device without a link", device.name),
        Some(how) => format!("the rate of the link ({how}) to {} is unknown", device.name),
        None => format!("the link of {} is unknown", device.name),
    })
}

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::DISK_LINK,
    title: "Link to the device",
    about: "Bytes per second that the link to the device carries after coding, as the machine \
         reports it: SATA 6 Gbit/s carries 600 MB/s, PCI Express its lanes times their rate. It is \
         an upper bound, since commands and packet headers are not subtracted. PCI Express, SAS \
         and USB from 5 Gbit/s carry reads and writes at the same time, so the larger direction of \
         a mix counts. On other links the sum of both counts. Uncertainty: 1 % for the link's \
         clock. Unknown for virtual disks, which have no link, and for several devices at once. \
         Warm reads do not use the link.",
    derive,
    bound: derive,
    bottleneck: Some(bottleneck),
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    ensure_from_device(m)?;
    let link = link(ctx)?;
    let note = format!("{}: {}", link.name, link.source);
    let rate = input("link", link.bytes_per_s, "B/s", Provenance::Reported, note);
    let mut formula = Formula::from_input(rate);
    let reads = read_share(m).ok_or("the share of reads is unknown")?;
    let larger = reads.max(1.0 - reads);
    if larger < 1.0 && both_at_once(link) {
        let note = "share of the larger direction";
        formula = formula.over(input("share", larger, "", Provenance::Measured, note));
    }
    if m.unit != Unit::BytePerSecond {
        formula = formula.over(operation(m)?);
    }
    Ok(RULE.ceiling(m, formula, CLOCK))
}

fn bottleneck(ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    let link = input_of(ceiling, "link");
    let name = link.and_then(|i| Some(i.note.split_once(": ")?.0)).unwrap_or("of the device");
    let rate = link.map_or(String::new(), |i| {
        format!(", {} after coding", format_quantity(i.value, Unit::BytePerSecond))
    });
    Bottleneck::new(format!("link ({name})"), format!("{share}{rate}"))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Host;

    use super::*;
    use crate::testing::*;

    fn linked(name: &str, bytes_per_s: f64) -> Host {
        with_storage(|s| {
            s.devices[0].transport = Some("sata".to_owned());
            s.devices[0].link =
                Some(Link { name: name.to_owned(), bytes_per_s, source: "sysfs".to_owned() });
        })
    }

    #[test]
    fn one_link_is_the_ceiling() {
        let read = || disk("seq_read", 1 << 20, "none");
        let sata = linked("SATA 6.0 Gbit/s", 600e6);
        let c = RULE.on(&sata, &[]).derive(&read()).unwrap();
        assert_eq!((c.value, c.uncertainty, c.formula.as_str()), (600e6, 0.01, "link"));
        assert_eq!(RULE.on(&sata, &[]).derive(&fsync(1)).unwrap().unit, "op/s");
        RULE.on(&sata, &[]).expect([
            ("commits", fsync(1), Ok(600e6 / 4096.0)),
            ("a warm cache", disk("seq_read", 4096, "warm"), Err("warm")),
        ]);
        let near = "^link (SATA 6.0 Gbit/s)$ ... 600.0 MB/s after coding";
        expect_bottleneck(&sata, at_rate(read(), 555e6), &[], near);
    }

    #[test]
    fn a_mix_is_bound_by_the_sum_except_on_full_duplex_links() {
        let copy = disk("read_write", 1 << 20, "none");
        for (name, times) in [
            ("PCIe 8.0 GT/s x4", 2.0),
            ("SAS 12.0 Gbit/s x1", 2.0),
            ("USB 5000 Mbit/s", 2.0),
            ("USB 20000 Mbit/s", 2.0),
            ("USB 480 Mbit/s", 1.0),
            ("USB 12 Mbit/s", 1.0),
            ("SATA 3.0 Gbit/s", 1.0),
            ("eMMC HS400", 1.0),
            ("USB", 1.0),
        ] {
            let c = RULE.on(&linked(name, 1e9), &[]).derive(&copy).unwrap();
            assert!((c.value / 1e9 - times).abs() < 1e-6, "{name}: {}", c.value);
        }
    }

    #[test]
    fn an_unknown_fact_is_the_reason() {
        let two = |s: &mut proofmark_model::Storage| s.devices.push(block_device("vdb", "254:16"));
        for (host, why) in [
            (host_with_disk(), "vda is a virtio device without a link"),
            (host(), "not part of the test"),
            (with_storage(|s| s.devices.clear()), "no known block device"),
            (with_storage(|s| s.devices[0].transport = Some("usb".to_owned())), "(usb)"),
            (with_storage(two), "several"),
        ] {
            RULE.on(&host, &[]).expect([("unknown", rand_read(1), Err(why))]);
        }
    }
}
