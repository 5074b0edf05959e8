//! The disk workloads beside fio, in pairs: the same file, block, depth, engine, direct I/O
//! and number of I/Os.
//!
//! The file is a workload's own, laid out in the current folder or that of `DISK_PATH`, and
//! has no name: fio opens it through /proc, and whatever ends this program leaves nothing.
//! One pair is ours and fio's, the next fio's and ours (A B B A). Each is a process of its
//! own, of about 3 seconds by default; its CPU time is what wait4(2) tells of it, start and end
//! included. What each takes for a single I/O is told too, as `start`.
//!
//! A disk whose own rate moves from second to second hides a difference of a percent from
//! such pairs. So the rate is compared once more in slices: one long run of each, of which
//! one is stopped (SIGSTOP) while the other goes on for [`SLICE`]. The bytes that the workload
//! counts for the two processes are the verification of both.
//!
//! fio's random order, like ours, takes each block once in a pass, and is another one in
//! each run (`--randrepeat=0`), so that no cache behind the device knows it. (Its
//! `--random_generator=lfsr` needs no map of blocks done, but jumps to half of the last
//! offset half of the time, which shows in p99.) Only percentiles are asked for of `lat`, since ours are of the whole time from before the
//! submission; `clat` begins after it. Neither flushes at the end.
//!
//! `cargo bench -p proofmark-workloads --bench disk -- [PAIRS] [WORD] [SECONDS]`: as many
//! pairs of each case whose name holds the word.

#![allow(unsafe_code)] // fork(2), wait4(2)

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::process::Command;
use std::time::Duration;

use proofmark_engine::{Latencies, Setup, Workload, monotonic};
use proofmark_model::Params;
use proofmark_workloads::disk::{RAND_READ, SEQ_READ, SEQ_WRITE};
use serde_json::Value;

type Error = Box<dyn std::error::Error>;

/// Bytes of the file.
const FILE: u64 = 1 << 30;

/// How long one of two runs goes on while the other is stopped: short, so that the disk is
/// the same for both, and still some hundred times the longest I/O.
const SLICE: Duration = Duration::from_millis(50);

/// For the I/Os of a run that was stopped to come to rest.
const REST: Duration = Duration::from_millis(4);

struct Case {
    name: &'static str,
    workload: &'static dyn Workload,
    fio_rw: &'static str,
    block: u64,
    depth: u64,
    engine: &'static str,
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { name: "rand_read_4k_1_psync", workload: &RAND_READ, fio_rw: "randread", block: 4096, depth: 1, engine: "psync" },
    Case { name: "rand_read_4k_1_io_uring", workload: &RAND_READ, fio_rw: "randread", block: 4096, depth: 1, engine: "io_uring" },
    Case { name: "rand_read_4k_32_io_uring", workload: &RAND_READ, fio_rw: "randread", block: 4096, depth: 32, engine: "io_uring" },
    Case { name: "seq_read_1m_8_io_uring", workload: &SEQ_READ, fio_rw: "read", block: 1 << 20, depth: 8, engine: "io_uring" },
    // Last: fio writes its own data.
    Case { name: "seq_write_1m_8_io_uring", workload: &SEQ_WRITE, fio_rw: "write", block: 1 << 20, depth: 8, engine: "io_uring" },
];

/// What one run came to.
#[derive(Clone, Copy, Default)]
struct Outcome {
    /// I/Os per second.
    rate: f64,
    /// Seconds.
    p50: f64,
    p99: f64,
    /// Seconds of CPU time.
    cpu: f64,
}

impl Case {
    fn params(&self) -> Params {
        Params::default()
            .with("threads", 1)
            .with("block_size", self.block)
            .with("queue_depth", self.depth)
            .with("file_size", FILE)
            .with("engine", self.engine)
            .with("direct", "on")
            .with("cache", "none")
            .with("flush", "none")
            .with("amount", "auto")
    }

