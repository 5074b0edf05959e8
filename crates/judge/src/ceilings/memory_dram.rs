//! `memory.dram`: the rate that the memory bus can carry.
//!
//! Roofline's slanted roof (Williams et al., CACM 2009): transfers per second x bytes per transfer
//! x channels. DDR4-2133 means 2133 million transfers per second, not doubled again.

use proofmark_model::{Bottleneck, Ceiling, Host, Measurement, Provenance, ceiling_id};

use super::CeilingRule;
use super::modules;
use super::parts::{Formula, input, input_of, memory_row};
use crate::memory::{from_memory, traffic};
use crate::statistics::median_over;
use crate::words::known;
use crate::{Capacity, Context};

/// Uncertainty of speeds that the firmware reports: they are set, not measured, and clocks are
/// within this.
const REPORTED: f64 = 0.05;
/// Uncertainty of servers, which run the modules that their product names, or slower ones.
const SPECIFIED: f64 = 0.1;
/// Uncertainty of client boards and virtual machines. The former run modules up to twice as fast as
/// the processor's specification; the latter may span more sockets than reported.
const LOOSE: f64 = 1.0;

/// The bandwidth of the bus, and its uncertainty.
fn bus(host: &Host) -> Result<(Formula, f64), String> {
    match modules::bus(host) {
        Ok(bus) => Ok(reported(host, &bus)),
        Err(reason) => assumed(host, &reason),
    }
}

fn reported(host: &Host, bus: &modules::Bus) -> (Formula, f64) {
    let origin = host.memory.modules.origin();
    let (source, how) = if bus.named {
        (Provenance::Reported, "from the modules' places".to_owned())
    } else {
        (Provenance::Assumed, "one per module, since their places name no channels".to_owned())
    };
    let reported = |name, value, unit| input(name, value, unit, Provenance::Reported, origin);
    // The number of channels comes first, so that the ceiling is known only if that is.
    let bandwidth = Formula::from_input(input("channels", bus.channels as f64, "", source, how))
        .times(reported("transfers", bus.transfers_per_s, "1/s"))
        .times(reported("bytes_per_transfer", bus.bytes, "B"));
    (bandwidth, REPORTED)
}

fn assumed(host: &Host, reason: &str) -> Result<(Formula, f64), String> {
    let row = memory_row(host)?;
    let dram = row
        .dram
        .ok_or_else(|| format!("{reason}, and the maximum of {} is not documented", row.id))?;
    let model = host.cpu.model_name.get().map_or("", String::as_str);
    if dram.apart.iter().any(|part| model.contains(part)) {
        return Err(format!("{reason}, and {model} has another kind of memory than its design"));
    }
    let sockets = &host.cpu.sockets;
    let count = known(sockets, "the number of sockets")?;
    let note =
        format!("the maximum of the design: {}; {}; {reason}", dram.product, row.memory_source);
    let virtual_machine = host.is_virtual() != Some(false);
    let assumed = |name, value, unit, note| input(name, value, unit, Provenance::Assumed, note);
    let bandwidth =
        Formula::from_input(assumed("transfers", dram.transfers_per_s, "1/s", note.as_str()))
            .times(assumed("bytes_per_transfer", 8.0, "B", "64 bits per channel"))
            .times(assumed("channels", dram.channels, "", dram.product))
            .times(input("sockets", f64::from(*count), "", Provenance::Reported, sockets.origin()));
    Ok((bandwidth, if dram.tuned || virtual_machine { LOOSE } else { SPECIFIED }))
}

/// Bytes that the hardware moves per byte counted, as the workload declares. Without a declaration,
/// as for the sweep, whose sets may be in a cache, those of ordinary stores.
fn moved(m: &Measurement, allocated: f64) -> f64 {
    let each = median_over(&m.trials, |t| Some(t.moved? / t.work));
    each.filter(|r| *r > 0.0).unwrap_or(allocated)
}

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::MEMORY_DRAM,
    title: "Memory bus",
    about: "Transfers per second x bytes per transfer x channels of all sockets, divided by bytes \
         moved per byte counted. Bytes moved include lines read only to be overwritten and unused \
         parts of lines. On bare metal the figures come from the firmware's table of modules. \
         Channels come from the modules' places, or one per module. Uncertainty: 5 %. Elsewhere \
         the figures are those of the largest product of the core's design, marked as assumed. \
         Uncertainty: 10 %; 100 % for virtual machines and for client products, whose modules are \
         often faster than specified. Two effects add to the uncertainty: what the last-level \
         cache may have held, and lines that some cores write without reading them first. There is \
         no ceiling if the cache could hold half of the data. Where the figures are assumed, \
         declare the machine's own: --limit memory.dram (memory.limit).",
    derive,
    bound: derive,
    bottleneck: Some(bottleneck),
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    over_bytes_moved(&RULE, ctx, m, bus(ctx.host)?)
}

