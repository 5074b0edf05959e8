//! `short_transfer`: so little was sent that it only filled buffers, or that one way was done
//! long before the other.
//!
//! A published report printed 18.7 Gbit/s of 128 KB that a socket's buffer had taken.

use proofmark_model::{Finding, Measurement, Severity, Trial, format_seconds, format_size};

use super::{Check, Class, percent};
use crate::Context;
use crate::network::{Carried, WINDOW};
use crate::statistics::median;

/// Round trips that a stream must have lasted: its window grows by them.
const ROUND_TRIPS: f64 = 10.0;
/// Of two ways at once, the shorter takes at least this share of the longer's time.
const TOGETHER: f64 = 0.9;
/// A trial that is shorter than this share of the policy's is short.
const ALLOWANCE: f64 = 0.9;

/// Seconds of the way that was done first, over those of the other.
fn together(t: &Trial) -> Option<f64> {
    let [forward, reverse] = t.network.as_ref()?.ways_s?;
    let share = forward.min(reverse) / forward.max(reverse);
    (share.is_finite() && share >= 0.0).then_some(share)
}

/// The longest round trip of a trial's connections.
fn round_trip(t: &Trial) -> Option<f64> {
    let states = t.network.iter().flat_map(|n| &n.streams);
    states.map(|s| s.rtt_s).filter(|s| s.is_finite() && *s > 0.0).max_by(f64::total_cmp)
}

