//! Names that users of other tools type, with proofmark's names for the same.

/// Words typed instead of a command, and what to type.
pub const COMMANDS: &[(&[&str], &str)] = &[
    (&["benchmark", "bench", "test", "start", "measure", "go", "execute"], "proofmark run"),
    (&["quick", "fast"], "proofmark run --quick"),
    (
        &["stress", "soak", "monitor", "watch", "burn", "burnin", "loop"],
        "proofmark endure WORKLOAD",
    ),
    (&["version", "ver"], "proofmark --version"),
    (
        &["show", "view", "print", "open", "export", "convert", "html", "csv"],
        "proofmark report RUN",
    ),
    (&["diff", "cmp", "versus", "vs"], "proofmark compare RUN RUN"),
    (&["ls", "runs", "log", "past"], "proofmark history"),
    (&["server", "daemon", "listen", "iperf3", "iperf"], "proofmark serve"),
    (&["client", "connect"], "proofmark run network --peer HOST"),
    (&["machine", "system", "sysinfo", "hardware", "specs", "facts"], "proofmark info"),
    (&["workloads", "tests", "benchmarks"], "proofmark list workloads"),
    (&["profiles"], "proofmark list profiles"),
    (&["checks"], "proofmark list checks"),
    (&["formats"], "proofmark list formats"),
    (&["terms"], "proofmark list terms"),
    (&["cluster", "nodes", "ssh", "slurm"], "proofmark fleet run"),
    (&["assert", "verify", "gate", "ci"], "proofmark check RUN"),
    (&["jitter", "disturbances"], "proofmark noise"),
    (&["define", "describe", "what", "why", "word"], "proofmark explain WORD"),
    (&["completion", "complete"], "proofmark completions SHELL"),
    (&["environment", "env", "variables"], "proofmark explain environment"),
];

/// Options that users of other tools type, and proofmark's.
pub struct Habit {
    /// The options, with their dashes.
    pub typed: &'static [&'static str],
    /// The commands for which the hint is right.
    pub commands: &'static [&'static str],
    /// Proofmark's options or command.
    pub instead: &'static str,
}

const fn habit(
    typed: &'static [&'static str],
    commands: &'static [&'static str],
    instead: &'static str,
) -> Habit {
    Habit { typed, commands, instead }
}

const MEASURE: &[&str] = &["run", "endure", "noise"];
const RESULTS: &[&str] = &["run", "endure", "noise", "import"];
const PRINT: &[&str] = &["report", "compare", "check", "history", "fleet report"];

