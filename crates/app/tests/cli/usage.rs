//! Wrong arguments end with exit status 2 and one clear line, and write nothing.

use std::process::Command;

use super::{Ended, Folder, is_checked_in, rows};

#[test]
fn wrong_arguments_are_refused_in_one_line() {
    let dir = Folder::new();
    for (arguments, word) in [
        // The message has the nearest known name.
        (&["run", "cpu.flop"][..], "did you mean 'cpu.flops'?"),
        (&["run", "cpi"], "did you mean 'cpu'?"),
        (&["run", "--profile", "quik"], "did you mean 'quick'?"),
        (
            &["run", "--set", "cpu.flops.isaa=avx2"],
            "cpu.flops has no parameter 'isaa'; did you mean 'isa'?",
        ),
        (&["run", "--set", "cpu.flops.xyzzyxyzzy=1"], "see 'proofmark explain cpu.flops'"),
        (&["run", "--set", "cpu.flops.isa=avx9"], "not one of scalar"),
        (&["explain", "cpu.peek"], "did you mean 'cpu.peak'?"),
        (&["run", "--reference", "fioo"], "did you mean 'fio'?"),
        (&["run", "--reference", "xyzzyxyzzy"], "proofmark list references"),
        // Numbers.
        (&["run", "--threads", "0"], "out of range"),
        (&["run", "--threads", "1,x"], "'x' is not a whole number"),
        (&["run", "--threads", "99999999999999999999"], "not a whole number"),
        (&["run", "--block-size", "99999999999TB"], "too large"),
        (&["run", "memory.rand_read", "--block-size", "8KB,9Q"], ".block_size: '9Q' is"),
        (&["endure", "memory.rand_read", "--block-size", "9Q"], ".block_size: '9Q' is"),
        (&["run", "memory.rand_read", "--block-size", "2GB"], "it goes from 1 B to 1 GiB"),
        (&["run", "--budget", "5"], "not a duration"),
        (&["run", "--trials", "0"], "1 to 1000"),
        (&["run", "--set", "cpu.mix.int.iterations=1.5"], "not a whole number"),
        (&["run", "--limit", "disk.reed=1MB/s"], "did you mean 'disk.read'?"),
        (&["run", "--limit", "disk.read=fast"], "MB/s"),
        // Options that would change nothing.
        (
            &["run", "cpu", "--block-size", "8", "--dry-run"],
            "--block-size: no workload of this run",
        ),
        (&["run", "memory.latency", "--threads", "2"], "--threads: memory.latency has no such"),
        (&["endure", "memory.latency", "--threads", "2"], "--threads: memory.latency has no such"),
        (&["run", "cpu", "--set", "disk.mixed.threads=1", "--dry-run"], "measures no disk.mixed"),
        // Options.
        (&["run", "--thread", "1"], "--threads"),
        (&["run", "--quick", "--profile", "default"], "cannot be used with"),
        (&["run", "--dry-run", "--json", "-"], "cannot be used with"),
        (&["rum"], "run"),
        (&["list", "workload"], "workloads"),
        (&["check", "run"], "check needs --against RUN or --require REQUIREMENT; see"),
        (&["compare"], "compare needs <RUN>...; see `proofmark compare --help`\n"),
        (&["compare", "a"], "name two runs, or the runs of each side: A1 A2 -- B1 B2"),
        (&["report", "a", "b"], "no further argument 'b'; see `proofmark report --help`"),
        (&["history", "--last", "x"], "'x' for '--last <N>': write a whole number from 1 on"),
        (&["history", "--last", "0"], "write a whole number from 1 on"),
        (
            &["run", "cpu,memory"],
            "'cpu,memory' is several names in one; write them apart: cpu memory",
        ),
        (&["endure", "cpu.clock", "--for", "5s"], "--for 5.0 s --every 1.0 s: a series takes at"),
        (&["completions", "powershell"], "for '<SHELL>'; write bash, zsh or fish\n"),
        // Addresses.
        (&["run", "network", "--peer", "host:0"], "a port is a number from 1 to 65535"),
        (&["run", "network", "--peer", ":5277"], "the host is missing"),
        (&["run", "cpu", "--peer", "127.0.0.1"], "this run measures no network workload"),
        (&["run", "cpu", "--disk-path", "."], "--disk-path: this run measures no disk workload"),
        (&["endure", "cpu.clock", "--disk-path", "."], "this run measures no disk workload"),
        (&["serve", "--bind", "node2"], "write an IP address of this machine"),
        (&["serve", "--max-time", "1"], "not a duration"),
        // Run files.
        (&["report", "/nonexistent/run.json"], "No such file"),
        (
            &["report", "nosuch"],
            "no run 'nosuch': No such file or directory (os error 2); name a run",
        ),
        (&["report", "."], "the directory '.' has no run.json; name a run file, its directory"),
        (&["compare", ".", "."], "the directory '.' has no run.json"),
        (&["check", ".", "--against", "x"], "the directory '.' has no run.json"),
        (&["history", "--history", "h.db", "--add", "nosuch"], "no run 'nosuch'"),
        (&["import", "."], "'.': Is a directory (os error 21); name a file in it"),
        (&["import", "nosuch"], "'nosuch': No such file or directory (os error 2); check the name"),
        (&["run", "--profile", ".", "--dry-run"], "profile .: it is a directory; name a TOML file"),
        (&["fleet", "report", "nosuch"], "'nosuch' has no fleet.jsonl: No such file"),
        (&["history", "--history", "."], "is not a proofmark history"),
    ] {
        dir.refuses(arguments, word);
    }
}

