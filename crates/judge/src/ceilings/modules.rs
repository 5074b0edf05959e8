//! The memory bus, from the firmware's description of its modules.
//!
//! SMBIOS (DMTF DSP0134, type 17) describes modules, not channels. The place of a module often
//! names its channel (`P0 CHANNEL A`, `DIMM_A1`), but boards differ in the meaning of a letter. Too
//! many channels make a ceiling loose; too few call an honest result impossible. So names count
//! only if nothing contradicts them; else each module counts as a channel of its own.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Host, MemoryModule};

use super::parts::on_bare_metal;

/// Most modules on one channel of any board.
const MOST_IN_A_CHANNEL: usize = 3;
/// A channel of DDR memory carries 64 bits, two halves of 32 together in DDR5.
const DDR_BITS: u32 = 64;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bus {
    /// Transfers per second of the fastest module.
    pub(super) transfers_per_s: f64,
    /// Bytes per transfer of the widest module.
    pub(super) bytes: f64,
    /// Channels in all sockets.
    pub(super) channels: usize,
    /// True if the modules' places name their channels.
    pub(super) named: bool,
}

/// Returns the bus of the modules. Fails if the modules or a speed are not reported, or cannot be
/// trusted.
pub(super) fn bus(host: &Host) -> Result<Bus, String> {
    let modules = host.memory.modules.get().filter(|m| !m.is_empty()).ok_or_else(|| {
        format!("the memory modules are unknown ({})", host.memory.modules.origin())
    })?;
    on_bare_metal(host, "the hypervisor invents the reported modules")?;
    let mut transfers_per_s = 0.0_f64;
    let mut bits = 0;
    for module in modules {
        let speed = module.transfers_per_s.filter(|t| t.is_finite() && *t > 0.0);
        let speed = speed.ok_or_else(|| format!("the speed of {} is unknown", module.locator))?;
        transfers_per_s = transfers_per_s.max(speed);
        bits = bits.max(width(module));
    }
    let sockets = host.cpu.sockets.get().copied().unwrap_or(1);
    let named = named_channels(modules, sockets as usize);
    Ok(Bus {
        transfers_per_s,
        bytes: f64::from(bits) / 8.0,
        channels: named.unwrap_or(modules.len()),
        named: named.is_some(),
    })
}

/// Data bits per transfer. Firmware may report the width of half a channel of DDR5.
fn width(module: &MemoryModule) -> u32 {
    let bits = module.data_bits.filter(|b| *b > 0).unwrap_or(DDR_BITS);
    if module.kind.starts_with("DDR") { bits.max(DDR_BITS) } else { bits }
}

/// Number of channels that the modules' places name, if they do.
fn named_channels(modules: &[MemoryModule], sockets: usize) -> Option<usize> {
    let places: BTreeSet<&str> = modules.iter().map(|m| m.locator.as_str()).collect();
    let mut channels: BTreeMap<String, usize> = BTreeMap::new();
    for module in modules {
        *channels.entry(channel(&module.locator)?).or_default() += 1;
    }
    let crowded = channels.values().any(|n| *n > MOST_IN_A_CHANNEL);
    // With as many groups as sockets, the letter names the processor.
    let by_socket = channels.len() <= sockets;
    let distinct = places.len() == modules.len();
    (distinct && !crowded && !by_socket).then_some(channels.len())
}

