//! Tests of configurations that fit, that are made smaller and that are left out.

use proofmark_model::Subsystem::Memory;
use proofmark_model::{Probe, key};
use proofmark_workloads::find;

use super::*;
use crate::testing::this_machine;

fn gathered(id: &str, free: u64, combinations: &[Params]) -> Planned {
    let mut host = this_machine();
    host.memory.available_bytes = Probe::known(free, "test");
    host.limits.memory_bytes = Probe::known(None, "test");
    let mut gathering = Gathering { host: &host, planned: Planned::default() };
    gathering.keep(find(id).unwrap(), combinations.to_vec(), None);
    gathering.planned
}

fn blocks(size: u64, threads: u64) -> Params {
    let params = Params::default().with(key::THREADS, threads).with(key::BLOCK_SIZE, size);
    params.with(key::DATA_SIZE, 8 * size.max(1 << 30)).with(key::PAGES, "huge")
}

#[test]
fn a_point_shrinks_to_the_memory_and_says_so() {
    let free = 1 << 30;
    let planned = gathered("memory.seq_write", free, &[blocks(8192, 2)]);
    let size = planned.plan.points[0].params.get(key::DATA_SIZE).unwrap();
    assert!(size < free && size > free / 2, "{size}");
    assert!(planned.findings[0].message.contains("8 GiB"), "{:?}", planned.findings);
    let whole = gathered("memory.seq_write", 64 << 30, &[blocks(8192, 2)]);
    assert_eq!(whole.plan.points[0].params.get(key::DATA_SIZE), Some(8 << 30));
    assert!(whole.findings.is_empty(), "{:?}", whole.findings);
}

#[test]
fn every_memory_workload_shrinks_to_what_fits_and_can_run() {
    let (host, sizes) = (this_machine(), ["array_size", "data_size", "working_set"]);
    for workload in proofmark_workloads::ALL.iter().filter(|k| k.spec().subsystem == Memory) {
        let spec = workload.spec();
        let mut params = Params::default();
        for parameter in spec.parameters.iter() {
            params = match (parameter.name.as_ref(), parameter.default.parse::<u64>()) {
                (name, _) if sizes.contains(&name) => params.with_named(name, 4 << 30),
                ("threads", _) => params.with(key::THREADS, 1),
                ("load", _) => params.with_named("load", 0),
                ("block_size", _) => params.with(key::BLOCK_SIZE, 8192),
                (name, Ok(n)) => params.with_named(name, n),
                (name, Err(_)) => params.with_named(name, parameter.default.as_ref()),
            };
        }
        let params = workload.resolve_auto(params, &host).remove(0);
        if workload.configure(&params).is_err() {
            continue; // NUMA workloads, where there is one node.
        }
        let needed = |p: &Params| workload.needs(p).memory_bytes;
        let room = |bytes| {
            let (what, advice) = ("memory", String::new());
            Room { what, bytes, most: bytes, needed: &needed, advice }
        };
        let most = 300 << 20;
        let smaller = shrunk(*workload, &params, &room(most), &host).unwrap();
        let bytes = workload.needs(&smaller).memory_bytes;
        assert!(bytes <= most && bytes > most * 9 / 10, "{} {bytes}", spec.id);
        assert_eq!(shrunk(*workload, &params, &room(1000), &host), None, "{}", spec.id);
    }
}

#[test]
fn a_point_that_no_shrinking_makes_fit_is_left_out() {
    let planned = gathered("memory.seq_write", 512 << 20, &[blocks(80 << 20, 8)]);
    assert!(planned.plan.points.is_empty());
    assert_eq!(planned.left_out.len(), 1);
    assert!(planned.left_out[0].contains("memory needed"), "{:?}", planned.left_out);
}

fn matrix(n: u64, threads: u64) -> Params {
    let params = Params::default().with(key::THREADS, threads).with(key::MATRIX_SIZE, n);
    params.with_auto(key::ISA).with_auto(key::MATRIX_BLOCK)
}

