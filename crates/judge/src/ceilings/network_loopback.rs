//! `network.loopback`: the rate at which the CPUs can copy without a link.

use std::collections::BTreeSet;

use proofmark_model::{
    Bottleneck, Ceiling, Measurement, Network, Provenance, Unit, ceiling_id, format_quantity,
};

use super::CeilingRule;
use super::parts::{Formula, input, input_of};
use crate::network::{network_of_stream, over_loopback};
use crate::statistics::median;
use crate::threads::threads_here;
use crate::words::counted;
use crate::{Capacity, Context};

/// Copies of each byte: into the kernel by the sender, out of it by the receiver.
const COPIES: f64 = 2.0;
/// Share by which the workload may copy faster than the loop measured in one core's cache.
const OTHER_LOOP: f64 = 0.1;

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::NETWORK_LOOPBACK,
    title: "Copying over loopback",
    about: "The sending CPU copies each byte into the kernel, and the receiving CPU copies it out. \
         So the ceiling is copy rate x CPUs / 2. The copy rate is that of one CPU within its own \
         cache: the median of the rates measured when the server started and before each \
         loopback trial of the run. The CPUs are those that copy at the same time, at most the \
         threads of both ends. It applies to TCP and UDP. It is an upper bound, since the cost of \
         the protocol and of the path between two cores is not included. Uncertainty: 10 %, since \
         the kernel uses its own copy loop, and how far the highest of the copy rates is above \
         the median. It is a ceiling of loopback, not of a network.",
    derive,
    bound: derive,
    bottleneck: Some(bottleneck),
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let network = network_of_stream(ctx, m)?;
    if !over_loopback(m) {
        return Err("the packets leave this machine".to_owned());
    }
    let rates = copy_rates(ctx, m, network);
    let copy = median(&rates).ok_or("the copy rate of this machine's CPUs was not measured")?;
    let [low, high] = [f64::min, f64::max].map(|end| rates.iter().copied().fold(copy, end));
    // A copy that something slowed shows no higher ceiling.
    let above = high / copy;
    let client = ctx.host.limits.usable_cpus.iter();
    let cpus = client.chain(&network.server.cpus).collect::<BTreeSet<_>>().len() as u64;
    let threads = threads_here(m);
    let copying = threads.min(cpus);
    let note =
        format!("{} of both ends on {}", counted(threads, "thread"), counted(cpus, "usable CPU"));
    let value = copy * 8.0 * copying as f64 / COPIES;
    let seen = match rates.len() {
        1 => String::new(),
        n => {
            let [low, high] = [low, high].map(|rate| format!("{:.1}", rate / 1e9));
            format!(": median of {n}, {low} to {high} GB/s")
        }
    };
    let seen = format!("one CPU, in its own cache{seen}");
    let inputs = vec![
        input("copy_rate", copy, "B/s", Provenance::Measured, seen),
        input("cpus", copying as f64, "", Provenance::Reported, note),
        input("copies", COPIES, "", Provenance::Assumed, "one at each end"),
    ];
    let text = "copy_rate x 8 x cpus / copies".to_owned();
    let uncertainty = (1.0 + OTHER_LOOP) * above - 1.0;
    Ok(RULE.ceiling(m, Formula { value, text, inputs }, uncertainty))
}

/// The copy rates as the server started, and before each trial over loopback of the run. A
/// hypervisor moves virtual CPUs, and a busy sibling or another clock changes the rate too.
fn copy_rates(ctx: &Context, m: &Measurement, network: &Network) -> Vec<f64> {
    let others = ctx.others.iter().filter(|o| !std::ptr::eq(*o, m));
    let trials = others.flat_map(|o| &o.trials).chain(&m.trials);
    let rates = trials.filter_map(|t| t.network.as_ref()?.copy_bytes_per_s);
    rates.chain(network.copy_bytes_per_s).filter(|r| r.is_finite() && *r > 0.0).collect()
}