/// Options of fio, iperf3, hyperfine, sysbench, wrk, pdsh and of common custom.
pub const OPTIONS: &[Habit] = &[
    habit(&["-o", "--output", "--output-dir", "--outdir", "--out-dir", "-O"], RESULTS, "--out DIR"),
    habit(&["-o", "--output", "-O", "--file"], PRINT, "--out FILE"),
    habit(&["--quick"], &["fleet run"], "--profile quick"),
    habit(&["--thorough"], &["fleet run"], "--profile thorough"),
    habit(
        &["--runtime", "--time", "--duration", "--timeout", "--max-time", "--seconds", "--length"],
        &["run"],
        "--budget TIME, such as --budget 1m",
    ),
    habit(
        &["--runtime", "--time", "--duration", "--timeout", "--budget", "--seconds", "-t", "-d"],
        &["endure", "noise"],
        "--for TIME, such as --for 1m",
    ),
    habit(&["--interval", "-i", "--step"], &["endure"], "--every TIME"),
    habit(
        &["-t", "-T", "--thread", "--numjobs", "--jobs", "--cpus", "--cores"],
        &["run"],
        "--threads N, or --budget TIME for a time limit",
    ),
    habit(&["-T", "--numjobs", "--jobs", "--cpus", "--cores"], &["endure"], "--threads N"),
    habit(
        &["-c", "--client", "--connect", "--server", "--host", "--remote"],
        &["run"],
        "--peer HOST, where `proofmark serve` runs",
    ),
    habit(&["-s", "--listen", "--daemon"], &["run"], "the command `proofmark serve`"),
    habit(&["-p", "--port"], &["run"], "--peer HOST:PORT"),
    habit(&["-p", "--port", "-B", "--listen", "--address"], &["serve"], "--bind ADDRESS:PORT"),
    habit(
        &["-P", "--parallel", "--streams", "--connections"],
        &["run"],
        "--set network.tcp.stream.streams=N",
    ),
    habit(&["-R", "--reverse", "--bidir"], &["run"], "--set network.tcp.stream.direction=reverse"),
    habit(&["-u", "--udp"], &["run"], "the workload: `proofmark run network.udp.stream`"),
    habit(&["-J", "-j", "--json-output", "--export-json", "--json-file"], RESULTS, "--json FILE"),
    habit(
        &[
            "--export-csv",
            "--export-markdown",
            "--csv",
            "--html",
            "--markdown",
            "--format",
            "--output-format",
            "-f",
        ],
        MEASURE,
        "`proofmark report RUN --format FORMAT` afterwards",
    ),
    habit(
        &["-f", "-F", "--json", "--csv", "--html", "--markdown", "--md", "--output-format"],
        PRINT,
        "--format FORMAT",
    ),
    habit(
        &["--iodepth", "--depth", "--queue-depth", "-Q"],
        &["run"],
        "--set disk.rand_read.queue_depth=N",
    ),
    habit(&["--iodepth", "--depth", "--queue-depth", "-Q"], &["endure"], "--set queue_depth=N"),
    habit(&["--bs", "--blocksize", "-b", "--block"], &["run", "endure"], "--block-size SIZE"),
    habit(
        &["--size", "--filesize", "--file-size"],
        &["run"],
        "--set disk.rand_read.file_size=SIZE",
    ),
    habit(&["--size", "--filesize", "--file-size"], &["endure"], "--set file_size=SIZE"),
    habit(
        &["--filename", "--directory", "--dir", "--path", "--device", "--disk", "-d"],
        &["run"],
        "--disk-path DIR",
    ),
    habit(
        &["--filename", "--directory", "--dir", "--path", "--device", "--disk"],
        &["endure", "info"],
        "--disk-path DIR",
    ),
    habit(
        &["--rw", "--readwrite", "--workload", "--test", "--benchmark", "--only"],
        &["run"],
        "workloads by name: `proofmark run disk.rand_read`",
    ),
    habit(
        &["--ioengine", "--direct", "--isa"],
        &["run"],
        "--set WORKLOAD.PARAMETER=VALUE; `proofmark explain WORKLOAD` lists the parameters",
    ),
    habit(
        &[
            "-n",
            "-r",
            "--runs",
            "--iterations",
            "--repetitions",
            "--loops",
            "--count",
            "--min-runs",
            "--max-runs",
            "--rounds",
        ],
        &["run"],
        "--trials N",
    ),
    habit(
        &["--warmup", "-w", "--ramp_time", "--warm-up"],
        MEASURE,
        "nothing: each workload warms up before its trials",
    ),
    habit(&["-q", "--quiet", "--silent", "-s"], MEASURE, "--progress none"),
    habit(
        &["-v", "--verbose", "-vv", "--debug"],
        MEASURE,
        "`proofmark report RUN --all`, which has every result",
    ),
    habit(&["--fast", "--short", "--smoke"], &["run"], "--quick"),
    habit(
        &["-l", "--list", "--plan", "--what-if", "--simulate"],
        &["run"],
        "--dry-run, or `proofmark list workloads`",
    ),
    habit(&["-y", "--yes", "--force", "--batch"], MEASURE, "nothing: no question is asked"),
    habit(&["--name", "--tag", "--title", "-N", "--id"], RESULTS, "--label TEXT"),
    habit(&["--config", "--job", "--jobfile", "--suite"], &["run"], "--profile FILE"),
    habit(&["--all"], &["run"], "no name: every workload of the profile is measured"),
    habit(&["--baseline", "--base", "--with"], &["check"], "--against RUN"),
    habit(&["--baseline", "--base", "--against"], &["compare"], "the baseline as the first RUN"),
    habit(
        &["--threshold", "--tolerance", "-t"],
        &["compare", "check"],
        "--margin SHARE, such as --margin 3%",
    ),
    habit(
        &["--hosts", "--hostfile", "-w", "-H", "--inventory", "--hosts-file"],
        &["fleet run"],
        "--ssh HOSTS",
    ),
    habit(
        &["--no-color", "--no-colour", "--color", "--colour"],
        &["run", "endure", "noise", "report", "compare", "check"],
        "the variable NO_COLOR=1",
    ),
    habit(
        &["--ascii"],
        &["run", "endure", "noise", "report", "compare", "check"],
        "the variable LC_ALL=C",
    ),
    habit(
        &["--width"],
        &["run", "endure", "noise", "report", "compare", "check", "history"],
        "the variable COLUMNS=N, where the output is no terminal",
    ),
];
