//! Ends of each kind, and the limits that explain them.

use super::LimitKind::*;
use super::*;

fn kinds(seen: &Seen, before: &SystemState, after: &SystemState) -> Vec<LimitKind> {
    let reached = limit_reached(seen, before, after);
    reached.map_or_else(Vec::new, |r| r.limits.iter().map(|l| l.kind).collect())
}

/// All limits set and none of them reached.
fn limited() -> SystemState {
    SystemState {
        open_files: Some(12),
        file_size: Some(100 << 10),
        stack: Some(64 << 10),
        system_processes: Some(1000),
        system_open_files: Some(5000),
        system_oom_kills: Some(3),
        memory: Some(8 << 30),
        ..SystemState::default()
    }
}

fn cgroup(limit: u64, used: u64, hits: u64) -> CgroupLimit {
    let file = "/cg/limit".to_owned();
    CgroupLimit { limit: Some(limit), used: Some(used), hits: Some(hits), file }
}

#[test]
fn an_error_is_explained_by_the_limit_that_it_means() {
    let state = limited();
    for (words, expected) in [
        ("cannot open x: Too many open files (os error 24)", &[OpenFiles][..]),
        ("called `unwrap()`: Os { code: 24, kind: Uncategorized, message: \"\" }", &[OpenFiles]),
        ("Too many open files in system (os error 23)", &[SystemOpenFiles]),
        ("cannot write y: File too large (os error 27)", &[FileSize]),
        ("cannot start thread 3: try again (os error 11)", &[SystemProcesses]),
        // A read that waited too long.
        ("the server did not answer: try again (os error 11)", &[]),
        ("mmap: Cannot allocate memory (os error 12)", &[SystemMemory]),
        ("memory allocation of 29400003584 bytes failed", &[SystemMemory]),
        ("thread 'main' has overflowed its stack\nfatal runtime error", &[Stack]),
        ("No such file or directory (os error 2)", &[]),
        ("index out of bounds: the len is 11", &[]),
        ("Permission denied (os error 13)", &[]),
        ("", &[]),
    ] {
        let seen = Seen { words, ..Seen::default() };
        assert_eq!(kinds(&seen, &state, &state), expected, "{words}");
    }
    // Without the limit the same words have another cause.
    let none = SystemState::default();
    for words in ["File too large (os error 27)", "has overflowed its stack"] {
        assert_eq!(kinds(&Seen { words, ..Seen::default() }, &none, &none), [], "{words}");
    }
}

#[test]
fn a_thread_that_cannot_start_is_explained_by_the_limit_that_was_reached() {
    let words = "failed to spawn thread: Os { code: 11, kind: WouldBlock, message: \"\" }";
    let seen = Seen { words, ..Seen::default() };
    let with = |pids: CgroupLimit, processes, address_space| SystemState {
        cgroup_processes: pids,
        processes,
        address_space,
        ..limited()
    };
    for (before, after, expected, why) in [
        (
            with(cgroup(9, 5, 0), None, None),
            with(cgroup(9, 5, 1), Some(7), None),
            &[CgroupProcesses][..],
            "the cgroup counted a refusal",
        ),
        (
            with(cgroup(9, 5, 0), None, None),
            with(cgroup(9, 9, 0), Some(7), None),
            &[CgroupProcesses],
            "the cgroup is full",
        ),
        (
            with(cgroup(9, 5, 4), None, None),
            with(cgroup(9, 5, 4), Some(7), None),
            &[Processes],
            "the cgroup refused nothing",
        ),
        (
            limited(),
            with(CgroupLimit::default(), Some(7), Some(1 << 20)),
            &[Processes, AddressSpace],
            "either may be the cause",
        ),
    ] {
        assert_eq!(kinds(&seen, &before, &after), expected, "{why}");
    }
}

