//! Rate of the link to a device after coding: the maximum for reads and writes, except from a cache
//! on this side. The overhead of packets and commands is not subtracted.
//!
//! Sources: PCI Express Base Specification 6.0, section 4.2 (8b/10b at 2.5 and 5 GT/s, 128b/130b at
//! 8 to 32 GT/s, flits of 242 bytes in 256 at 64 GT/s); Serial ATA Revision 3.x and Serial Attached
//! SCSI (8b/10b; SAS-4: 128b/150b); Universal Serial Bus 2.0, and 3.2 (8b/10b at 5 Gbit/s,
//! 128b/132b a lane of 10 Gbit/s); Linux `Documentation/ABI/testing/sysfs-bus-pci`, `sysfs-ata`,
//! `sysfs-bus-usb`.

use proofmark_model::Link;

use crate::root::{Root, above};
use crate::text::is_number;

/// Detects the link to a device with this real folder in sysfs; `None` if its rate is unknown.
pub(super) fn detect(root: &Root, folder: &str, transport: &str) -> Option<Link> {
    match transport {
        "nvme" => nvme(root, folder),
        "sata" => sata(root, folder),
        "sas" => sas(root, folder),
        "usb" => usb(root, folder),
        _ => None,
    }
}

fn nvme(root: &Root, folder: &str) -> Option<Link> {
    let (function, speed) = nearest(root, folder, "current_link_speed")?;
    let width: u32 = root.number(&format!("{function}/current_link_width")).ok()?;
    let giga = leading(&speed, "GT/s")?;
    Some(Link {
        name: format!("PCIe {giga:.1} GT/s x{width}"),
        bytes_per_s: pcie(giga)? * f64::from(Some(width).filter(|w| (1..=32).contains(w))?),
        source: format!("{function}/current_link_speed"),
    })
}

/// Returns the link of the ATA port above a disk; `None` if a port multiplier has several.
fn sata(root: &Root, folder: &str) -> Option<Link> {
    let port = folder.split('/').filter_map(|s| s.strip_prefix("ata")).find(|n| is_number(n))?;
    let source = format!("/sys/class/ata_link/link{port}/sata_spd");
    let giga = leading(&root.line(&source).ok()?, "Gbps")?;
    let bytes_per_s = eight_of_ten(giga, &[1.5, 3.0, 6.0])?;
    Some(Link { name: format!("SATA {giga:.1} Gbit/s"), bytes_per_s, source })
}

/// Returns the lanes of the port nearest to a SAS disk, as one link.
fn sas(root: &Root, folder: &str) -> Option<Link> {
    let mut here = above(folder)?;
    while !here.rsplit('/').next()?.starts_with("port-") {
        here = above(here)?;
    }
    let phys = root.names(here, "phy-").ok()?;
    let rate = |phy: &String| {
        let path = format!("/sys/class/sas_phy/{phy}/negotiated_linkrate");
        Some((leading(&root.line(&path).ok()?, "Gbit")?, path))
    };
    let rates: Vec<(f64, String)> = phys.iter().filter_map(rate).collect();
    let ((giga, source), lanes) = (rates.first()?, rates.len());
    let same = rates.iter().all(|(other, _)| other == giga);
    let lane = if *giga == 22.5 {
        giga * 1e9 / 8.0 * 128.0 / 150.0
    } else {
        eight_of_ten(*giga, &[1.5, 3.0, 6.0, 12.0])?
    };
    same.then(|| Link {
        name: format!("SAS {giga:.1} Gbit/s x{lanes}"),
        bytes_per_s: lane * lanes as f64,
        source: source.clone(),
    })
}

fn usb(root: &Root, folder: &str) -> Option<Link> {
    let (device, speed) = nearest(root, folder, "speed")?;
    let mega: f64 = speed.parse().ok()?;
    let share = match speed.as_str() {
        "1.5" | "12" | "480" => 1.0,
        "5000" => 8.0 / 10.0,
        "10000" | "20000" => 128.0 / 132.0,
        _ => return None,
    };
    Some(Link {
        name: format!("USB {speed} Mbit/s"),
        bytes_per_s: mega * 1e6 / 8.0 * share,
        source: format!("{device}/speed"),
    })
}

/// Returns bytes per second of a lane, from its transfers.
fn pcie(giga: f64) -> Option<f64> {
    const CODES: &[(f64, f64)] = &[
        (2.5, 8.0 / 10.0),
        (5.0, 8.0 / 10.0),
        (8.0, 128.0 / 130.0),
        (16.0, 128.0 / 130.0),
        (32.0, 128.0 / 130.0),
        (64.0, 242.0 / 256.0),
    ];
    let code = CODES.iter().find(|(rate, _)| *rate == giga)?;
    Some(giga * 1e9 / 8.0 * code.1)
}

/// Returns bytes per second of an 8b/10b line, if its rate is a standard one.
fn eight_of_ten(giga: f64, rates: &[f64]) -> Option<f64> {
    rates.contains(&giga).then_some(giga * 1e9 / 10.0)
}

/// Finds the file in the nearest folder above; returns that folder and the line.
fn nearest(root: &Root, folder: &str, file: &str) -> Option<(String, String)> {
    let mut here = above(folder)?;
    loop {
        if let Ok(line) = root.line(&format!("{here}/{file}")) {
            return Some((here.to_owned(), line));
        }
        here = above(here).filter(|next| *next != "/")?;
    }
}