#[test]
fn run_files_that_are_none() {
    let dir = Folder::new();
    for (text, word) in [
        (r#"{"schema": "proofmark.run/0"}"#, "proofmark.run/0"),
        (r#"{"a": 1}"#, "schema is missing"),
        (r#"{"schema": "proofmark.run/2", "tool""#, "line 1"),
        ("", "run.json: the file is empty; name a run file, its directory, or its number in"),
    ] {
        dir.file("run.json", text);
        dir.refuses(&["report", "run.json"], word);
    }
    dir.file("empty.txt", "\n");
    dir.refuses(
        &["import", "empty.txt"],
        "empty.txt: the file is empty; import what the tool printed",
    );
    dir.file("run.json", serde_json::to_vec(&proofmark_model::testing::run(vec![])).unwrap());
    let check = ["check", "run.json", "--against", "last-god"];
    dir.refuses(&check, "--against: no run 'last-god'; did you mean 'last-good'?");
    let check = ["check", "run.json", "--require-file", "empty.txt"];
    dir.refuses(&check, "empty.txt: missing field `require`; write require = [");
}

/// Returns a command's help for a terminal of 80 columns.
fn help(command: &[&str], option: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_proofmark"));
    let ended = program.args(command).arg(option).env("COLUMNS", "80").output().unwrap();
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn help_fits_on_a_small_screen() {
    let main = help(&[], "--help");
    assert_eq!(main, help(&[], "-h"));
    let after = main.split("Commands:\n").nth(1).unwrap();
    let commands = after.lines().map_while(|line| line.split_whitespace().next());
    let mut all: Vec<Vec<&str>> = commands.map(|command| vec![command]).collect();
    assert!(all.len() > 10, "{main}");
    all.extend([vec![], vec!["fleet", "run"], vec!["fleet", "report"]]);
    for command in all {
        let text = help(&command, "-h");
        let wide = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(text.lines().count() <= 24 && wide <= 80, "{command:?}: {text}");
        let long = help(&command, "--help");
        assert!(long.contains("Usage: proofmark"), "{long}");
    }
}

#[test]
fn every_exit_status_is_explained() {
    let dir = Folder::new();
    let text = dir.prints(&["explain", "exit_status"]);
    for code in ["0", "1", "2", "3", "4", "5", "128 + n"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{code} "))), "{code}: {text}");
    }
}

#[test]
fn lists_and_explanations_cover_each_other() {
    let dir = Folder::new();
    let topics = dir.prints(&["list"]);
    for topic in topics.lines() {
        let list = topic.strip_prefix("proofmark list ").unwrap().split(' ').next().unwrap();
        let text = dir.prints(&["list", list]);
        assert!(rows(&text).count() >= 3, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        for line in rows(&text) {
            dir.prints(&["explain", line.split("  ").next().unwrap()]);
        }
    }
    assert!(topics.lines().count() >= 10, "{topics}");
    for word in ["valid", "suspect", "invalid", "attainable", "typical", "delivered", "bottleneck"]
    {
        assert!(dir.prints(&["explain", word]).contains(word), "{word}");
    }
    let formats = dir.prints(&["list", "formats"]);
    for format in ["jsonl", "openmetrics", "junit"] {
        assert!(formats.lines().any(|l| l.starts_with(format)), "{formats}");
    }
}

#[test]
fn what_an_id_means_is_all_of_it() {
    let dir = Folder::new();
    for (id, line) in [
        ("stream", "  Triad: memory.triad\n"),
        ("likwid-bench", "  load: memory.sweep with op=read\n"),
    ] {
        let text = dir.prints(&["explain", id]);
        assert!(text.contains(line), "{text}");
    }
    // A check and a rule of the audit have this id; only the check has a class.
    let text = dir.prints(&["explain", "page_cache"]);
    let [check, rule] = &text.split("page_cache: ").skip(1).collect::<Vec<_>>()[..] else {
        panic!("{text}")
    };
    assert!(check.contains("\nClass: ") && !rule.contains("\nClass: "), "{text}");
}

#[test]
fn a_dry_run_prints_the_points_and_writes_nothing() {
    let dir = Folder::new();
    let points = ["run", "cpu.flops", "--threads", "1,3", "--set", "cpu.flops.isa=scalar"];
    let more = ["--set", "cpu.flops.type=f64", "--dry-run"];
    let text = dir.run(&[&points[..], &more].concat()).with(0).stdout;
    for (threads, names) in
        [(1, &["FP peak, 1 CPU"][..]), (3, &["FP peak, 3 CPUs", "FP peak, 3 threads"])]
    {
        let point = format!("cpu.flops isa=scalar threads={threads} type=f64  # ");
        let name = text.lines().find_map(|line| line.strip_prefix(&point)).unwrap();
        assert!(names.contains(&name), "the name of its result: {text}");
    }
    assert_eq!(dir.count(), 0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$0\" schema | head -c 10; \"$0\" list checks | true"]);
    Ended::run(shell.arg(env!("CARGO_BIN_EXE_proofmark"))).with(0).quiet();
}

#[test]
fn the_checked_in_schemas_are_the_program_s() {
    let dir = Folder::new();
    assert_eq!(dir.prints(&["schema"]), dir.prints(&["schema", "run"]));
    for (object, file) in [
        ("run", "proofmark.run-2.json"),
        ("history", "proofmark.history-2.json"),
        ("comparison", "proofmark.comparison-3.json"),
        ("fleet-report", "proofmark.fleet-report-1.json"),
    ] {
        is_checked_in(&dir.prints(&["schema", object]), file);
    }
}