/// The ceiling of a result on a bus of that bandwidth, which has that uncertainty.
pub(super) fn over_bytes_moved(
    rule: &CeilingRule,
    ctx: &Context,
    m: &Measurement,
    (bandwidth, uncertainty): (Formula, f64),
) -> Result<Ceiling, String> {
    if m.trials.is_empty() {
        return Err("without a trial the bytes that it moves are not known".to_owned());
    }
    let traffic = traffic(ctx, m)?;
    let from_cache = from_memory(ctx, m)?;
    let allocated = 1.0 + traffic.written / traffic.counted();
    let moved = moved(m, allocated);
    let without_allocation = moved.clamp(1.0, allocated);
    let note = "bytes that the hardware moves per byte counted, as the workload declares";
    let moved = input("moved_per_counted", moved, "", Provenance::Reported, note);
    let uncertainty = (1.0 + uncertainty) * without_allocation / (1.0 - from_cache) - 1.0;
    Ok(rule.ceiling(m, bandwidth.over(moved), uncertainty))
}

fn bottleneck(ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    let value = |name: &str| input_of(ceiling, name).map_or(1.0, |i| i.value);
    Bottleneck::new(
        "memory bus",
        format!(
            "{share}: {} channels of {:.0} MT/s",
            value("channels") * value("sockets"),
            value("transfers") / 1e6
        ),
    )
}

#[cfg(test)]
mod tests {
    use proofmark_model::testing::memory_module;
    use proofmark_model::{Probe, Reliance};

    use super::*;
    use crate::testing::*;

    /// Bytes per second of two modules.
    const BUS: f64 = 2133e6 * 8.0 * 2.0;

    fn on(h: &Host, m: &Measurement) -> Result<Ceiling, String> {
        RULE.on(h, &[]).derive(m)
    }

    fn metal(modules: usize) -> Host {
        let mut h = bare(host_with_caches());
        let module = |i: usize| memory_module(&format!("DIMM{i}"));
        h.memory.modules = match modules {
            0 => Probe::missing("no permission"),
            n => Probe::known((0..n).map(module).collect(), "SMBIOS"),
        };
        h
    }

    #[test]
    fn transfers_are_not_doubled() {
        let c = on(&metal(2), &stream("read", 1)).unwrap();
        assert_eq!(c.value, BUS);
        assert_eq!(c.inputs[0].source, Provenance::Assumed, "no channel is named");
        assert_eq!(c.reliance(), Reliance::Assumed);
        assert_eq!(c.formula, "channels x transfers x bytes_per_transfer / moved_per_counted");
    }

    #[test]
    fn without_modules_the_design_gives_an_upper_bound() {
        let mut h = metal(0);
        let c = on(&h, &stream("read", 1)).unwrap();
        assert_eq!(c.value, 8.0 * 5600e6 * 8.0);
        assert!(c.inputs[0].note.contains("no permission"));
        assert!(c.inputs[..3].iter().all(|i| i.source == Provenance::Assumed));
        assert!(c.uncertainty < 0.2);
        h.os.virtualisation = Probe::known("kvm".to_owned(), "test");
        assert!(on(&h, &stream("read", 1)).unwrap().uncertainty > 1.0);
        let client = with_design(metal(0), "skylake");
        assert!(on(&client, &stream("read", 1)).unwrap().uncertainty > 1.0);
        h.cpu.sockets = Probe::missing("not reported");
        assert!(on(&h, &stream("read", 1)).unwrap_err().contains("sockets"));
        // A product with another kind of memory.
        let mut h = metal(0);
        h.cpu.model_name = Probe::known("Intel(R) Xeon(R) CPU Max 9480".to_owned(), "test");
        assert!(on(&h, &stream("read", 1)).unwrap_err().contains("another kind"));
        h = with_design(h, "neoverse_n2");
        assert!(on(&h, &stream("read", 1)).unwrap_err().contains("not documented"));
    }

    #[test]
    fn bytes_moved_but_not_counted_lower_the_ceiling() {
        let h = metal(2);
        let moving = |m, by: f64| each(m, move |_, t| t.moved = Some(by * t.work));
        let ordinary = moving(stream("copy", 1), 1.5);
        let scattered = moving(blocks("rand_read", 8), 8.0);
        let uncertainty = |m: &Measurement| on(&h, m).unwrap().uncertainty;
        assert!(uncertainty(&ordinary) > 0.5, "a core may write without reading first");
        assert!(uncertainty(&scattered) < 0.1, "every core moves the rest of a line that is read");
        let near = uncertainty(&sweep("read", 1, 128 << 20));
        assert!((near - (1.05 / 0.75 - 1.0)).abs() < 1e-9, "the cache may hold a part: {near}");
        let without = Measurement { trials: Vec::new(), ..stream("copy", 1) };
        let undeclared = each(sweep("copy", 1, 4 << 30), |_, t| t.moved = None);
        RULE.on(&h, &[]).expect([
            ("ordinary stores", ordinary, Ok(BUS / 1.5)),
            ("undeclared", undeclared, Ok(BUS / 1.5)),
            ("parts of lines", scattered, Ok(BUS / 8.0)),
            ("a set in the cache", sweep("read", 1, 48 << 20), Err("cache")),
            ("not measured", without, Err("without a trial")),
        ]);
        let m = with_values(stream("read", 2), &around(0.92 * BUS));
        expect_bottleneck(&metal(2), m, &[], "^memory bus$ ... 2 channels of 2133 MT/s");
    }
}