    /// Starts a run of ours, in a child that has the test file from this process.
    fn ours(&self, setup: &dyn Setup, count: u64) -> Result<Run, Error> {
        let (from_child, to_parent) = pipe()?;
        // SAFETY: this process has one thread, so the child may do whatever it could.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            drop(from_child);
            let line = child(setup, count).unwrap_or_else(|e| format!("{e}\n"));
            let written = (&to_parent).write_all(line.as_bytes());
            // SAFETY: ends the child without the parent's clean-up.
            unsafe { libc::_exit(i32::from(written.is_err())) };
        }
        Ok(Run { pid, reported: from_child, count, outcome: parse_ours })
    }

    /// Starts a run of fio on this process's file.
    fn fio(&self, path: &str, count: u64) -> Result<Run, Error> {
        let option = |name: &str, value: u64| format!("--{name}={value}");
        let (from_child, to_parent) = pipe()?;
        let fio = Command::new("fio")
            .args(["--name=beside", "--output-format=json", "--eta=never", "--direct=1"])
            .args(["--thread", "--randrepeat=0"])
            .args(["--lat_percentiles=1", "--clat_percentiles=0", "--slat_percentiles=0"])
            .args([format!("--filename={path}"), format!("--rw={}", self.fio_rw)])
            .args([format!("--ioengine={}", self.engine), option("iodepth", self.depth)])
            .args([option("bs", self.block), option("size", FILE)])
            .arg(option("io_size", count * self.block))
            .stdout(to_parent)
            .spawn()
            .map_err(|e| format!("fio cannot be started: {e}"))?;
        Ok(Run { pid: fio.id() as libc::pid_t, reported: from_child, count, outcome: parse_fio })
    }
}

/// A child process that does its I/Os and then tells of them.
struct Run {
    pid: libc::pid_t,
    reported: File,
    count: u64,
    outcome: fn(&str, u64) -> Result<Outcome, Error>,
}

impl Run {
    /// What it comes to, once it has ended.
    fn outcome(mut self) -> Result<Outcome, Error> {
        let mut reported = String::new();
        self.reported.read_to_string(&mut reported)?;
        let cpu = cpu_of(self.pid)?;
        Ok(Outcome { cpu, ..(self.outcome)(&reported, self.count)? })
    }

    /// Bytes that it has had devices move by now.
    fn moved(&self) -> Result<u64, Error> {
        let text = std::fs::read_to_string(format!("/proc/{}/io", self.pid))?;
        let of = |name: &str| {
            let line = text.lines().find_map(|l| l.strip_prefix(name));
            line.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        Ok(of("read_bytes:") + of("write_bytes:"))
    }

    fn signal(&self, signal: libc::c_int) -> Result<(), Error> {
        // SAFETY: plain system call on a child that was not waited for.
        match unsafe { libc::kill(self.pid, signal) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error().into()),
        }
    }

    fn has_ended(&self) -> bool {
        // SAFETY: all zeros is a value of it, and it is there to be written to.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_PID, self.pid as libc::id_t, &raw mut info, how) != 0
                || info.si_pid() != 0
        }
    }

    /// Waits until it is at its I/Os, and stops it.
    fn stopped_at_work(self) -> Result<Self, Error> {
        // What a program reads of itself to start is counted too, if it is not cached.
        while self.moved()? < 16 << 20 && !self.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.signal(libc::SIGSTOP)?;
        std::thread::sleep(REST);
        Ok(self)
    }

    /// Lets it go on for a slice. Its bytes per second, if it has not ended.
    fn slice(&self) -> Result<Option<f64>, Error> {
        let (before, start) = (self.moved()?, monotonic());
        self.signal(libc::SIGCONT)?;
        std::thread::sleep(SLICE);
        self.signal(libc::SIGSTOP)?;
        let seconds = monotonic() - start;
        std::thread::sleep(REST);
        let moved = self.moved()? - before;
        Ok((!self.has_ended()).then_some(moved as f64 / seconds))
    }
}

fn parse_ours(reported: &str, _: u64) -> Result<Outcome, Error> {
    let numbers: Vec<f64> = reported.split_whitespace().map_while(|n| n.parse().ok()).collect();
    let &[rate, p50, p99] = numbers.as_slice() else { return Err(reported.into()) };
    Ok(Outcome { rate, p50, p99, cpu: 0.0 })
}

