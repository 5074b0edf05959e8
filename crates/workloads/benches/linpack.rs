//! `cpu.dgemm` and `cpu.linpack` beside MKL and OpenBLAS, in pairs: the same order, the same
//! number of threads, the same CPUs, one process.
//!
//! The libraries are found by the environment variables PROOFMARK_MKL and PROOFMARK_OPENBLAS
//! (paths), or by their usual names: OpenBLAS is Debian's package libopenblas0-pthread, MKL
//! the Python wheels `mkl` and `intel-openmp`, unpacked into one folder. They are loaded with
//! dlopen(3), which a static program cannot do: `make bench` builds this one dynamically.
//!
//! In a round each has its turn; the next round goes the other way (A B C C B A). A turn is
//! some samples, of which the first does not count: what a library has not touched for a while
//! comes back slowly, in a virtual machine by some 30 ms. It begins after a [`PAUSE`], since
//! the libraries' threads go on spinning after a call. Each sample has numbers of its own, which
//! are made before and whose result is checked afterwards; neither is timed. OpenBLAS's
//! threads are pinned from here, as KMP_AFFINITY has MKL do it.
//!
//! Both sides begin a timed call warm: awake, and at the clock of wide vectors. Our threads
//! multiply small matrices for 3 ms after their part of the filling, and meet spinning. For a
//! library the filling is done by other threads, so right before the timed call its own dgemm
//! multiplies small matrices with the same number of threads: once to wake them, then for
//! another 3 ms ([`Library::warm`]).
//!
//! `RUSTFLAGS="-C target-feature=-crt-static" cargo bench -p proofmark-workloads --target-dir
//! target/dynamic --bench linpack -- [dgemm|linpack|all] [ORDERS] [THREADS] [ROUNDS] [ISA]`:
//! orders and numbers of threads are lists with commas; `-` leaves a default.

#[path = "linpack/library.rs"]
mod library;
#[allow(dead_code)] // The workloads use more of it.
#[path = "../src/mix.rs"]
mod mix;
#[path = "linpack/ours.rs"]
mod ours;
#[path = "linpack/problem.rs"]
mod problem;

use std::time::Duration;

use proofmark_engine::{pin, usable_cpus};
use proofmark_model::summarise;
use proofmark_workloads::find;

use library::{KINDS, Library};
use ours::Team;
use problem::{Op, Problem};

type Error = Box<dyn std::error::Error>;

/// Before each turn, longer than the libraries' threads spin after a call: 200 ms of MKL's
/// (KMP_BLOCKTIME), less of OpenBLAS's.
const PAUSE: Duration = Duration::from_millis(300);

/// Seconds.
const TURN: f64 = 0.3;
/// Samples.
const MOST: usize = 100;

/// The columns, as they are shown.
const OURS: &str = "ours";
const SHOWN: [&str; 3] = [OURS, "MKL", "OpenBLAS"];

fn median(values: &[f64]) -> Option<f64> {
    summarise(values).map(|s| s.median)
}

/// The median of samples that together take [`TURN`], of [`MOST`] at most; ahead of it goes
/// one that does not count.
fn turn(sample: &mut dyn FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
    let mut all = sample()?;
    let mut counted = Vec::new();
    while counted.is_empty() || all < TURN && counted.len() < MOST {
        let seconds = sample()?;
        all += seconds;
        counted.push(seconds);
    }
    median(&counted).ok_or_else(|| "a time is not a finite number".into())
}

/// Median, its interval where there are enough for one, and range.
fn shown(values: &[f64]) -> Option<String> {
    let s = summarise(values)?;
    let interval = s.ci95.map_or("-".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"));
    Some(format!("{:.3} ({interval}) [{:.3}..{:.3}]", s.median, s.min, s.max))
}

/// What is asked for.
struct Asked {
    ops: Vec<Op>,
    orders: Option<Vec<usize>>,
    threads: Option<Vec<usize>>,
    rounds: usize,
    isa: Option<String>,
}

fn list(text: &str) -> Result<Vec<usize>, Error> {
    let number = |n: &str| match n.trim().parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("{n:?} is not a whole number above 0").into()),
    };
    text.split(',').map(number).collect()
}

impl Asked {
    fn parse() -> Result<Self, Error> {
        let all: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
        let at = |i: usize| all.get(i).map(String::as_str).filter(|a| *a != "-");
        let ops: Vec<Op> = match at(0).unwrap_or("all") {
            "all" => Op::ALL.to_vec(),
            word => Op::ALL.into_iter().filter(|op| op.name() == word).collect(),
        };
        if ops.is_empty() {
            return Err("the first argument is dgemm, linpack or all".into());
        }
        Ok(Self {
            ops,
            orders: at(1).map(list).transpose()?,
            threads: at(2).map(list).transpose()?,
            rounds: at(3).map_or(Ok(7), |n| list(n).map(|n| n[0]))?,
            isa: at(4).map(str::to_owned),
        })
    }

    fn orders(&self, op: Op) -> Vec<usize> {
        let usual = match op {
            Op::Dgemm => &[4000][..],
            Op::Linpack => &[1000, 2000, 5000, 10_000],
        };
        self.orders.clone().unwrap_or_else(|| usual.to_vec())
    }

    fn threads(&self, op: Op, cpus: usize) -> Vec<usize> {
        let usual = if op == Op::Dgemm && cpus > 1 { vec![1, cpus] } else { vec![cpus] };
        self.threads.clone().unwrap_or(usual)
    }
}

