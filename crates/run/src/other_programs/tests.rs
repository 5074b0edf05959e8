use proofmark_engine::RawClock;
use proptest::prelude::*;

use super::*;

fn process(id: Id, parent: u32, name: &str, ticks: u64) -> Process {
    let used = Used { ticks, children: 0, bytes: 10 * ticks };
    Process { id, parent, name: name.to_owned(), used }
}

fn others(ticks: &[(Id, u64)]) -> Others<'static> {
    let seen = |(id, ticks): &(Id, u64)| {
        let used = Used { ticks: *ticks, ..Used::default() };
        (*id, Process { used, ..process(*id, 1, "", 0) })
    };
    Others {
        clock: &RawClock,
        began: 0.0,
        scanned: 0.0,
        cpus: [None; 2],
        seen: ticks.iter().map(seen).collect(),
        late: BTreeMap::new(),
        took: BTreeMap::new(),
        own_ticks: 0,
    }
}

/// A process whose threads used `ticks`, and children that ended `children`.
fn with_children(id: u32, parent: u32, name: &str, ticks: u64, children: u64) -> Process {
    let used = Used { ticks, children, bytes: 0 };
    Process { used, ..process((id, 1), parent, name, 0) }
}

fn ticks_of(seen: &Others) -> Vec<(String, u64)> {
    seen.took.iter().map(|(name, took)| (name.clone(), took.ticks)).collect()
}

#[test]
fn what_others_took_since_the_last_look_counts_by_name() {
    let mut seen = others(&[((10, 1), 500), ((11, 1), 70)]);
    let at_first = [
        process((10, 1), 1, "cargo", 600),
        process((11, 1), 1, "cargo", 75),
        // A new process with a reused number.
        process((12, 9), 1, "sh", 3),
        process((50, 1), 1, "proofmark", 9000),
        process((51, 1), 50, "worker", 9000),
        process((52, 1), 51, "fio", 9000),
        process((7, 1), 2, Program::KERNEL_THREADS, 4),
        process((2, 0), 0, Program::KERNEL_THREADS, 1),
    ];
    seen.add(&at_first, 50, u64::MAX);
    seen.add(&[process((10, 2), 1, "sh", 5)], 50, u64::MAX);
    let took = |of: fn(&Inheritance) -> u64| -> Vec<(&str, u64)> {
        seen.took.iter().map(|(name, used)| (name.as_str(), of(used))).collect()
    };
    assert_eq!(took(|u| u.ticks), [("cargo", 105), ("kernel threads", 5), ("sh", 8)]);
    assert_eq!(took(|u| u.bytes), [("cargo", 6750), ("kernel threads", 50), ("sh", 80)]);
}

#[test]
fn bytes_of_a_child_that_ended_are_not_its_parents_again() {
    let with_bytes = |p: Process, bytes| Process { used: Used { bytes, ..p.used }, ..p };
    let shell = |bytes| with_bytes(process((10, 1), 1, "sh", 0), bytes);
    let copy = |bytes| with_bytes(process((11, 1), 10, "dd", 0), bytes);
    let mut seen = others(&[]);
    seen.add(&[shell(100), copy(7000)], 50, u64::MAX);
    // The child wrote 500 more after that scan.
    seen.add(&[shell(7600)], 50, u64::MAX);
    let took = |seen: &Others, name: &str| seen.took[name].bytes;
    assert_eq!((took(&seen, "dd"), took(&seen, "sh")), (7000, 600));
    // The same for a grandparent, if both ended.
    let bash = |bytes| with_bytes(process((9, 1), 1, "bash", 0), bytes);
    let child = |bytes| with_bytes(process((10, 1), 9, "sh", 0), bytes);
    let mut seen = others(&[]);
    seen.add(&[bash(5), child(100), copy(7000)], 50, u64::MAX);
    seen.add(&[bash(7605)], 50, u64::MAX);
    assert_eq!((took(&seen, "dd"), took(&seen, "sh"), took(&seen, "bash")), (7000, 100, 505));
}

#[test]
fn cpu_time_of_children_that_ended_between_scans_is_their_parents() {
    // A loop that the first scan saw ran 40 copies since, 38 ticks each; no scan saw one.
    let mut seen = others(&[]);
    seen.add(&[with_children(10, 1, "loop", 0, 0)], 50, 400);
    seen.add(&[with_children(10, 1, "loop", 4, 1520)], 50, 2000);
    assert_eq!(ticks_of(&seen), [("loop".to_owned(), 1524)]);
}

