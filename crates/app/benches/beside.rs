//! `cpu.flops` beside likwid-bench (Debian package likwid), whole commands in turn,
//! A B B A ..., so that drift of the machine touches both alike. Printed is the
//! ratio ours / theirs pair by pair: its median, the interval of the median, and
//! both medians.
//!
//! `cargo bench -p proofmark --bench likwid -- [PAIRS] [ISA]`

use std::process::Command;

use proofmark_engine::summarise;

type Failure = Box<dyn std::error::Error>;

/// Our instruction set and type, and likwid's name for the same loop.
const LOOPS: [(&str, &str, &str); 6] = [
    ("avx2+fma", "f64", "peakflops_avx_fma"),
    ("avx2+fma", "f32", "peakflops_sp_avx_fma"),
    ("avx512", "f64", "peakflops_avx512_fma"),
    ("avx512", "f32", "peakflops_sp_avx512_fma"),
    ("sse2", "f64", "peakflops_sse"),
    ("scalar", "f64", "peakflops"),
];

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let pairs = arguments.iter().find_map(|a| a.parse::<u32>().ok()).unwrap_or(15);
    let only = arguments.iter().find(|a| a.parse::<u32>().is_err());
    if Command::new("likwid-bench").arg("-h").output().is_err() {
        println!("likwid-bench is not installed; it is in Debian's package likwid");
        return Ok(());
    }
    println!(
        "{:<14} {:>7}  {:>8} {:>19}  {:>9} {:>9}",
        "loop", "threads", "ratio", "interval", "ours", "theirs"
    );
    for (isa, kind, theirs) in LOOPS {
        if only.is_some_and(|o| o != isa) {
            continue;
        }
        for threads in [1, 2] {
            match compare(isa, kind, theirs, threads, pairs) {
                Ok(line) => println!("{line}"),
                Err(e) => println!("{isa:<10} {kind} {threads:>7}  not compared: {e}"),
            }
        }
    }
    Ok(())
}

fn compare(
    isa: &str,
    kind: &str,
    theirs: &str,
    threads: u32,
    pairs: u32,
) -> Result<String, Failure> {
    let (mut a, mut b, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..pairs {
        let (x, y) = if pair % 2 == 0 {
            let x = ours(isa, kind, threads)?;
            (x, likwid(theirs, threads)?)
        } else {
            let y = likwid(theirs, threads)?;
            (ours(isa, kind, threads)?, y)
        };
        a.push(x);
        b.push(y);
        ratios.push(x / y);
    }
    let [r, a, b] = [ratios, a, b].map(|v| summarise(&v).ok_or("no pairs"));
    let (r, a, b) = (r?, a?, b?);
    let [low, high] = r.ci95.unwrap_or([r.min, r.max]);
    Ok(format!(
        "{isa:<10} {kind} {threads:>7}  {:8.4} [{low:8.4}, {high:7.4}]  {:9.3} {:9.3} GFLOP/s",
        r.median,
        a.median / 1e9,
        b.median / 1e9
    ))
}

fn ours(isa: &str, kind: &str, threads: u32) -> Result<f64, Failure> {
    let dir = tempfile::tempdir()?;
    let out = Command::new(env!("CARGO_BIN_EXE_proofmark"))
        .args(["run", "cpu.flops", "--trials", "7", "--json", "-"])
        .args(["--threads", &threads.to_string()])
        .args([
            "--set",
            &format!("cpu.flops.isa={isa}"),
            "--set",
            &format!("cpu.flops.type={kind}"),
        ])
        .arg("--out")
        .arg(dir.path().join("run"))
        .output()?;
    let run = proofmark_model::read_run(&String::from_utf8(out.stdout)?)?;
    let m = run.measurements.first().ok_or("nothing was measured")?;
    Ok(m.summary.as_ref().ok_or("no trial")?.median)
}

fn likwid(name: &str, threads: u32) -> Result<f64, Failure> {
    let workgroup = format!("S0:{}kB:{threads}", 20 * threads);
    let out = Command::new("likwid-bench").args(["-t", name, "-W", &workgroup]).output()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let line = text.lines().find_map(|l| l.strip_prefix("MFlops/s:")).ok_or("no MFlops/s line")?;
    Ok(line.trim().parse::<f64>()? * 1e6)
}