pub(super) static CHECK: Check = Check {
    id: "short_transfer",
    class: Class::Claim,
    title: "Transfer that only filled buffers",
    about: "Compares the bytes per connection of a stream's trial with what the systems can buffer: \
         TCP's window, or twice the requested socket buffer if that is more. The default is 4 MiB, \
         for UDP without socket_buffer and for TCP where nothing is reported. A fixed amount below \
         4 times that, in a trial shorter than the policy's, is suspect: it went into buffers at \
         memory speed. So is a trial of less than 10 round trips, since a window grows by round \
         trips. With both directions at once, it is also suspect if one direction ended in less \
         than 90 % of the other's time. All use the median over the trials. Send more (parameter \
         amount), or for longer.",
    examine,
    examine_reference: Some(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let carried = Carried::of(m)?;
    let Carried { bytes, held, seconds } = carried;
    let over = |of: &dyn Fn(&Trial) -> Option<f64>| {
        let all: Vec<f64> = m.trials.iter().filter_map(of).filter(|v| v.is_finite()).collect();
        median(&all)
    };
    let trip = over(&round_trip);
    let short = seconds < ALLOWANCE * ctx.policy.trial_s_for(&m.workload);
    let told = |name| m.params.int(name).is_some();
    let fixed = short && (told("amount") || told(WINDOW));
    let message = if fixed && carried.only_filled() {
        format!(
            "a connection carried {} per trial, and its buffers alone can hold {}: the rate \
             may be that of filling them",
            format_size(bytes as u64),
            format_size(held as u64)
        )
    } else if let Some(share) = over(&together).filter(|share| *share < TOGETHER) {
        format!(
            "one direction ended after {} of the other's time: they did not run together, but \
             the rate is that of both over the longer time",
            percent(share)
        )
    } else {
        let trip = trip.filter(|trip| seconds < ROUND_TRIPS * trip)?;
        format!(
            "a trial lasts {}, less than {ROUND_TRIPS} round trips of {}: the window did not \
             grow to its full size",
            format_seconds(seconds),
            format_seconds(trip)
        )
    };
    let advice = "send more per trial (parameter amount), or take longer trials";
    let finding = Finding::new(CHECK.id, Severity::Suspect, message, advice);
    Some(finding.with("bytes", bytes).with("held_bytes", held).with("seconds", seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{each, found_on, host_with_network, tcp, told_so, udp};

    fn says(m: Measurement) -> Option<String> {
        let path = m.params.text("path").unwrap().to_owned();
        let found = found_on(&host_with_network(&path), &CHECK, m, &[]);
        found.map(|f| {
            assert_eq!(f.severity, Severity::Suspect);
            f.message
        })
    }

    /// A fixed amount of so many bytes a trial at the usual rate.
    fn carrying(mut m: Measurement, bytes: u64) -> Measurement {
        m.params = m.params.with("amount", bytes);
        each(m, |_, t| {
            t.work = bytes as f64 * 8.0;
            t.seconds = t.work / t.value;
            let n = t.network.as_mut().unwrap();
            (n.sent_bytes, n.received_bytes) = (bytes, bytes);
        })
    }

    #[test]
    fn an_amount_that_a_buffer_takes_is_suspect() {
        // The window of the healthy connection is 250 KB.
        let message = says(carrying(tcp(1, "loopback"), 128 << 10)).unwrap();
        assert!(message.starts_with("a connection carried 128 KiB per trial"), "{message}");
        assert!(says(carrying(tcp(1, "loopback"), 4 << 20)).is_none());
        assert!(says(carrying(tcp(4, "loopback"), 128 << 10)).is_some());
        let mut asked = carrying(tcp(1, "loopback"), 4 << 20);
        asked.params = asked.params.with("socket_buffer", 2 << 20);
        assert!(says(asked).unwrap().contains("can hold 4 MiB"));
    }

    #[test]
    fn what_another_tool_tells_of_its_window_counts() {
        let imported = |window: u64, bytes: u64| {
            let mut m = carrying(tcp(1, "loopback"), bytes);
            m.params.0.remove("amount");
            m.params = m.params.with("window", window);
            m.trials.iter_mut().for_each(|t| t.network = None);
            says(m)
        };
        let message = imported(2_500_000, 128 << 10).unwrap();
        assert!(message.contains("128 KiB per trial"), "{message}");
        assert!(imported(2_500_000, 8 << 20).is_some());
        assert!(imported(250_000, 8 << 20).is_none());
    }

    #[test]
    fn datagrams_fill_the_buffers_that_the_program_asks_for() {
        let message = says(carrying(udp(1, "loopback"), 30 << 20)).unwrap();
        let words = "30 MiB per trial, and its buffers alone can hold 8 MiB";
        assert!(message.contains(words), "{message}");
        let mut fast = carrying(udp(1, "loopback"), 30 << 20);
        fast.params = fast.params.with("amount", "auto");
        assert!(says(fast).is_none(), "it was faster than when its length was set");
        assert!(says(carrying(udp(1, "loopback"), 33 << 20)).is_none());
        let mut asked = carrying(udp(1, "loopback"), 30 << 20);
        asked.params = asked.params.with("socket_buffer", 1 << 20);
        assert!(says(asked).is_none());
    }

    #[test]
    fn small_blocks_for_the_whole_time_only_take_long() {
        let slow = each(tcp(1, "loopback"), |_, t| {
            (t.work, t.value) = (8e5, 8e6);
        });
        assert!(says(slow).is_none(), "100 KB in 0.1 s");
    }

    #[test]
    fn ways_that_are_not_at_once_are_suspect() {
        let ways = |ways| says(told_so(tcp(1, "loopback"), |n| n.ways_s = ways));
        assert!(ways(None).is_none());
        assert!(ways(Some([0.95, 1.0])).is_none() && ways(Some([1.0, 0.95])).is_none());
        let message = ways(Some([0.5, 1.0])).unwrap();
        assert!(
            message.starts_with("one direction ended after 50.0 % of the other's time"),
            "{message}"
        );
        assert!(ways(Some([1.0, 0.85])).is_some());
        assert!(ways(Some([0.0, 0.0])).is_none() && ways(Some([f64::NAN, 1.0])).is_none());
    }

    #[test]
    fn a_few_round_trips_are_too_few() {
        let server = |rtt: f64| {
            says(told_so(tcp(1, "peer"), |n| n.streams.iter_mut().for_each(|s| s.rtt_s = rtt)))
        };
        assert!(server(0.02).unwrap().contains("less than 10 round trips of 20.00 ms"));
        assert!(server(0.009).is_none());
    }
}
