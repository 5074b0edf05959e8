//! `disk.link`: what the link to the device carries.
//!
//! Sources of the rates are those of the host's probe: Serial ATA (8b/10b), PCI Express
//! (8b/10b to 5 GT/s, 128b/130b from 8 GT/s on) by lanes.

use proofmark_model::{Bottleneck, Ceiling, Link, Measurement, Provenance, Unit, format_quantity};

use super::CeilingRule;
use super::parts::{Derived, input};
use crate::disk::{Cached, read_share};
use crate::{Capacity, Context};

/// How far a link's clock may be off its nominal rate: 350 ppm and 0.5 % of spread in
/// Serial ATA, less in PCI Express; doubled.
const CLOCK: f64 = 0.01;

/// The rule.
pub(super) struct DiskLink;

/// Whether a link carries both directions at the same time, each at its rate: PCI
/// Express, SAS and USB from 5 Gbit/s on have a pair of wires for each.
fn both_at_once(link: &Link) -> bool {
    let usb = link.name.strip_prefix("USB ").and_then(|rest| rest.split_whitespace().next());
    let megabits = usb.and_then(|n| n.parse::<f64>().ok());
    link.name.starts_with("PCIe")
        || link.name.starts_with("SAS")
        || megabits.is_some_and(|rate| rate >= 5000.0)
}

/// The only link at the bottom.
fn link<'a>(ctx: &'a Context) -> Result<&'a Link, String> {
    let storage = ctx.host.storage.get().ok_or_else(|| {
        format!("the device of the folder is unknown ({})", ctx.host.storage.origin())
    })?;
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

impl CeilingRule for DiskLink {
    fn id(&self) -> &'static str {
        "disk.link"
    }

    fn title(&self) -> &'static str {
        "Link to the device"
    }

    fn about(&self) -> &'static str {
        "Bytes per second that the link to the device carries after coding, as the machine reports \
         it: SATA 6 Gbit/s carries 600 MB/s, PCI Express its lanes times their rate. It is an \
         upper bound, since commands and packet headers are not subtracted. PCI Express, SAS and \
         USB from 5 Gbit/s carry reads and writes at the same time, so the larger direction of a \
         mix counts. On other links the sum of both counts. Uncertainty: 1 % for the link's clock. \
         Unknown for virtual disks, which have no link, and for several devices at once. Warm \
         reads do not use the link."
    }

    fn derive(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
        if Cached::of(m) == Cached::Warm {
            return Err("a warm page cache serves the reads, not the device".to_owned());
        }
        let link = link(ctx)?;
        let note = format!("{}: {}", link.name, link.source);
        let mut inputs = vec![input("link", link.bytes_per_s, "B/s", Provenance::Reported, note)];
        let (mut value, mut formula) = (link.bytes_per_s, "link".to_owned());
        let reads = read_share(m).ok_or("the share of reads is unknown")?;
        let larger = reads.max(1.0 - reads);
        if larger < 1.0 && both_at_once(link) {
            value /= larger;
            formula += " / share";
            let note = "share of the larger direction";
            inputs.push(input("share", larger, "", Provenance::Measured, note));
        }
        if m.unit != Unit::BytePerSecond {
            let block = m.params.block_bytes().ok_or("the point has no block_size")?;
            value /= block;
            formula += " / block_size";
            let note = "an operation moves at least this";
            inputs.push(input("block_size", block, "B", Provenance::Declared, note));
        }
        Ok(Derived { value, formula, inputs, uncertainty: CLOCK }.by(self, m))
    }

    fn bottleneck(&self, ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
        let link = ceiling.inputs.iter().find(|i| i.name == "link");
        let name = link.and_then(|i| Some(i.note.split_once(": ")?.0)).unwrap_or("of the device");
        let rate = link.map_or(String::new(), |i| {
            format!(", {} after coding", format_quantity(i.value, Unit::BytePerSecond))
        });
        Bottleneck::new(format!("link ({name})"), format!("{share}{rate}"))
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Host;

    use super::*;
    use crate::testing::{
        at_rate, block_device, context, disk, fsync, host, host_with_disk, judged, policy,
        rand_read, spec, with_storage,
    };

    fn linked(name: &str, bytes_per_s: f64) -> Host {
        with_storage(|s| {
            s.devices[0].transport = Some("sata".to_owned());
            s.devices[0].link =
                Some(Link { name: name.to_owned(), bytes_per_s, source: "sysfs".to_owned() });
        })
    }

    fn sata() -> Host {
        linked("SATA 6.0 Gbit/s", 600e6)
    }

    fn on(host: &Host, m: &Measurement) -> Result<Ceiling, String> {
        let (spec, policy) = (spec(&m.workload), policy());
        DiskLink.derive(&context(host, &spec, &policy, &[]), m)
    }

    #[test]
    fn one_link_is_the_ceiling() {
        let c = on(&sata(), &disk("seq_read", 1 << 20, "none")).unwrap();
        assert_eq!((c.value, c.uncertainty, c.formula.as_str()), (600e6, 0.01, "link"));
        let commits = on(&sata(), &fsync(1)).unwrap();
        assert_eq!((commits.value, commits.unit.as_str()), (600e6 / 4096.0, "op/s"));
    }

    #[test]
    fn a_mix_is_bound_by_the_sum_but_on_links_with_two_ways() {
        let copy = disk("read_write", 1 << 20, "none");
        assert_eq!(on(&sata(), &copy).unwrap().value, 600e6);
        let of = |name: &str| on(&linked(name, 1e9), &copy).unwrap().value / 1e9;
        for name in
            ["PCIe 8.0 GT/s x4", "SAS 12.0 Gbit/s x1", "USB 5000 Mbit/s", "USB 20000 Mbit/s"]
        {
            assert!((of(name) - 2.0).abs() < 1e-6, "{name}: {}", of(name));
        }
        for name in ["USB 480 Mbit/s", "USB 12 Mbit/s", "SATA 3.0 Gbit/s", "eMMC HS400", "USB"] {
            assert_eq!(of(name), 1.0, "{name}");
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        let why = |host: &Host| on(host, &rand_read(1)).unwrap_err();
        assert!(why(&host_with_disk()).contains("vda is a virtio device without a link"));
        assert!(why(&host()).contains("not part of the test"));
        assert!(why(&with_storage(|s| s.devices.clear())).contains("no known block device"));
        let usb = with_storage(|s| s.devices[0].transport = Some("usb".to_owned()));
        assert!(why(&usb).contains("(usb)"));
        let two = with_storage(|s| s.devices.push(block_device("vdb", "254:16")));
        assert!(why(&two).contains("several"));
        assert!(on(&sata(), &disk("seq_read", 4096, "warm")).unwrap_err().contains("warm"));
    }

    #[test]
    fn near_it_the_link_is_the_bottleneck() {
        let m = at_rate(disk("seq_read", 1 << 20, "none"), 555e6);
        let bottleneck = judged(&sata(), m, &[]).bottleneck.unwrap();
        assert_eq!(bottleneck.resource, "link (SATA 6.0 Gbit/s)");
        assert!(bottleneck.evidence.contains("600.0 MB/s after coding"), "{}", bottleneck.evidence);
    }
}
