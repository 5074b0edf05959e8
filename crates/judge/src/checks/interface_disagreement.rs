//! `interface_disagreement`: more payload is claimed than the interfaces carried.

use proofmark_model::{End, Finding, Measurement, NetworkTraffic, Severity, format_size};

use super::{Check, percent};
use crate::Context;
use crate::network::{Direction, measured, over_loopback};

/// Share of the payload that an interface must have carried: all of it and the headers;
/// the rest is for counters that are read a moment apart.
const CARRIED: f64 = 0.99;

pub(super) struct InterfaceDisagreement;

/// Bytes that an end's interface moved the way, or the ways, that the payload goes.
fn carried(m: &Measurement, end: End, n: &NetworkTraffic) -> Option<f64> {
    let side = end.of(n);
    let (bytes_in, bytes_out) = (side.in_bytes.map(|b| b as f64), side.out_bytes.map(|b| b as f64));
    if over_loopback(m) {
        // What goes out of this interface comes in again.
        return Some(bytes_in?.min(bytes_out?));
    }
    match (Direction::of(m), end) {
        (Direction::Both, _) => Some(bytes_in? + bytes_out?),
        (Direction::Forward, End::Near) | (Direction::Reverse, End::Far) => bytes_out,
        (Direction::Forward, End::Far) | (Direction::Reverse, End::Near) => bytes_in,
    }
}

impl InterfaceDisagreement {
    fn by(&self, m: &Measurement, end: End) -> Option<Finding> {
        let told =
            m.traffics().filter_map(|(_, n)| Some((n.received_bytes as f64, carried(m, end, n)?)));
        let (claimed, moved) = told.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
        if claimed <= 0.0 || moved >= CARRIED * claimed {
            return None;
        }
        let (bytes, whose) = (format_size(claimed as u64), end.word());
        let (severity, message) = if moved <= 0.0 {
            let message = format!(
                "the counters of the {whose}'s interface stood still while {bytes} of payload are \
                 claimed: they count another interface, or nothing"
            );
            (Severity::Suspect, message)
        } else {
            let message = format!(
                "{bytes} of payload are claimed, and the {whose}'s interface carried only {} ({})",
                format_size(moved as u64),
                percent(moved / claimed)
            );
            (Severity::Invalid, message)
        };
        let advice = "look which interface the packets take (ip route get); if it is this one, the \
                      payload did not go over it";
        let finding = Finding::new(self.id(), severity, message, advice);
        Some(
            finding
                .with("claimed_bytes", claimed)
                .with("interface_bytes", moved)
                .with("end", whose),
        )
    }
}

impl Check for InterfaceDisagreement {
    fn id(&self) -> &'static str {
        "interface_disagreement"
    }

    fn title(&self) -> &'static str {
        "More claimed than the interfaces carried"
    }

    fn about(&self) -> &'static str {
        "Payload that the receivers got, by the kernel's own count, against the bytes that the interface \
         of each end moved meanwhile in those directions, over all trials. An interface counts headers, \
         acknowledgements and everybody's packets too, so that it can only have moved more: less than 99 % \
         of the payload is invalid, since it did not go that way, or was not sent. Counters that stood \
         still are suspect: they are switched off, or those of another interface."
    }

    fn examine(&self, _: &Context, m: &Measurement) -> Option<Finding> {
        if !measured(m) {
            return None;
        }
        let found = End::BOTH.into_iter().filter_map(|end| self.by(m, end));
        found.max_by_key(|f| f.severity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{found_on, healthy_network, host_with_network, round_trips, tcp, told_so};

    fn says(m: Measurement, spoil: impl Fn(&mut NetworkTraffic)) -> Option<(Severity, String)> {
        let path = m.params.text("path").unwrap().to_owned();
        let found =
            found_on(&host_with_network(&path), &InterfaceDisagreement, told_so(m, spoil), &[]);
        found.map(|f| (f.severity, f.message))
    }

    fn less(bytes: &mut Option<u64>) {
        *bytes = bytes.map(|b| b / 10);
    }

    #[test]
    fn payload_that_an_interface_did_not_carry_is_invalid() {
        let (severity, message) = says(tcp(1, "peer"), |n| less(&mut n.far.in_bytes)).unwrap();
        assert_eq!(severity, Severity::Invalid);
        assert!(message.contains("the far end's interface carried only"), "{message}");
        assert!(message.ends_with("(10.6 %)"), "{message}");
        let near = says(tcp(1, "peer"), |n| less(&mut n.near.out_bytes)).unwrap();
        assert!(near.1.contains("near end's"), "{}", near.1);
        for m in healthy_network("loopback") {
            let found = says(m.clone(), |n| less(&mut n.near.in_bytes)).unwrap();
            assert_eq!(found.0, Severity::Invalid, "{}", m.kernel);
            let found = says(m.clone(), |n| less(&mut n.near.out_bytes)).unwrap();
            assert_eq!(found.0, Severity::Invalid, "{}", m.kernel);
        }
    }

    #[test]
    fn each_direction_is_held_against_its_own_counters() {
        let mut reverse = tcp(1, "peer");
        reverse.params = reverse.params.with("direction", "reverse");
        let swapped = |n: &mut NetworkTraffic| std::mem::swap(&mut n.near, &mut n.far);
        assert!(says(reverse.clone(), swapped).is_none());
        assert_eq!(says(reverse, |_| {}).unwrap().0, Severity::Invalid, "payload went out");
        let mut both = tcp(1, "peer");
        both.params = both.params.with("direction", "both");
        assert!(says(both.clone(), |_| {}).is_none(), "all of it may have gone one way");
        assert!(says(both, |n| less(&mut n.far.in_bytes)).is_some());
    }

    #[test]
    fn counters_that_stand_still_are_suspect_and_those_that_tell_nothing_silent() {
        let none = says(tcp(1, "peer"), |n| n.far.in_bytes = Some(0)).unwrap();
        assert_eq!(none.0, Severity::Suspect);
        assert!(none.1.contains("stood still"), "{}", none.1);
        assert!(says(tcp(1, "peer"), |n| n.far.in_bytes = None).is_none());
        let others = |n: &mut NetworkTraffic| n.near.in_bytes = Some(u64::MAX / 100);
        assert!(says(round_trips("tcp", "block"), others).is_none(), "everybody's packets");
    }
}