/// The count that a line names as the largest that fits.
fn named(line: &str) -> u64 {
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_matrix_that_does_not_fit_is_refused_with_the_largest_that_does() {
    for id in ["cpu.linpack", "cpu.dgemm"] {
        let free = 24 << 30;
        let planned = gathered(id, free, &[matrix(100_000, 2)]);
        assert!(planned.plan.points.is_empty());
        let [line] = &planned.left_out[..] else { panic!("{:?}", planned.left_out) };
        let begins = format!("{id}: n = 100000 needs ");
        assert!(line.starts_with(&begins) && !line.contains('\n'), "{line}");
        assert!(line.contains(" available: the largest n that fits is "), "{line}");
        let most = named(line);
        assert!(most.is_multiple_of(100) && most > 25_000, "{line}");
        let fits = |n: u64| gathered(id, free, &[matrix(n, 2)]).left_out.is_empty();
        assert!(fits(most) && !fits(most + 100), "{line}");
    }
}

#[test]
fn of_several_those_that_fit_run_and_each_other_has_one_line() {
    let sizes = [1000, 2000, 40_000, 50_000];
    let all: Vec<_> = sizes.iter().flat_map(|n| [matrix(*n, 1), matrix(*n, 2)]).collect();
    let planned = gathered("cpu.linpack", 2 << 30, &all);
    let kept: Vec<_> =
        planned.plan.points.iter().map(|p| p.params.get(key::MATRIX_SIZE).unwrap()).collect();
    assert_eq!(kept, [1000, 1000, 2000, 2000]);
    let [first, second] = &planned.left_out[..] else { panic!("{:?}", planned.left_out) };
    assert!(first.contains("n = 40000") && second.contains("n = 50000"));
    assert_eq!(named(first), named(second));
    assert!(planned.findings.is_empty(), "a count is not shrunk: {:?}", planned.findings);
}

#[test]
fn the_largest_count_is_found_and_rounded_down() {
    for (min, beyond, most, found) in [
        (1, 1_000_000, 53_092, Some(53_000)),
        (1, 1_000_000, 1001, Some(1000)),
        (1, 1_000_000, 1000, Some(1000)),
        (1, 1_000_000, 999, Some(999)),
        (1, 500, 499, Some(499)),
        (1050, 5000, 1060, Some(1050)), // Never below the least.
        (1, 2, 1, Some(1)),
        (1, 500, 0, None),
        (7, 7, 9, None),
    ] {
        assert_eq!(largest(min, beyond, |n| n <= most), found, "{min} to {beyond}: {most}");
    }
}

/// A machine whose cgroup may hold so many bytes, with so much last-level cache.
fn limited(limit: Option<u64>, free: u64) -> Host {
    let mut host = this_machine();
    host.memory.available_bytes = Probe::known(free, "test");
    host.limits.memory_bytes = Probe::known(limit, "/cg/memory.max");
    host.limits.memory_used_bytes = Probe::known(1 << 20, "test");
    let cache = |level, size_bytes| proofmark_model::Cache {
        level,
        kind: proofmark_model::CacheKind::Unified,
        size_bytes,
        line_bytes: None,
        ways: None,
        shared_by: host.limits.usable_cpus.clone(),
        instances: 1,
    };
    host.cpu.caches = Probe::known(vec![cache(2, 1 << 20), cache(3, 32 << 20)], "test");
    host
}

fn planned_on(host: &Host, id: &str, params: Params) -> Planned {
    let mut gathering = Gathering { host, planned: Planned::default() };
    gathering.keep(find(id).unwrap(), vec![params], None);
    gathering.planned
}

/// A workload's parameters as they are declared; `auto` stays so.
fn open(id: &str) -> Params {
    let parameters = find(id).unwrap().spec().parameters.iter();
    parameters.fold(Params::default(), |params, p| match p.default.parse::<u64>() {
        Ok(n) => params.with_named(&p.name, n),
        Err(_) => params.with_named(&p.name, p.default.as_ref()),
    })
}

#[test]
fn memory_that_would_measure_a_cache_is_left_out_with_the_limit_that_forces_it() {
    for id in ["memory.triad", "memory.copy", "memory.rand_read"] {
        let params = open(id);
        let small = planned_on(&limited(Some(85 << 20), 8 << 30), id, params.clone());
        assert!(small.plan.points.is_empty() && small.findings.is_empty(), "{id}");
        let [line] = &small.left_out[..] else { panic!("{id}: {:?}", small.left_out) };
        let says = ["memory limit of 85 MiB", "/cg/memory.max", "no room", "raise the limit"];
        assert!(says.iter().all(|says| line.contains(says)), "{line}");
        let short = planned_on(&limited(None, 85 << 20), id, params.clone());
        let [line] = &short.left_out[..] else { panic!("{id}: {:?}", short.left_out) };
        assert!(line.contains("stop other programs") && !line.contains("limit"), "{line}");
        // Less than usual, and still memory.
        let some = planned_on(&limited(Some(300 << 20), 8 << 30), id, params.clone());
        assert_eq!(some.plan.points.len(), 1, "{id}: {:?}", some.left_out);
        assert!(some.findings[0].advice.starts_with("raise the memory limit"), "{id}");
        assert!(!some.findings[0].advice.contains("smaller sizes"), "nobody chose one");
        let enough = planned_on(&limited(Some(7 << 30), 8 << 30), id, params);
        assert!(enough.findings.is_empty() && enough.left_out.is_empty(), "{id}");
    }
    // What is named by its set may be in a cache.
    let latency =
        planned_on(&limited(Some(85 << 20), 8 << 30), "memory.latency", open("memory.latency"));
    assert_eq!(latency.plan.points.len(), 1, "{:?}", latency.left_out);
}

#[test]
fn a_file_whose_size_was_chosen_here_leaves_room_for_what_others_write_meanwhile() {
    let mut host = limited(None, 8 << 30);
    let Some(mut storage) = host.storage.get().cloned() else {
        return proofmark_testing::skip("this folder's disk is unknown");
    };
    let mib = 1_u64 << 20;
    for (id, threads, asked, free) in [
        ("disk.seq_read", 1, Some(10 << 40), 80 << 30),
        ("disk.seq_write", 2, Some(10 << 40), 80 << 30),
        ("disk.fsync", 1, Some(10 << 40), 80 << 30),
        ("disk.fsync", 4, Some(10 << 40), 80 << 30),
        // As much as was asked for is not there, by a little; and by less than others may write.
        ("disk.seq_read", 1, Some(24 * mib), 48 * mib - 4096),
        ("disk.seq_read", 1, None, 2047 * mib),
        ("disk.seq_read", 1, None, 2049 * mib),
        ("disk.fsync", 4, None, 520 * mib),
    ] {
        (storage.total_bytes, storage.free_bytes) = (1 << 40, free);
        host.storage = Probe::known(storage.clone(), "test");
        let params = open(id).with(key::THREADS, threads);
        let params = match asked {
            Some(size) => params.with(key::FILE_SIZE, size),
            None => params,
        };
        let planned = planned_on(&host, id, params);
        let all = crate::registry::needs(&planned.plan.points[0]).disk_bytes;
        // Others take a tenth. The files of commits come one after the other.
        let mut left = free / 10 * 9;
        for _ in 0..if id == "disk.fsync" { threads } else { 1 } {
            assert!(all <= left / 2, "{id} {threads}: {all} of {left}");
            left -= all / threads;
        }
        assert!(all > free / 4, "{id}: {all}");
        assert!(planned.findings[0].message.contains("instead of"), "{:?}", planned.findings);
    }
    // What a user asked for and what fits is not made smaller.
    (storage.total_bytes, storage.free_bytes) = (1 << 40, 80 << 30);
    host.storage = Probe::known(storage, "test");
    let asked = open("disk.seq_read").with(key::FILE_SIZE, 39_u64 << 30);
    let planned = planned_on(&host, "disk.seq_read", asked);
    assert_eq!(planned.plan.points[0].params.get(key::FILE_SIZE), Some(39 << 30));
}
