//! Operations a cycle of every CPU workload on the core that this runs on (pin it with
//! `taskset`), to be compared with the number of ports.
//!
//! Taken in turn, since clocks drift: the workload's own clock chain (or a plain chain
//! of dependent adds, where it has none), the workload, the chain again; the rate of
//! the workload over the mean rate of the two chains is one ratio. Printed are the
//! median ratio and the quartiles, and the median rate.
//!
//! `cargo bench -p proofmark-workloads --bench peak -- [PAIRS] [WORKLOAD]`

use proofmark_engine::{Load, chain, monotonic};
use proofmark_model::Params;

/// Length of one slice in seconds: short enough to slip between interruptions.
const SLICE: f64 = 3e-3;

fn seconds(work: impl FnOnce()) -> f64 {
    let start = monotonic();
    work();
    monotonic() - start
}

/// Cycles per second, under this load.
fn clock(load: &mut dyn Load) -> f64 {
    const CYCLES: u64 = (SLICE * 4e9) as u64;
    let mut cycles = 0;
    let took = seconds(|| {
        cycles = load.clock_chain(CYCLES).unwrap_or_else(|| chain::adds(CYCLES / chain::PER_STEP));
    });
    cycles as f64 / took
}

/// Operations a cycle and operations per second, `pairs` times, each sorted.
fn ratios(load: &mut dyn Load, per_iteration: f64, pairs: usize) -> Result<[Vec<f64>; 2], String> {
    load.run(1_000);
    let once = seconds(|| load.run(20_000)) / 20_000.0;
    let iterations = ((SLICE / once) as u64).max(1_000);
    let [mut ratios, mut rates] = [Vec::new(), Vec::new()];
    for _ in 0..pairs {
        let before = clock(load);
        let rate = iterations as f64 * per_iteration / seconds(|| load.run(iterations));
        rates.push(rate);
        ratios.push(rate / ((before + clock(load)) / 2.0));
        if load.verify()? != iterations {
            return Err("fewer iterations were proven than asked for".to_owned());
        }
    }
    ratios.sort_by(f64::total_cmp);
    rates.sort_by(f64::total_cmp);
    Ok([ratios, rates])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let pairs: usize = arguments.next().map_or(Ok(51), |n| n.parse())?;
    let only = arguments.next();
    println!(
        "{:<14} {:<24} {:>8} {:>8} {:>8}  op/cycle {:>9}",
        "workload", "point", "q1", "median", "q3", "Gop/s"
    );
    for workload in proofmark_workloads::ALL {
        let id = &workload.spec().id;
        if only.as_ref().is_some_and(|o| *o != **id) {
            continue;
        }
        let fixed = Params::default().with("threads", 1).with("iterations", 1_000_000);
        for params in workload.spec().choices(fixed) {
            let name: Vec<&str> =
                ["mix", "isa", "type"].iter().filter_map(|k| params.text(k)).collect();
            let setup = match workload.setup(&params) {
                Ok(setup) => setup,
                Err(refusal) => {
                    println!("{id:<14} {:<24} {refusal}", name.join(" "));
                    continue;
                }
            };
            let mut load = setup.thread(0, 1)?;
            let [r, rates] = ratios(load.as_mut(), setup.work_per_iteration(), pairs.max(1))?;
            let at = |share: usize| r[(r.len() - 1) * share / 4];
            println!(
                "{id:<14} {:<24} {:8.4} {:8.4} {:8.4}           {:9.3}",
                name.join(" "),
                at(1),
                at(2),
                at(3),
                rates[rates.len() / 2] / 1e9
            );
        }
    }
    Ok(())
}