fn parse_fio(reported: &str, count: u64) -> Result<Outcome, Error> {
    // Notes may come before the JSON.
    let json: Value =
        serde_json::from_str(&reported[reported.find('{').ok_or("no JSON of fio")?..])?;
    let job = &json["jobs"][0];
    let way = if job["read"]["total_ios"] == 0 { "write" } else { "read" };
    let number = |value: &Value| value.as_f64().ok_or_else(|| format!("fio tells {value}"));
    let done = number(&job[way]["total_ios"])?;
    if done != count as f64 {
        return Err(format!("fio did {done} of {count} I/Os").into());
    }
    let at = |percentile: &str| number(&job[way]["lat_ns"]["percentile"][percentile]);
    Ok(Outcome {
        rate: done / number(&job[way]["runtime"])? * 1e3,
        p50: at("50.000000")? * 1e-9,
        p99: at("99.000000")? * 1e-9,
        cpu: 0.0,
    })
}

/// A run in a thread of its own, on which this one looks in as often as fio's main process
/// does on its job. A CPU that never wakes for anything else takes some 5 us longer to
/// wake for an I/O in a virtual machine, whoever waits for it: so does a plain loop of
/// pread(2), with or without the other process.
fn child(setup: &dyn Setup, count: u64) -> Result<String, String> {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| run(setup, count));
        while !run.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        run.join().map_err(|_| "the run died")?
    })
}

/// The same work as a trial's: made ready, run, verified. Tells rate and percentiles.
fn run(setup: &dyn Setup, count: u64) -> Result<String, String> {
    let mut load = setup.thread(0, 1).map_err(|e| e.0)?;
    load.prepare(count);
    let start = monotonic();
    load.run(count);
    let seconds = monotonic() - start;
    load.failure().map_or(Ok(()), Err)?;
    let mut all = Latencies::default();
    load.latencies(&mut all);
    let latency = all.summary().ok_or("nothing was timed")?;
    let rate = load.verify()? as f64 / seconds;
    // Of few I/Os there is no 99th percentile; their times are not used.
    Ok(format!("{rate} {} {}\n", latency.p50, latency.p99.unwrap_or(latency.max)))
}

/// A pipe: what is read from, what is written to.
fn pipe() -> Result<(File, File), Error> {
    let mut ends = [0; 2];
    // SAFETY: there is room for both descriptors, which nobody else owns.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok((File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])))
    }
}

/// Waits for a child to end well. Returns the CPU time that it and its own children took.
fn cpu_of(pid: libc::pid_t) -> Result<f64, Error> {
    let mut status = 0;
    // SAFETY: all zeros is a value of it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both are there to be written to.
    if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } != pid {
        return Err(std::io::Error::last_os_error().into());
    }
    if status != 0 {
        return Err(format!("a child ended with status {status:#x}").into());
    }
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    Ok(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

/// Where another process finds the file without a name.
fn own_file() -> Result<String, Error> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        let link = std::fs::read_link(entry.path()).unwrap_or_default();
        let size = std::fs::metadata(entry.path()).map_or(0, |m| m.len());
        if link.to_string_lossy().ends_with("(deleted)") && size == FILE {
            let number = entry.file_name().into_string().map_err(|_| "no number")?;
            return Ok(format!("/proc/{}/fd/{number}", std::process::id()));
        }
    }
    Err("the test file is not to be found".into())
}

/// Median, its interval by order statistics (about 95 %), and range.
fn shown(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 {
        return "none".to_owned();
    }
    let median = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
    let (least, greatest) = (values[0], values[n - 1]);
    let reach = (0.98 * (n as f64).sqrt()).ceil() as usize;
    let low = values[(n / 2).saturating_sub(reach)];
    let high = values[(n / 2 + reach).min(n - 1)];
    format!("{median:6.3} ({low:.3} to {high:.3}) [{least:.3}..{greatest:.3}]")
}

