//! Our kernels beside the tools that people trust, whole commands in turn,
//! A B B A ..., so that drift of the machine touches both alike. Printed is the
//! ratio ours / theirs pair by pair: its median, the interval of the median, and
//! both medians.
//!
//! `cargo bench -p proofmark --bench beside -- [PAIRS] [WORD]`: only lines that hold
//! the word. Tools: likwid-bench (Debian package likwid), lat_mem_rd (lmbench).

use std::process::Command;

use proofmark_engine::summarise;
use proofmark_model::{Unit, format_quantity};

type Failure = Box<dyn std::error::Error>;

/// The other tool's measurement.
enum Theirs {
    /// A kernel of likwid-bench, bytes of its working set (decimal, over all arrays),
    /// and the line that holds its rate.
    Likwid { kernel: &'static str, working_set: &'static str, line: &'static str },
    /// lat_mem_rd in random order over so many MB: the time at the last size.
    LatMemRd { megabytes: &'static str },
}

/// Ours: the kernel and its knobs.
struct Pair {
    kernel: &'static str,
    knobs: &'static [&'static str],
    theirs: Theirs,
    threads: &'static [u32],
}

const fn peak(knobs: &'static [&'static str], kernel: &'static str) -> Pair {
    let theirs = Theirs::Likwid { kernel, working_set: "20kB", line: "MFlops/s:" };
    Pair { kernel: "cpu.flops", knobs, theirs, threads: &[1, 2] }
}

/// A working set of 1 GB in all, the arrays of which hold `knobs`' array_size each.
const fn bandwidth(
    kernel: &'static str,
    knobs: &'static [&'static str],
    theirs: &'static str,
) -> Pair {
    let theirs = Theirs::Likwid { kernel: theirs, working_set: "1GB", line: "MByte/s:" };
    Pair { kernel, knobs, theirs, threads: &[1, 2] }
}

const fn latency(knobs: &'static [&'static str], megabytes: &'static str) -> Pair {
    let theirs = Theirs::LatMemRd { megabytes };
    Pair { kernel: "memory.latency", knobs, theirs, threads: &[1] }
}

const ONE: &str = "array_size=1000000000";
const HALF: &str = "array_size=500000000";
const THIRD: &str = "array_size=333333333";
const STREAMED: &str = "stores=nontemporal";
const ORDINARY: &str = "stores=temporal";
/// lat_mem_rd asks for no huge pages.
const SMALL: &str = "pages=small";

