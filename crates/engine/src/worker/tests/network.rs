//! Work that the receiver counts: what a network loses on the way is none.

use proofmark_model::NetworkTraffic;

use super::*;
use crate::null::TIME;
use crate::workload::{Load, Setup};

/// Sends 100 messages of which so many arrive.
struct Sender {
    arrive: u64,
    spec: &'static dyn Workload,
}

struct Sending(u64);

static HALF: Sender = Sender { arrive: 50, spec: &NULL };
static NONE: Sender = Sender { arrive: 0, spec: &NULL };
static NO_REPLY: Sender = Sender { arrive: 0, spec: &TIME };

impl Workload for Sender {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec.spec()
    }
    fn supports(&self, _: &Params) -> Result<(), Refusal> {
        Ok(())
    }
    fn setup(&self, _: &Params) -> Result<Box<dyn Setup>, Refusal> {
        Ok(Box::new(Sending(self.arrive)))
    }
}

impl Setup for Sending {
    fn amount(&self) -> Amount {
        Amount::Total(100)
    }
    fn work_per_iteration(&self) -> f64 {
        8.0
    }
    fn network(&self) -> Result<Option<NetworkTraffic>, Refusal> {
        Ok(Some(NetworkTraffic { received_bytes: 7, ..NetworkTraffic::default() }))
    }
    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(Sending(self.0)))
    }
}

impl Load for Sending {
    fn run(&mut self, iterations: u64) {
        std::hint::black_box(iterations);
    }
    fn verify(&mut self) -> Result<u64, String> {
        Ok(self.0)
    }
}

fn one_trial(find: super::super::Find) -> Reply {
    let orders = [begin("test.sender", 1), Order::Take(Request::Trial)];
    let lines: Vec<_> = orders.iter().map(|o| serde_json::to_string(o).unwrap()).collect();
    let mut output = Vec::new();
    serve(find, lines.join("\n").as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn what_was_received_is_the_work_and_the_interfaces_verify_it() {
    let reply = one_trial(&|_| Some(&HALF));
    assert_eq!((trial(&reply).work, account(&reply)), (400.0, (7.0, 0.0)));
    assert_eq!(trial(&one_trial(&|_| Some(&NONE))).value, 0.0, "a rate");
    let none = one_trial(&|_| Some(&NO_REPLY));
    assert!(matches!(none, Reply::Unverified(_)), "no work has no time: {none:?}");
}