fn bottleneck(ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    let get = |name: &str| input_of(ceiling, name).map_or(0.0, |i| i.value);
    let rate = format_quantity(get("copy_rate"), Unit::BytePerSecond);
    let cpus = counted(get("cpus"), "CPU");
    let evidence = format!("{share} of loopback: {cpus}, each copies {rate}");
    Bottleneck::new("CPU (copying)", evidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn both_ends_copy_each_byte() {
        let streams = |n| tcp(n, "loopback");
        // 10 GB/s on each of two CPUs, and two copies of each byte.
        RULE.on(&host_with_network("loopback"), &[]).expect([
            ("one stream", streams(1), Ok(80e9)),
            ("eight", streams(8), Ok(80e9)),
            ("datagrams", udp(1, "loopback"), Ok(80e9)),
            ("a peer", tcp(1, "peer"), Err("leave this machine")),
            ("round trips", round_trips("udp", "block"), Err("a rate does not limit")),
        ]);
        let mut one = with_network("loopback", |n| n.server.cpus = vec![0]);
        one.limits.usable_cpus = vec![0];
        RULE.on(&one, &[]).expect([("one CPU", streams(8), Ok(40e9))]);
        one.limits.usable_cpus = vec![1];
        RULE.on(&one, &[]).expect([("a CPU for each end", streams(8), Ok(80e9))]);
        let mut wide = host_with_network("loopback");
        wide.limits.usable_cpus = (0..8).collect();
        RULE.on(&wide, &[]).expect([
            ("two threads", streams(1), Ok(80e9)),
            ("six", streams(3), Ok(240e9)),
            ("both ways", with_param(streams(1), "direction", "both"), Ok(160e9)),
        ]);
        let unknown = with_network("loopback", |n| n.copy_bytes_per_s = None);
        RULE.on(&unknown, &[]).expect([("unknown", streams(1), Err("not measured"))]);
    }

    /// Recorded on a guest: up to 168 GB/s, and less under load.
    #[test]
    fn its_uncertainty_covers_the_highest_copy_rates_of_the_run() {
        let host = with_network("loopback", |n| n.copy_bytes_per_s = Some(140e9));
        let rates = [70e9, 130e9, 140e9, 150e9, 168e9];
        let of = |rates: &[f64]| {
            let m = each(tcp(1, "loopback"), |i, t| {
                t.network.as_mut().unwrap().copy_bytes_per_s = Some(rates[i % rates.len()]);
            });
            let ceiling = RULE.on(&host, &[]).derive(&m).unwrap();
            (ceiling.value, ceiling.uncertainty, ceiling.inputs[0].note.clone())
        };
        let (value, uncertainty, note) = of(&rates);
        assert_eq!(value, 140e9 * 8.0);
        assert!((uncertainty - 0.32).abs() < 1e-9, "{uncertainty}");
        assert_eq!(note, "one CPU, in its own cache: median of 11, 70.0 to 168.0 GB/s");
        // A copy that other load slowed raises no ceiling.
        let (_, slowed, _) = of(&[70e9, 140e9, 140e9, 140e9, 140e9]);
        assert!((slowed - OTHER_LOOP).abs() < 1e-9, "{slowed}");
        let (_, steady, _) = of(&[140e9]);
        assert!((steady - OTHER_LOOP).abs() < 1e-9, "{steady}");
        // Those of the run's other results count, too.
        let other = each(tcp(8, "loopback"), |_, t| {
            t.network.as_mut().unwrap().copy_bytes_per_s = Some(168e9);
        });
        let m = tcp(1, "loopback");
        let ceiling = RULE.on(&host, &[other]).derive(&m).unwrap();
        assert_eq!(ceiling.value, 168e9 * 8.0);
    }

    #[test]
    fn near_it_copying_is_the_bottleneck_and_above_it_the_number_is_invalid() {
        let host = host_with_network("loopback");
        let at = |rate: f64| {
            let bytes = (rate * 0.1 / 8.0 * 1.01) as u64;
            each_network(at_rate(tcp(1, "loopback"), rate), |n| {
                (n.sent_bytes, n.received_bytes) = (bytes, bytes);
                (n.client.in_bytes, n.client.out_bytes) = (Some(bytes), Some(bytes));
            })
        };
        let copying = "^CPU (copying)$ ... 2 CPUs, each copies 10.00 GB/s";
        expect_bottleneck(&host, at(0.95 * 80e9), &[], copying);
        let check = crate::checks::find("above_ceiling").unwrap();
        check.on(&host, &[]).expect([("above", at(1.2 * 80e9), INVALID)]);
    }
}
