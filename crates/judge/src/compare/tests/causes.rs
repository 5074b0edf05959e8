//! Tests of causes: a cause is named only if its size can explain the difference.

use proofmark_model::{Bottleneck, Ceiling, ceiling_id, check_id};

use super::*;

/// The result at a limit of that ceiling, of which it reached a share.
fn limited(m: Measurement, id: &str, resource: &str, efficiency: f64) -> Measurement {
    let value = m.summary.as_ref().unwrap().value() / efficiency;
    let evidence = format!("{:.1} % of the ceiling", 100.0 * efficiency);
    let ceiling = Ceiling {
        id: id.to_owned(),
        value,
        unit: m.unit.as_str().to_owned(),
        formula: String::new(),
        inputs: Vec::new(),
        uncertainty: 0.0,
    };
    let bottleneck = Some(Bottleneck::new(resource, evidence));
    Measurement { ceiling: Some(ceiling), bottleneck, efficiency: Some(efficiency), ..m }
}

/// A note on other users of the disk, who moved `share` bytes per byte of the load.
fn shared(m: Measurement, share: f64) -> Measurement {
    found(m, check_id::SHARED_DEVICE, Severity::Note, share)
}

#[test]
fn a_limit_that_one_side_reached_is_the_cause_and_little_else_is() {
    let slow = || shared(scaled(rand_read(32), 0.18), 0.1);
    let at_limit = |share| limited(slow(), ceiling_id::DISK_LIMIT, "cgroup I/O limit", share);
    let cause = "^in B the limit is cgroup I/O limit: 99.0 % of the ceiling$";
    expect(rand_read(32), at_limit(0.99), Slower, cause);
    // In the reverse order A had it.
    expect(at_limit(0.99), rand_read(32), Faster, "^in A the limit is cgroup I/O limit");
    // Far below a limit, or with the other side within it too, it is none.
    let too_small = "^no finding explains a difference of that size; smaller: in B shared_device";
    expect(rand_read(32), at_limit(0.6), Slower, too_small);
    let above = |efficiency| limited(rand_read(32), ceiling_id::DISK_LIMIT, "x", efficiency);
    expect(above(0.99), at_limit(0.99), Slower, cause);
    let declared =
        limited(scaled(tcp(1, "peer"), 0.3), ceiling_id::NETWORK_LIMIT, "declared limit", 1.0);
    expect(tcp(1, "peer"), declared, Slower, "^in B the limit is declared limit");
    // A peak of the cores is no limit that someone set.
    let peak = limited(at(0.5), ceiling_id::CPU_PEAK, "execution ports", 0.99);
    expect(at(1.0), peak, Slower, "^no finding and no fact");
    let quota = limited(at(0.5), ceiling_id::CPU_PEAK, "CPU quota", 0.99);
    expect(at(1.0), quota, Slower, "^in B the limit is CPU quota");
}

#[test]
fn a_cause_explains_no_more_than_its_size() {
    let clocked = |m: Measurement, hz: f64| each_condition(m, |_, c| c.clock_hz = Some(hz));
    let lower = |factor: f64, hz: f64| clocked(scaled(stream("triad", 1), factor), hz);
    let usual = || clocked(stream("triad", 1), 4e9);
    let small = "^no finding explains a difference of that size; smaller: in B the cores ran at";
    for (factor, hz, names) in
        [(0.84, 3.87e9, false), (0.56, 3.9e9, false), (0.8, 3.4e9, true), (0.5, 2e9, true)]
    {
        let words = if names { "^in B the cores ran at" } else { small };
        expect(usual(), lower(factor, hz), Slower, words);
        // A time grows by as much.
        let time = |m: Measurement, factor, hz| clocked(scaled(m, factor), hz);
        let [short, long] = [(1.0, 4e9), (1.0 / factor, hz)]
            .map(|(factor, hz)| time(latency(1 << 20, 5e-9), factor, hz));
        expect(short, long, Slower, words);
    }
    for (check, share, factor, names) in [
        (check_id::STEAL, 0.08, 0.5, false),
        (check_id::STEAL, 0.3, 0.6, true),
        (check_id::OTHER_CPU, 0.1, 0.5, false),
        (check_id::THROTTLED, 0.1, 0.3, false),
    ] {
        let b = found(at(factor), check, Severity::Suspect, share);
        let words = format!("{}in B {check} took", if names { "^" } else { "; smaller: " });
        expect(at(1.0), b, Slower, &words);
    }
    // What no figure bounds may explain anything.
    expect(at(1.0), found(at(0.3), "swap", Severity::Suspect, 0.01), Slower, "^in B swap");
}

#[test]
fn causes_that_explain_a_difference_together_are_named_together() {
    let both = |steal: f64| {
        let clocked = each_condition(at(0.6), |_, c| c.clock_hz = Some(3e9));
        found(clocked, check_id::STEAL, Severity::Suspect, steal)
    };
    expect(at(1.0), both(0.2), Slower, "^in B steal took 20 %; in B the cores ran at");
    expect(at(1.0), both(0.04), Slower, "^in B the cores ran at 3.00 GHz, in A at 4.00 GHz$");
}

#[test]
fn others_on_a_device_explain_what_their_share_of_it_can() {
    let slow = |factor, share| shared(scaled(rand_read(1), factor), share);
    expect(rand_read(1), slow(0.2, 0.05), Slower, "^no finding explains a difference of that size");
    // Others moved ten times as much as the load.
    expect(rand_read(1), slow(0.2, 10.0), Slower, "^in B shared_device took");
    // Few I/Os in flight, but most bytes.
    let mut most = slow(0.2, 0.1);
    let f = most.findings.pop().unwrap();
    most.findings.push(f.with("share_of_bytes", 0.8));
    expect(rand_read(1), most, Slower, "^in B shared_device took");
}