/// One row of the table.
struct Case {
    op: Op,
    n: usize,
    threads: usize,
}

impl Case {
    /// The workload's threads, ready, and its instruction set.
    fn team(&self, isa: Option<&str>, usable: &[u32]) -> Result<(Team, String), Error> {
        let workload = find(&format!("cpu.{}", self.op.name())).ok_or("not built yet")?;
        let params = ours::point(workload, self.n, self.threads, isa, usable)?;
        let isa = params.text("isa").unwrap_or_default().to_owned();
        Ok((Team::start(workload.setup(&params)?, self.threads, usable)?, isa))
    }

    fn compare(&self, asked: &Asked, libraries: &[Library], usable: &[u32]) -> Result<(), Error> {
        if self.threads > usable.len() {
            return Err(format!("{} threads on {} CPUs", self.threads, usable.len()).into());
        }
        let ours = self.team(asked.isa.as_deref(), usable);
        for library in libraries {
            let taken = library.set_threads(self.threads);
            if taken != self.threads {
                println!("{} takes {taken} threads, not {}", library.name, self.threads);
            }
        }
        let cpus = &usable[..self.threads];
        let mut problem = Problem::new(self.op, self.n);
        // By SHOWN: seconds of each round.
        let mut seconds: [Vec<f64>; 3] = Default::default();
        for round in 0..asked.rounds {
            for place in 0..SHOWN.len() {
                let who = if round % 2 == 0 { place } else { SHOWN.len() - 1 - place };
                let name = SHOWN[who];
                let mut sample: Box<dyn FnMut() -> Result<f64, Error>> = match &ours {
                    Ok((team, _)) if name == OURS => Box::new(|| team.sample()),
                    _ => match libraries.iter().find(|l| l.name == name) {
                        Some(library) => Box::new(|| problem.sample(library, cpus)),
                        None => continue,
                    },
                };
                std::thread::sleep(PAUSE);
                let taken = turn(&mut sample).map_err(|why| format!("{name}: {why}"))?;
                drop(sample);
                seconds[who].push(taken);
            }
        }
        self.show(ours.map(|(_, isa)| isa).map_err(|why| why.to_string()), &seconds);
        Ok(())
    }

    fn show(&self, isa: Result<String, String>, seconds: &[Vec<f64>; 3]) {
        let middles = seconds.each_ref().map(|s| median(s));
        let rate = |s: f64| self.op.operations(self.n) / s * 1e-9;
        let rates = middles.map(|s| s.map_or("-".to_owned(), |s| format!("{:.2}", rate(s))));
        let theirs = (1..SHOWN.len()).filter_map(|i| Some((i, middles[i]?)));
        let better = theirs.min_by(|a, b| a.1.total_cmp(&b.1));
        let ratios = match (&isa, middles[0], better) {
            (Err(why), ..) => format!("ours: {why}"),
            (_, Some(ours), Some((i, theirs))) => {
                let pairs = seconds[0].iter().zip(&seconds[i]).map(|(o, t)| t / o);
                let pairs = shown(&pairs.collect::<Vec<_>>()).unwrap_or_default();
                format!("{:.3} {:<8}  {pairs}", theirs / ours, SHOWN[i])
            }
            _ => "nothing to compare with".to_owned(),
        };
        println!(
            "{:<7} {:>6} {:>7} {:<8} {:>8} {:>8} {:>8}  {ratios}",
            self.op.name(),
            self.n,
            self.threads,
            isa.as_deref().unwrap_or("-"),
            rates[0],
            rates[1],
            rates[2]
        );
    }
}

/// Those that are here; says what is not.
fn libraries(cpus: &[u32]) -> Vec<Library> {
    let load = |kind| match Library::load(kind, cpus) {
        Ok(library) => {
            println!("{}: {}", library.name, library.version);
            Some(library)
        }
        Err(why) => {
            println!("{} is not compared: {why} ({} may hold its path)", kind.name, kind.variable);
            None
        }
    };
    KINDS.iter().filter_map(load).collect()
}

fn main() -> Result<(), Error> {
    if cfg!(target_feature = "crt-static") {
        println!(
            "MKL and OpenBLAS are not compared: this build is static; `make bench` makes one that can load them"
        );
        return Ok(());
    }
    let asked = Asked::parse()?;
    let usable = usable_cpus(None).ok_or("the system does not tell which CPUs may be used")?;
    library::place_threads(&usable);
    let libraries = libraries(&usable);
    pin(usable[0]);
    println!(
        "GFLOP/s: medians of {} rounds. Ratio of ours to the better library: of the medians; median of the pairs (its 95 % interval) [least..greatest]",
        asked.rounds
    );
    println!(
        "{:<7} {:>6} {:>7} {:<8} {:>8} {:>8} {:>8}  ratio            of the pairs",
        "", "order", "threads", "isa", SHOWN[0], SHOWN[1], SHOWN[2]
    );
    let mut failed = 0;
    for op in asked.ops.iter().copied() {
        for n in asked.orders(op) {
            for threads in asked.threads(op, usable.len()) {
                let case = Case { op, n, threads };
                if let Err(why) = case.compare(&asked, &libraries, &usable) {
                    println!("{:<7} {n:>6} {threads:>7} {why}", op.name());
                    failed += 1;
                }
            }
        }
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} cases came to no result").into()) }
}
