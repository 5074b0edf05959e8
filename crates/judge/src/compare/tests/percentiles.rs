//! Tests of percentiles of single operations.

use proofmark_model::Latency;

use super::*;

/// Random reads whose slowest in 100 took `p99` seconds.
fn with_tail(p99: Option<f64>) -> Measurement {
    let mut m = rand_read(32);
    m.latency = Some(Latency {
        ci95: Default::default(),
        unit: "s".into(),
        count: 10_000,
        min: 1e-5,
        mean: 1e-4,
        p50: 1e-4,
        p90: Some(2e-4),
        p99,
        p999: None,
        max: 1.0,
        buckets: Vec::new(),
    });
    m
}

#[test]
fn percentiles_of_both_are_shown_and_decide_nothing() {
    let p = one(with_tail(Some(1.5e-3)), with_tail(Some(84e-3)));
    let shown: Vec<_> =
        p.percentiles.iter().map(|p| (p.percentile.as_str(), p.value.round())).collect();
    assert_eq!(shown, [("p50", 1.0), ("p99", 56.0)]);
    assert_eq!((p.change(), p.fails()), (NoDifferenceShown, false));
    // What one side has not is not shown.
    let p = one(with_tail(Some(1.5e-3)), with_tail(None));
    assert_eq!(p.percentiles.len(), 1);
    let untimed = Measurement { latency: None, ..with_tail(None) };
    assert!(one(with_tail(None), untimed).percentiles.is_empty());
    let invalid = found(with_tail(Some(1.0)), "page_cache", Severity::Invalid, 0.9);
    assert!(one(with_tail(Some(1.0)), invalid).percentiles.is_empty());
    for odd in [0.0, f64::NAN, f64::INFINITY] {
        assert_eq!(one(with_tail(Some(1.0)), with_tail(Some(odd))).percentiles.len(), 1, "{odd}");
    }
}