/// One case, in runs of about this many seconds.
fn compare(case: &Case, pairs: usize, seconds: f64) -> Result<(), Error> {
    let setup = case.workload.setup(&case.params())?;
    let path = own_file()?;
    let ours = |count| case.ours(setup.as_ref(), count);
    let fio = |count| case.fio(&path, count);
    // The second, longer one tells how many I/Os fill a run.
    let mut count = 64 * case.depth;
    for seconds in [seconds / 8.0, seconds] {
        count = (ours(count)?.outcome()?.rate * seconds) as u64 + 1;
    }
    // What it takes to begin and to end.
    let start = [ours(1)?.outcome()?.cpu, fio(1)?.outcome()?.cpu];
    let mut outcomes = Vec::new();
    for pair in 0..pairs {
        outcomes.push(if pair % 2 == 0 {
            [ours(count)?.outcome()?, fio(count)?.outcome()?]
        } else {
            let fio = fio(count)?.outcome()?;
            [ours(count)?.outcome()?, fio]
        });
    }
    let ratio = |of: &dyn Fn(&Outcome) -> f64| {
        shown(outcomes.iter().map(|[ours, fio]| of(ours) / of(fio)).collect())
    };
    let typical = |i: usize| {
        let mut all: Vec<_> = outcomes.iter().map(|o| o[i]).collect();
        all.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        let Outcome { rate, p50, p99, cpu } = all[all.len() / 2];
        let (p50, p99, cpu) = (p50 * 1e6, p99 * 1e6, cpu / count as f64 * 1e6);
        let start = start[i] * 1e3;
        format!(
            "{rate:9.0} op/s  p50 {p50:8.1} us  p99 {p99:8.1} us  CPU {cpu:7.2} us/op  start {start:5.1} ms"
        )
    };
    println!("{} ({count} I/Os, {pairs} pairs)", case.name);
    println!("  ours {}\n  fio  {}", typical(0), typical(1));
    println!("  rate {}", ratio(&|o| o.rate));
    println!("  p50  {}", ratio(&|o| o.p50));
    println!("  p99  {}", ratio(&|o| o.p99));
    println!("  CPU  {}", ratio(&|o| o.cpu));
    // Each starts first once.
    let long = count * pairs.div_ceil(2) as u64;
    let mut ratios = in_slices(&ours(long)?.stopped_at_work()?, &fio(long)?.stopped_at_work()?)?;
    let other = in_slices(&fio(long)?.stopped_at_work()?, &ours(long)?.stopped_at_work()?)?;
    ratios.extend(other.iter().map(|ratio| 1.0 / ratio));
    println!("  rate {} in {} slices of {SLICE:?}", shown(ratios.clone()), ratios.len());
    Ok(())
}

/// Rates of two stopped runs over each other, slice by slice (A B B A), until one has
/// ended. Both are then killed.
fn in_slices(one: &Run, other: &Run) -> Result<Vec<f64>, Error> {
    let mut ratios = Vec::new();
    loop {
        let [first, second] = if ratios.len() % 2 == 0 { [one, other] } else { [other, one] };
        let (Some(a), Some(b)) = (first.slice()?, second.slice()?) else { break };
        ratios.push(if ratios.len() % 2 == 0 { a / b } else { b / a });
    }
    for run in [one, other] {
        run.signal(libc::SIGKILL)?;
        let _ = cpu_of(run.pid); // It ended by a signal, or well.
    }
    Ok(ratios)
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let pairs: usize = arguments.next().map_or(Ok(5), |n| n.parse())?;
    let word = arguments.next().unwrap_or_default();
    let seconds: f64 = arguments.next().map_or(Ok(3.0), |n| n.parse())?;
    if let Some(folder) = std::env::var_os("DISK_PATH") {
        std::env::set_current_dir(folder)?;
    }
    println!("ours / fio: median [least..greatest] over the pairs");
    for case in CASES.iter().filter(|c| c.name.contains(&word)) {
        compare(case, pairs.max(1), seconds)?;
    }
    Ok(())
}