/// Parses the number before a unit, as in `8.0 GT/s PCIe` and `6.0 Gbps`.
fn leading(text: &str, unit: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let number = words.next()?.parse().ok()?;
    (words.next()? == unit).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    const PCI: &str = "/sys/devices/pci0000:00/0000:00:1d.0/0000:3d:00.0";

    fn rate(machine: &Machine, folder: &str, transport: &str) -> Option<(String, u64)> {
        let link = detect(&machine.root(), folder, transport)?;
        assert!(machine.root().exists(&link.source), "{}", link.source);
        Some((link.name, link.bytes_per_s.round() as u64))
    }

    /// Plants files of each device, one of which differs, and those of a device above or next to
    /// it, which must not count.
    #[test]
    fn links_by_their_rate() {
        let pcie = format!("{PCI}/current_link_speed");
        let pcie_above = "/sys/devices/pci0000:00/0000:00:1d.0/current_link_speed";
        let usb = "/sys/devices/pci0000:00/0000:00:14.0/usb2";
        let sata = "/sys/devices/pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0/block/sda";
        for (text, width, expected) in [
            ("2.5 GT/s PCIe", "1", Some(("PCIe 2.5 GT/s x1", 250_000_000))),
            ("5.0 GT/s PCIe", "2", Some(("PCIe 5.0 GT/s x2", 1_000_000_000))),
            ("8 GT/s", "4", Some(("PCIe 8.0 GT/s x4", 3_938_461_538))),
            ("16.0 GT/s PCIe", "4", Some(("PCIe 16.0 GT/s x4", 7_876_923_077))),
            ("32.0 GT/s PCIe", "4", Some(("PCIe 32.0 GT/s x4", 15_753_846_154))),
            ("64.0 GT/s PCIe", "4", Some(("PCIe 64.0 GT/s x4", 30_250_000_000))),
            ("Unknown", "4", None),
            ("7.0 GT/s PCIe", "4", None),
            ("8.0 GT/s PCIe", "0", None),
            ("8.0 GT/s PCIe", "63", None),
            ("1.5 Gbps", "ata", Some(("SATA 1.5 Gbit/s", 150_000_000))),
            ("3.0 Gbps", "ata", Some(("SATA 3.0 Gbit/s", 300_000_000))),
            ("6.0 Gbps", "ata", Some(("SATA 6.0 Gbit/s", 600_000_000))),
            ("<unknown>", "ata", None),
            ("9.0 Gbps", "ata", None),
            ("480", "usb", Some(("USB 480 Mbit/s", 60_000_000))),
            ("5000", "usb", Some(("USB 5000 Mbit/s", 500_000_000))),
            ("10000", "usb", Some(("USB 10000 Mbit/s", 1_212_121_212))),
            ("20000", "usb", Some(("USB 20000 Mbit/s", 2_424_242_424))),
            ("unknown", "usb", None),
        ] {
            let m = Machine::new(&[(pcie_above, "2.5 GT/s PCIe")]);
            m.put(&format!("{PCI}/current_link_width"), width).put(&pcie, text);
            m.put("/sys/class/ata_link/link3/sata_spd", text);
            m.put("/sys/class/ata_link/link2/sata_spd", "1.5 Gbps");
            m.put(&format!("{usb}/2-1/speed"), text).put(&format!("{usb}/speed"), "10000");
            let (folder, transport) = match width {
                "ata" => (sata.to_owned(), "sata"),
                "usb" => (format!("{usb}/2-1/2-1:1.0/host4/target4:0:0/4:0:0:0/block/sdb"), "usb"),
                _ => (format!("{PCI}/nvme/nvme0/nvme0n1"), "nvme"),
            };
            let found = rate(&m, &folder, transport);
            assert_eq!(found, expected.map(|(n, r)| (n.to_owned(), r)), "{transport} {text}");
        }
        let elsewhere = "/sys/devices/platform/soc/nvme/nvme0/nvme0n1";
        assert_eq!(rate(&Machine::new(&[]), elsewhere, "nvme"), None);
        let m = Machine::new(&[(&pcie, "8.0 GT/s"), (&format!("{PCI}/current_link_width"), "4")]);
        assert_eq!(rate(&m, &format!("{PCI}/virtio1/block/vda"), "virtio"), None);
    }

    #[test]
    fn sas_adds_the_lanes_of_the_nearest_port() {
        let host = "/sys/devices/pci0000:00/0000:01:00.0/host0";
        let port = format!("{host}/port-0:0/expander-0:0/port-0:0:5");
        let disk = format!("{port}/end_device-0:0:5/target0:0:5/0:0:5:0/block/sda");
        let m = Machine::new(&[]);
        m.put(&format!("{host}/port-0:0/phy-0:0"), "").put(&format!("{port}/phy-0:0:7"), "");
        m.put("/sys/class/sas_phy/phy-0:0/negotiated_linkrate", "6.0 Gbit");
        let put = |phy: &str, text: &str| {
            m.put(&format!("{port}/{phy}"), "");
            m.put(&format!("/sys/class/sas_phy/{phy}/negotiated_linkrate"), text);
        };
        put("phy-0:0:7", "12.0 Gbit");
        assert_eq!(rate(&m, &disk, "sas"), Some(("SAS 12.0 Gbit/s x1".to_owned(), 1_200_000_000)));
        put("phy-0:0:8", "12.0 Gbit");
        assert_eq!(rate(&m, &disk, "sas"), Some(("SAS 12.0 Gbit/s x2".to_owned(), 2_400_000_000)));
        put("phy-0:0:8", "6.0 Gbit");
        assert_eq!(rate(&m, &disk, "sas"), None, "lanes that differ");
        put("phy-0:0:7", "Unknown");
        put("phy-0:0:8", "22.5 Gbit");
        assert_eq!(rate(&m, &disk, "sas"), Some(("SAS 22.5 Gbit/s x1".to_owned(), 2_400_000_000)));
        assert_eq!(rate(&m, "/sys/devices/x/end_device-0:1/block/sda", "sas"), None);
    }
}
