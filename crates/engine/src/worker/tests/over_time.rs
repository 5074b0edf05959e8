//! Samples of a series: as many slices as fit.

use super::*;
use crate::clock::monotonic;

fn span(span_us: u64) -> Request {
    Request::Span { slice_us: 2000, span_us }
}

/// Does a microsecond of waiting for each iteration, and is asked for as many as fit.
struct Steady;

struct Waiting(u64);

impl Workload for Steady {
    fn spec(&self) -> &'static WorkloadSpec {
        NULL.spec()
    }
    fn supports(&self, _: &Params) -> Result<(), Refusal> {
        Ok(())
    }
    fn setup(&self, _: &Params) -> Result<Box<dyn Setup>, Refusal> {
        Ok(Box::new(Steady))
    }
}

impl Setup for Steady {
    fn work_per_iteration(&self) -> f64 {
        1.0
    }
    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(Waiting(0)))
    }
}

impl Load for Waiting {
    fn run(&mut self, iterations: u64) {
        let end = monotonic() + iterations as f64 * 1e-6;
        while monotonic() < end {
            std::hint::spin_loop();
        }
        self.0 = iterations;
    }
    fn verify(&mut self) -> Result<u64, String> {
        Ok(self.0)
    }
}

pub(super) static STEADY: &dyn Workload = &Steady;

#[test]
fn a_sample_is_made_of_slices_that_fill_its_time() {
    let requests = [Request::Warm, span(500_000), span(500_000)];
    let begun = monotonic();
    let replies = talk("test.steady", 1, &requests);
    let took = monotonic() - begun;
    for reply in &replies[2..] {
        let s = trial(reply);
        assert_eq!(account(reply), (s.work, s.work));
        assert_eq!(s.value, s.work / s.seconds, "of all slices, and of what held them up");
        // A million iterations a second, however much lay between the slices. A busy machine
        // may run few of the 250.
        assert!(s.work > 10_000.0 && s.work <= s.seconds * 1e6 * 1.001, "{s:?}");
        assert!(s.seconds > 0.01, "{s:?}");
        assert!(s.conditions.own_cpu_s.is_none_or(|own| own <= took));
    }
    assert!(took >= 0.99, "both took their time: {took}");
}

#[test]
fn what_is_fixed_is_taken_whole_and_once_at_least() {
    let replies = talk("test.null", 1, &[Request::Warm, span(0)]);
    assert_eq!(trial(&replies[2]).work, 2.0 * 1001.0, "one slice in any case");
    let replies = talk("test.null", 1, &[Request::Warm, span(20_000)]);
    let all = trial(&replies[2]).work;
    assert!(all > 2002.0 && all % 2002.0 == 0.0, "{all}");
    let replies = talk("test.wrong", 1, &[span(1000)]);
    assert!(matches!(replies[1], Reply::Unverified(_)));
}
