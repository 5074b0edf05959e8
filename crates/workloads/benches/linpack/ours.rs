//! One point of a workload of ours: its threads, pinned, that wait for orders.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use proofmark_engine::{Barrier, Setup, Workload, monotonic, pin};
use proofmark_model::{AUTO, Cache, CacheKind, Host, ParameterKind, Params, Probe};

type Error = Box<dyn std::error::Error>;
/// When a thread began and ended.
type Part = Result<[f64; 2], String>;

/// The point of that order and this many threads, with that instruction set. Other parameters have
/// their defaults, or what the workload makes of the machine.
pub fn point(
    workload: &dyn Workload,
    n: usize,
    threads: usize,
    isa: Option<&str>,
    usable: &[u32],
) -> Result<Params, Error> {
    let mut params = Params::default();
    for parameter in workload.spec().parameters.iter() {
        params = match (&parameter.kind, &*parameter.default) {
            (ParameterKind::Choice(_), word) => params.with(&parameter.name, word),
            (_, AUTO) => params.with(&parameter.name, AUTO),
            (_, number) => params.with(&parameter.name, number.parse::<u64>()?),
        };
    }
    let params = params.with("n", n as u64).with("threads", threads as u64);
    let params = params.with("isa", isa.unwrap_or(AUTO));
    let settled = workload.resolve_auto(params, &host(usable));
    let params = settled.into_iter().next().ok_or("the workload makes no point of it")?;
    workload.supports(&params)?;
    Ok(params)
}

/// This machine, as far as blocks are made to its measure: its CPUs and the caches of the
/// first one, as Linux tells them.
fn host(usable: &[u32]) -> Host {
    let mut host = Host::unknown("not looked at here");
    host.limits.usable_cpus = usable.to_vec();
    let first = usable.first().copied().unwrap_or_default();
    let cache = |index: u32| {
        let folder = format!("/sys/devices/system/cpu/cpu{first}/cache/index{index}");
        let text = |file: &str| std::fs::read_to_string(format!("{folder}/{file}")).ok();
        Some(Cache {
            level: text("level")?.trim().parse().ok()?,
            kind: match text("type")?.trim() {
                "Data" => CacheKind::Data,
                "Instruction" => CacheKind::Instruction,
                _ => CacheKind::Unified,
            },
            size_bytes: text("size")?.trim().strip_suffix('K')?.parse::<u64>().ok()? << 10,
            line_bytes: None,
            ways: None,
            shared_by: vec![first],
            instances: 1,
        })
    };
    let caches: Vec<Cache> = (0..).map_while(cache).collect();
    if !caches.is_empty() {
        host.cpu.caches = Probe::known(caches, "/sys/devices/system/cpu");
    }
    host
}

/// Threads that each have their part of a point.
pub struct Team {
    setup: Arc<dyn Setup>,
    orders: Vec<Sender<()>>,
    parts: Receiver<Part>,
    threads: Vec<JoinHandle<()>>,
}

impl Team {
    /// Starts this many, one on each of the CPUs that the point asks for, of those.
    pub fn start(setup: Box<dyn Setup>, threads: usize, usable: &[u32]) -> Result<Self, Error> {
        let (reported, parts) = channel();
        let cpus = setup.cpus(usable);
        let mut team = Self { setup: setup.into(), orders: vec![], parts, threads: vec![] };
        let ready = Arc::new(Barrier::new(threads));
        for (index, cpu) in cpus.into_iter().take(threads).enumerate() {
            let (order, orders) = channel();
            let (setup, ready, reported) = (team.setup.clone(), ready.clone(), reported.clone());
            team.orders.push(order);
            team.threads.push(std::thread::spawn(move || {
                pin(cpu);
                member(setup.as_ref(), (index, threads), &ready, &orders, &reported);
            }));
        }
        team.reported()?; // A thread tells once that it is ready.
        Ok(team)
    }

    /// What every thread tells.
    fn reported(&self) -> Result<Vec<[f64; 2]>, Error> {
        let one = |_| self.parts.recv().map_err(|_| "a thread died".to_owned())?;
        Ok(self.threads.iter().map(one).collect::<Result<_, String>>()?)
    }

    /// One iteration by all together: seconds from the first start to the last end.
    pub fn sample(&self) -> Result<f64, Error> {
        self.setup.begin_trial()?;
        for order in &self.orders {
            order.send(())?;
        }
        let parts = self.reported()?;
        let first = parts.iter().map(|p| p[0]).fold(f64::INFINITY, f64::min);
        Ok(parts.iter().map(|p| p[1]).fold(0.0, f64::max) - first)
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.orders.clear(); // A thread ends when nobody can send it orders any more.
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // What became of it has been told.
        }
    }
}

/// The life of one thread: its part is made, then run by orders. It tells why it cannot go on.
fn member(
    setup: &dyn Setup,
    (index, of): (usize, usize),
    ready: &Barrier,
    orders: &Receiver<()>,
    reported: &Sender<Part>,
) {
    let mut load = match setup.thread(index, of) {
        Ok(load) => load,
        Err(why) => return drop(reported.send(Err(why.0))),
    };
    let mut reported_it = reported.send(Ok([0.0; 2]));
    while reported_it.is_ok() && orders.recv().is_ok() {
        load.prepare(1);
        ready.wait();
        let start = monotonic();
        load.run(1);
        let end = monotonic();
        let proven = load.failure().map_or_else(|| load.verify(), Err);
        reported_it = reported.send(match proven {
            Ok(1) => Ok([start, end]),
            Ok(proven) => Err(format!("{proven} iterations were proven, not 1")),
            Err(why) => Err(why),
        });
    }
}