#[test]
fn cpu_time_that_was_counted_for_a_child_is_not_its_parents_again() {
    let counted = |scans: &[&[Process]]| {
        let mut seen = others(&[]);
        scans.iter().for_each(|all| seen.add(all, 50, u64::MAX));
        ticks_of(&seen).into_iter().map(|(_, ticks)| ticks).sum::<u64>()
    };
    let [init, shell] = [(1, 0, "init"), (10, 1, "sh")];
    let is = |(id, parent, name), children| with_children(id, parent, name, 0, children);
    let make = with_children(11, 10, "make", 30, 900);
    let cc = with_children(12, 11, "cc", 70, 0);
    let start = [is(init, 0), is(shell, 0), make, cc];
    // All are waited for: the shell has the 1000 ticks of make and cc, and 7 more.
    assert_eq!(counted(&[&start, &[is(init, 0), is(shell, 1007)]]), 1007);
    // Make left cc to init, which waits for it.
    assert_eq!(counted(&[&start, &[is(init, 70), is(shell, 930)]]), 1000);
    // The scan read the shell before make ended, and the next scan has the rest.
    let late: [&[Process]; 3] =
        [&start, &[is(init, 0), is(shell, 0)], &[is(init, 0), is(shell, 1007)]];
    assert_eq!(counted(&late), 1007);
    // Children whose parent ignores their end are in no account; later ones count.
    let ignored: [&[Process]; 4] = [
        &start,
        &[is(init, 0), is(shell, 0)],
        &[is(init, 0), is(shell, 0)],
        &[is(init, 0), is(shell, 500)],
    ];
    assert_eq!(counted(&ignored), 1500);
}

#[test]
fn an_inheritance_larger_than_the_time_of_all_cpus_is_of_earlier() {
    // The scan read the child, which had used 9000 ticks, then the parent after its end.
    let mut seen = others(&[((10, 1), 0), ((11, 1), 8990)]);
    let child = with_children(11, 12, "cc", 9000, 0);
    seen.add(&[child, with_children(12, 1, "make", 3, 9000)], 50, 400);
    assert_eq!(ticks_of(&seen), [("cc".to_owned(), 10), ("make".to_owned(), 3)]);
}

/// Stolen time is in the account of a program, and not in that of the CPUs.
#[test]
fn all_programs_used_as_much_as_those_that_were_seen() {
    let mut seen = Others::new(&RawClock);
    seen.took.insert("busy".to_owned(), Inheritance { ticks: 1 << 30, bytes: 0 });
    let (named, all) = seen.finish();
    let of_named: f64 = named.iter().map(|p| p.of_one_cpu).sum();
    assert!(of_named > 0.0 && all.is_none_or(|all| all >= 0.999 * of_named), "{all:?} {of_named}");
}

#[test]
fn short_children_of_a_real_program_are_counted() {
    let mut shell = std::process::Command::new("sh");
    // Each child spins for some hundredths of a second.
    let body = "i=0; while [ $i -lt 40 ]; do sh -c 'n=0; while [ $n -lt 20000 ]; do n=$((n+1)); \
         done'; i=$((i+1)); done; echo done; read line";
    shell.args(["-c", body]).stdin(std::process::Stdio::piped());
    let mut shell = shell.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let number = shell.id();
    let mut seen = Others::new(&RawClock);
    let mut output = shell.stdout.take().unwrap();
    std::io::Read::read_exact(&mut output, &mut [0; 4]).unwrap();
    // No process of this test is its own: the shell is another program.
    let all: Vec<Process> =
        processes().into_iter().filter(|p| [p.id.0, p.parent].contains(&number)).collect();
    seen.add(&all, 0, u64::MAX);
    let used = all.iter().find(|p| p.id.0 == number).map(|p| p.used).unwrap();
    let counted: u64 = ticks_of(&seen).iter().map(|(_, ticks)| ticks).sum();
    assert!(used.children >= 10 && counted >= used.children / 2, "{used:?}, {counted}");
    drop(shell.stdin.take());
    shell.wait().unwrap();
}

#[test]
fn a_stat_file_is_read_whatever_its_name_is() {
    let stat = b"42 (a) R (b c) S 7 42 42 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 1 0 777 1 2 3";
    let parsed = |number, stat: &[u8]| {
        parse(number, stat).map(|p| Process { used: Used { bytes: 0, ..p.used }, ..p })
    };
    let process = |id, parent, name, ticks| {
        let used = Used { ticks, ..Used::default() };
        Some(Process { used, ..process(id, parent, name, ticks) })
    };
    assert_eq!(parsed(42, stat), process((42, 777), 7, "a) R (b c", 300));
    let parent = b"42 (sh) S 7 42 42 0 -1 4194560 9 0 0 0 2 1 90 8 20 0 1 0 777 1 2 3";
    let used = parse(42, parent).map(|p| (p.used.ticks, p.used.children));
    assert_eq!(used, Some((3, 98)));
    let kernel = b"7 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 1 3 0 0 20 0 1 0 9 0 0";
    assert_eq!(parsed(7, kernel), process((7, 9), 2, Program::KERNEL_THREADS, 4));
    assert_eq!(
        moved("rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n"),
        12_288
    );
    assert_eq!(moved(""), 0, "another user's");
    assert_eq!(parse(42, b"42 (short) S 7"), None);
    assert!(processes().iter().any(|p| p.id.0 == std::process::id()));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(1, &bytes);
    }
}