/// The part of a place that names the channel, with what is before it.
fn channel(locator: &str) -> Option<String> {
    let place = locator.trim().to_ascii_uppercase();
    if let Some((before, after)) = place.split_once("CHANNEL") {
        let name = after.trim_start_matches([' ', '_', '-']);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
        return (end > 0).then(|| format!("{before}{}", &name[..end]));
    }
    let group = place.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = group.strip_suffix(|c: char| c.is_ascii_uppercase())?;
    let one_letter =
        !before.ends_with(|c: char| c.is_ascii_alphabetic()) || before.ends_with("DIMM");
    (group.len() < place.len() && one_letter).then(|| group.to_owned())
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;
    use proofmark_model::testing::memory_module;

    use super::*;
    use crate::testing::{bare, host};

    fn with(places: &[&str], sockets: u32, change: impl FnOnce(&mut Vec<MemoryModule>)) -> Host {
        let mut h = bare(host());
        h.cpu.sockets = Probe::known(sockets, "test");
        let mut modules = places.iter().map(|place| memory_module(place)).collect();
        change(&mut modules);
        h.memory.modules = Probe::known(modules, "test");
        h
    }

    #[test]
    fn places_name_channels_unless_something_contradicts_it() {
        for (places, sockets, channels, named) in [
            (&["DIMM_A1", "DIMM_A2", "DIMM_B1", "DIMM_B2"][..], 1, 2, true),
            (&["ChannelA-DIMM0", "ChannelB-DIMM0"], 1, 2, true),
            (&["P0 CHANNEL A DIMM 0", "P0 CHANNEL A DIMM 1", "P0 CHANNEL B"], 1, 2, true),
            (&["P1-DIMMA1", "P1-DIMMB1", "P2-DIMMA1", "P2-DIMMB1", "P2-DIMMB2"], 2, 4, true),
            (&["CPU0_Channel0_Dimm0", "CPU0_Channel1_Dimm0", "CPU1_Channel0_Dimm0"], 2, 3, true),
            (&["DIMM1", "DIMM2"], 1, 2, false),
            // The letter names the processor.
            (&["A1", "A2", "B1", "B2"], 2, 4, false),
            (&["A1", "A2", "A3"], 1, 3, false),
            (&["CPU0_C1", "CPU0_C2", "CPU1_C1", "CPU1_C2"], 2, 4, false),
            // Too many for one channel, or the same place twice.
            (&["A1", "A2", "A3", "A4", "B1"], 1, 5, false),
            (&["DIMM_A1", "DIMM_B1", "DIMM_A1", "DIMM_B1"], 1, 4, false),
            (&["PROC 1 DIMM 1", "PROC 1 DIMM 2"], 1, 2, false),
        ] {
            let bus = bus(&with(places, sockets, |_| {})).unwrap();
            assert_eq!((bus.channels, bus.named), (channels, named), "{places:?}");
        }
    }

    #[test]
    fn the_fastest_and_the_widest_count() {
        let with_change = |change: fn(&mut Vec<MemoryModule>)| {
            let found = bus(&with(&["DIMM_A1", "DIMM_B1"], 1, change)).unwrap();
            (found.transfers_per_s, found.bytes)
        };
        let mixed = with_change(|modules| {
            (modules[1].transfers_per_s, modules[1].data_bits) = (Some(3200e6), None);
            (modules[0].kind, modules[0].data_bits) = ("DDR5".to_owned(), Some(32));
        });
        assert_eq!(mixed, (3200e6, 8.0));
        let halves = |module: &mut MemoryModule, kind: &str| {
            (module.kind, module.data_bits) = (kind.to_owned(), Some(32));
        };
        let ddr = bus(&with(&["A"], 1, |m| halves(&mut m[0], "DDR5"))).unwrap().bytes;
        let low_power = bus(&with(&["A"], 1, |m| halves(&mut m[0], "LPDDR5"))).unwrap().bytes;
        assert_eq!((ddr, low_power), (8.0, 4.0));
    }

    #[test]
    fn a_virtual_machine_and_a_module_without_speed_have_no_bus() {
        let mut h = with(&["DIMM_A1"], 1, |_| {});
        h.os.virtualisation = Probe::known("kvm".to_owned(), "test");
        assert!(bus(&h).unwrap_err().contains("kvm"));
        let h = with(&["DIMM_A1"], 1, |modules| modules[0].transfers_per_s = None);
        assert!(bus(&h).unwrap_err().contains("the speed of"));
        assert!(bus(&host()).unwrap_err().contains("not part of the test"));
    }
}
