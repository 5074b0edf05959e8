//! Fills a history with made-up runs of 100 points each, and tells how long questions take:
//! `cargo run --release -p proofmark-store --example many -- FILE [RUNS]`. With 0 runs it only asks.

#![allow(clippy::unwrap_used)] // A program for developers.

#[path = "../tests/runs/mod.rs"]
mod runs;

use std::path::Path;
use std::time::Instant;

use proofmark_model::{Params, Verdict};
use proofmark_store::{Filter, Store};

const WORKLOADS: [&str; 10] = [
    "cpu.flops",
    "cpu.iops",
    "cpu.mix.int",
    "cpu.mix.float",
    "memory.read",
    "memory.write",
    "disk.read",
    "disk.write",
    "net.tcp.bandwidth",
    "net.udp.bandwidth",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_else(|| "history.db".to_owned());
    let count: i64 = arguments.next().map_or(10_000, |n| n.parse().unwrap());
    let mut store = Store::open(Path::new(&file)).unwrap();
    let mut seed = 1_u64;
    for at in 0..count {
        let mut measurements = Vec::new();
        for (workload, threads) in WORKLOADS.iter().flat_map(|k| (1..=10).map(move |t| (k, t))) {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let noise = (seed >> 40) as f64 / (1 << 24) as f64;
            let params = Params::default().with("isa", "avx2").with("threads", threads);
            let rate = 1e9 * threads as f64 * (1.0 + 0.05 * noise);
            let mut m = runs::measurement(workload, params, rate);
            if noise > 0.95 {
                m.verdict = Verdict::Suspect;
            }
            measurements.push(m);
        }
        let host = format!("node{}", at % 7);
        let mut run = runs::run(at * 3_600_000, measurements);
        if at % 3 == 0 {
            run.plan.profile = "default".to_owned();
        }
        store.add(&run, &format!("/runs/proofmark-{at}"), Some(&host)).unwrap();
    }
    drop(store);
    println!("{count} runs added to {file}");
    let newest = Filter { last: Some(20), ..Filter::default() };
    let workload = Filter { workload: Some(WORKLOADS[0].to_owned()), ..newest.clone() };
    let node = Filter { host: Some("node3".to_owned()), ..workload.clone() };
    ask("the newest 20 runs", || open(&file).runs(&newest).unwrap().len());
    ask("a workload in 20 runs", || open(&file).points(&workload).unwrap().len());
    ask("of one machine", || open(&file).points(&node).unwrap().len());
    let all = Filter { last: None, ..workload };
    ask("a workload in all runs", || open(&file).points(&all).unwrap().len());
}

fn open(file: &str) -> Store {
    Store::existing(Path::new(file)).unwrap().unwrap()
}

/// Prints the median and the range of 20 times, the opening included.
fn ask(what: &str, question: impl Fn() -> usize) {
    let mut rows = 0;
    let mut times: Vec<f64> = (0..20)
        .map(|_| {
            let begun = Instant::now();
            rows = question();
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{what}: {rows} rows, {:.1} ms ({:.1} to {:.1})", times[10], times[0], times[19]);
}