#[test]
fn a_kill_is_explained_by_what_the_system_counted_meanwhile() {
    let with = |memory: CgroupLimit, all, cpu_s| SystemState {
        cgroup_memory: memory,
        system_oom_kills: Some(all),
        cpu_s,
        ..limited()
    };
    let unlimited = |hits| CgroupLimit { limit: None, ..cgroup(0, 0, hits) };
    for (signal, before, after, cpu_s, expected) in [
        (
            "SIGKILL",
            with(cgroup(64, 1, 0), 3, None),
            with(cgroup(64, 1, 1), 4, None),
            None,
            &[CgroupMemory][..],
        ),
        (
            "SIGKILL",
            with(unlimited(0), 3, None),
            with(unlimited(1), 4, None),
            None,
            &[SystemMemory],
        ),
        (
            "SIGKILL",
            with(unlimited(0), 3, None),
            with(unlimited(0), 4, None),
            None,
            &[SystemMemory],
        ),
        // A user killed it.
        ("SIGKILL", with(cgroup(64, 1, 1), 3, None), with(cgroup(64, 1, 1), 3, None), None, &[]),
        ("SIGKILL", limited(), with(unlimited(0), 3, Some(5)), Some(5.0), &[CpuTime]),
        ("SIGKILL", limited(), with(unlimited(0), 3, Some(5)), Some(1.0), &[]),
        ("SIGXCPU", limited(), with(unlimited(0), 3, Some(5)), None, &[CpuTime]),
        ("SIGXFSZ", limited(), limited(), None, &[FileSize]),
        ("SIGSEGV", limited(), limited(), None, &[Stack]),
        ("SIGILL", limited(), limited(), None, &[]),
    ] {
        let seen = Seen { signal: Some(signal), words: "", cpu_s };
        assert_eq!(kinds(&seen, &before, &after), expected, "{signal} {cpu_s:?}");
    }
}

#[test]
fn a_missing_file_is_named_where_an_error_names_none() {
    let state = SystemState { missing: vec!["/dev/null".to_owned()], ..limited() };
    for (words, expected) in [
        ("it cannot be started: No such file or directory (os error 2)", &[MissingFile][..]),
        ("cannot open /dev/null: No such file or directory (os error 2)", &[MissingFile]),
        ("a.toml: No such file or directory (os error 2)", &[]),
    ] {
        let seen = Seen { words, ..Seen::default() };
        assert_eq!(kinds(&seen, &state, &state), expected, "{words}");
    }
}

#[test]
fn the_words_name_the_limit_its_value_and_what_to_do() {
    let reached = |kind, value, source: Option<&str>| {
        let source = source.map(str::to_owned);
        LimitReached::one(SystemLimit { kind, value, source })
    };
    for (limit, cause) in [
        (reached(OpenFiles, Some(12), None), "the limit of 12 open files (RLIMIT_NOFILE)"),
        (reached(FileSize, Some(102_400), None), "the limit of 100 KiB per file (RLIMIT_FSIZE)"),
        (
            reached(CgroupProcesses, Some(9), Some("/cg/pids.max")),
            "the cgroup's limit of 9 processes and threads (/cg/pids.max)",
        ),
        (reached(CpuTime, Some(5), None), "the limit of 5 s of CPU time (RLIMIT_CPU)"),
        (reached(MissingFile, None, Some("/dev/null")), "the missing file /dev/null"),
    ] {
        assert_eq!(limit.cause(), cause);
        assert!(!limit.action().is_empty() && !limit.action().contains("defect"));
    }
    let both = LimitReached {
        limits: [reached(Processes, Some(7), None), reached(AddressSpace, Some(1 << 20), None)]
            .into_iter()
            .flat_map(|r| r.limits)
            .collect(),
    };
    let both = both.explain(&both.explain("no thread"));
    assert_eq!(both.matches("caused by").count(), 1, "{both}");
    assert!(both.contains("RLIMIT_NPROC), or the limit of 1 MiB"), "{both}");
}