const PAIRS: &[Pair] = &[
    peak(&["isa=avx2+fma", "type=f64"], "peakflops_avx_fma"),
    peak(&["isa=avx2+fma", "type=f32"], "peakflops_sp_avx_fma"),
    peak(&["isa=avx512", "type=f64"], "peakflops_avx512_fma"),
    peak(&["isa=avx512", "type=f32"], "peakflops_sp_avx512_fma"),
    peak(&["isa=sse2", "type=f64"], "peakflops_sse"),
    peak(&["isa=scalar", "type=f64"], "peakflops"),
    bandwidth("memory.read", &[ONE], "load_avx"),
    bandwidth("memory.read", &[ONE], "load_avx512"),
    bandwidth("memory.write", &[ONE, STREAMED], "store_mem_avx"),
    bandwidth("memory.write", &[ONE, STREAMED], "store_mem_avx512"),
    bandwidth("memory.write", &[ONE, ORDINARY], "store_avx"),
    bandwidth("memory.copy", &[HALF, STREAMED], "copy_mem_avx"),
    bandwidth("memory.copy", &[HALF, STREAMED], "copy_mem_avx512"),
    bandwidth("memory.copy", &[HALF, ORDINARY], "copy_avx"),
    // likwid has no add; its STREAM triad moves the same bytes.
    bandwidth("memory.add", &[THIRD, STREAMED], "stream_mem_avx"),
    bandwidth("memory.triad", &[THIRD, STREAMED], "stream_mem_avx_fma"),
    bandwidth("memory.triad", &[THIRD, STREAMED], "stream_mem_avx512_fma"),
    bandwidth("memory.triad", &[THIRD, ORDINARY], "stream_avx_fma"),
    latency(&["working_set=32KB", SMALL], "0.03125"),
    latency(&["working_set=1MB", SMALL], "1"),
    latency(&["working_set=64MB", SMALL], "64"),
    latency(&["working_set=1GB", SMALL], "1024"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let pairs = arguments.iter().find_map(|a| a.parse::<u32>().ok()).unwrap_or(11);
    let only = arguments.iter().find(|a| a.parse::<u32>().is_err());
    let (ratio, interval) = ("ours/theirs", "95 % interval");
    println!("{:<62} {ratio:>11} {interval:>18}  ours, theirs", "kernel");
    for pair in PAIRS {
        for threads in pair.threads {
            let name = pair.name(*threads);
            if only.is_some_and(|word| !name.contains(word.as_str())) {
                continue;
            }
            match pair.compare(*threads, pairs) {
                Ok(figures) => println!("{name:<62} {figures}"),
                Err(e) => println!("{name:<62} not compared: {e}"),
            }
        }
    }
}

impl Pair {
    fn name(&self, threads: u32) -> String {
        let theirs = match &self.theirs {
            Theirs::Likwid { kernel, .. } => kernel,
            Theirs::LatMemRd { .. } => "lat_mem_rd",
        };
        format!("{} {} t={threads} / {theirs}", self.kernel, self.knobs.join(" "))
    }

    fn compare(&self, threads: u32, pairs: u32) -> Result<String, Failure> {
        let (mut a, mut b, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let mut unit = Unit::BytePerSecond;
        for pair in 0..pairs {
            let ((x, of), y) = if pair % 2 == 0 {
                let x = self.ours(threads)?;
                (x, self.theirs(threads)?)
            } else {
                let y = self.theirs(threads)?;
                (self.ours(threads)?, y)
            };
            unit = of;
            a.push(x);
            b.push(y);
            ratios.push(x / y);
        }
        let [r, a, b] = [ratios, a, b].map(|v| summarise(&v).ok_or("no pairs"));
        let (r, a, b) = (r?, a?, b?);
        let [low, high] = r.ci95.unwrap_or([r.min, r.max]);
        let [a, b] = [a.median, b.median].map(|v| format_quantity(v, unit));
        Ok(format!("{:11.4} [{low:7.4}, {high:7.4}]  {a}, {b}", r.median))
    }

    fn ours(&self, threads: u32) -> Result<(f64, Unit), Failure> {
        let dir = tempfile::tempdir()?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_proofmark"));
        command.args(["run", self.kernel, "--trials", "9", "--json", "-"]);
        if self.threads != [1] {
            command.args(["--threads", &threads.to_string()]);
        }
        for knob in self.knobs {
            command.args(["--set", &format!("{}.{knob}", self.kernel)]);
        }
        let out = command.arg("--out").arg(dir.path().join("run")).output()?;
        let run = proofmark_model::read_run(&String::from_utf8(out.stdout)?)?;
        let m = run.measurements.first().ok_or("nothing was measured")?;
        Ok((m.summary.as_ref().ok_or("no trial")?.median, m.unit))
    }

    fn theirs(&self, threads: u32) -> Result<f64, Failure> {
        match self.theirs {
            Theirs::Likwid { kernel, working_set, line } => {
                likwid(kernel, working_set, line, threads)
            }
            Theirs::LatMemRd { megabytes } => lat_mem_rd(megabytes),
        }
    }
}

fn likwid(kernel: &str, working_set: &str, line: &str, threads: u32) -> Result<f64, Failure> {
    // A small set is given to each thread; one of a gigabyte is that of all.
    let size = match working_set.strip_suffix("kB") {
        Some(kilobytes) => format!("{}kB", kilobytes.parse::<u32>()? * threads),
        None => working_set.to_owned(),
    };
    let workgroup = format!("S0:{size}:{threads}");
    let out = Command::new("likwid-bench")
        .args(["-t", kernel, "-w", &workgroup, "-s", "1"])
        .output()
        .map_err(|e| format!("likwid-bench: {e}; it is in Debian's package likwid"))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let rate = text.lines().find_map(|l| l.strip_prefix(line)).ok_or("no line with its rate")?;
    Ok(rate.trim().parse::<f64>()? * 1e6)
}

fn lat_mem_rd(megabytes: &str) -> Result<f64, Failure> {
    let program = "/usr/lib/lmbench/bin/x86_64-linux-gnu/lat_mem_rd";
    let out =
        Command::new(program)
            .args(["-t", "-P", "1", "-N", "3", megabytes, "128"])
            .output()
            .map_err(|e| format!("{program}: {e}; it is in Debian's package lmbench (non-free)"))?;
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    let last = text.lines().rfind(|l| !l.trim().is_empty()).ok_or("it printed nothing")?;
    let nanoseconds = last.split_whitespace().nth(1).ok_or("no time")?;
    Ok(nanoseconds.parse::<f64>()? * 1e-9)
}
