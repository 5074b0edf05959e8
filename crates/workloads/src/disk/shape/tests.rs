use Operation::{Commit, Copy, Mixed, Read, Write};
use proofmark_model::testing::{block_device, storage};
use proofmark_model::{BlockDevice, Probe, key};

use super::*;
use crate::params::testing::params;

const MIB: u64 = 1 << 20;

/// Returns a host whose disk has sectors of this many bytes, and which allows io_uring or not.
fn host(sector: Option<u64>, io_uring: Option<bool>) -> Host {
    let mut host = Host::unknown("not known in this test");
    if let Some(bytes) = sector {
        let device =
            BlockDevice { logical_sector_bytes: Some(bytes), ..block_device("sda", "8:0") };
        host.storage = Probe::known(storage(vec![device]), "test");
    }
    if let Some(allowed) = io_uring {
        host.limits.io_uring = Probe::known(allowed, "test");
    }
    host
}

const OPEN: &str =
    "engine=auto direct=auto cache=auto file_size=auto amount=auto flush=end threads=1";

fn words(params: &Params, names: &[&str]) -> String {
    names.iter().map(|k| params.named(k).unwrap().to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn auto_values_are_resolved() {
    let here = host(Some(512), Some(true));
    let set = ["engine", "queue_depth", "direct", "cache"];
    let both = &["psync 1 off cold", "psync 1 off warm"][..];
    for (asked, host, expected) in [
        ("block_size=4096 queue_depth=1", &here, &["psync 1 on none"][..]),
        ("block_size=4096 queue_depth=8", &here, &["io_uring 8 on none"]),
        ("block_size=4096 queue_depth=8", &host(None, None), &["io_uring 8 on none"]),
        ("block_size=4096 queue_depth=8", &host(None, Some(false)), &["psync 1 on none"]),
        ("block_size=8 queue_depth=1", &here, both),
        ("block_size=1024 queue_depth=1", &here, &["psync 1 on none"]),
        ("block_size=1024 queue_depth=1", &host(Some(4096), None), both),
        ("block_size=1024 queue_depth=1", &host(None, None), both),
        ("block_size=4096 queue_depth=1 cache=warm", &here, &["psync 1 off warm"]),
        ("block_size=4096 queue_depth=1 direct=off", &here, both),
        // Requested values stay, even if they are impossible.
        ("block_size=4096 queue_depth=8 engine=psync", &here, &["psync 8 on none"]),
        ("block_size=8 queue_depth=1 direct=on", &here, &["psync 1 on none"]),
        ("block_size=4096 queue_depth=1 direct=off cache=none", &here, &["psync 1 off none"]),
    ] {
        let points = resolve_auto(Read, params(&format!("{OPEN} {asked}")), host);
        let points: Vec<_> = points.iter().map(|p| words(p, &set)).collect();
        assert_eq!(points, expected, "{asked}");
    }
}

#[test]
fn a_file_left_to_the_machine_is_large_enough() {
    for (operation, asked, mib) in [
        (Read, "block_size=8192", 1024),
        (Read, "block_size=83886080 threads=8", 1024),
        (Copy, "block_size=83886080 threads=8", 1280),
        (Write, "block_size=83886081 threads=16", 1281),
    ] {
        let asked = params(&format!("{OPEN} queue_depth=1 {asked}"));
        let resolved = resolve_auto(operation, asked.clone(), &host(None, None)).remove(0);
        assert_eq!(resolved.get(key::FILE_SIZE), Some(mib * MIB), "{asked:?}");
        Shape::from_params(operation, &resolved).unwrap();
    }
    let fsync = |words| {
        resolve_auto(Commit, params(words), &host(None, None)).remove(0).get(key::FILE_SIZE)
    };
    assert_eq!(fsync("file_size=auto block_size=4096"), Some(64 * MIB));
    assert_eq!(fsync("file_size=auto block_size=83886080"), Some(80 * MIB));
    assert_eq!(fsync("file_size=5 block_size=4096"), Some(5));
}

const RESOLVED: &str = "threads=2 block_size=4096 queue_depth=4 file_size=1048576 engine=io_uring \
                       direct=on cache=none flush=end amount=auto reads=70";

#[test]
fn contradictions_are_refused_in_one_line() {
    for (operation, change, expected) in [
        (
            Read,
            "block_size=8",
            "direct I/O needs multiples of a sector of at least 512 B, but block_size is 8 B",
        ),
        (Read, "block_size=1000", "direct I/O needs multiples of a sector"),
        (Read, "engine=psync", "psync has 1 I/O in flight per thread, but queue_depth is 4"),
        (Read, "cache=warm", "direct=on needs cache=none"),
        (Read, "cache=cold", "direct=on needs cache=none"),
        (Read, "direct=off", "direct=off needs cache=cold or cache=warm"),
        (
            Read,
            "amount=8191",
            "one block of 4 KiB for each of 2 threads is 8 KiB, but amount is 8\u{202f}191 B",
        ),
        (Read, "file_size=8191", "block_size 4 KiB with threads=2 needs a file of 8 KiB"),
        (Copy, "file_size=16383", "block_size 4 KiB with threads=2 needs a file of 16 KiB"),
        (Write, "flush=auto", "flush has no value 'auto'"),
        (Read, "engine=aio", "engine has no value 'aio'"),
        (Mixed, "reads=auto", "reads is not set"),
        (Read, "file_size=auto", "file_size is not set"),
    ] {
        let Err(Refusal(reason)) =
            Shape::from_params(operation, &params(&format!("{RESOLVED} {change}")))
        else {
            panic!("{change} is not refused");
        };
        assert!(reason.starts_with(expected) || reason.contains(expected), "{change}: {reason}");
        assert!(!reason.contains('\n') && !reason.contains("  "), "{reason}");
    }
}

#[test]
fn valid_parameters_are_parsed() {
    let shape = Shape::from_params(Mixed, &params(RESOLVED)).unwrap();
    let sizes = Shape { threads: 2, queue_depth: 4, reads: 70, file_size: MIB, ..testing::SHAPE };
    assert_eq!(shape, Shape { engine: Kind::Uring, flush: true, ..sizes });
    assert_eq!((shape.iterations(), shape.fixed_s()), (None, None));
    let back = readback::BYTES as u64;
    assert_eq!(shape.memory_bytes(), 2 * (4 * 4096 + back));
    let parse =
        |words: &str| Shape::from_params(Copy, &params(&format!("{RESOLVED} {words}"))).unwrap();
    let buffered = parse("direct=off cache=cold block_size=5 amount=11 flush=none");
    assert_eq!((buffered.iterations(), buffered.reads, buffered.flush), (Some(2), 50, false));
    assert_eq!(buffered.memory_bytes(), 2 * (4 * 4096 + back), "a buffer is a page at least");
    assert_eq!(parse("amount=400000000").fixed_s(), Some(2.0));
    assert!(
        !Shape::from_params(Read, &params(RESOLVED)).unwrap().flush,
        "what only reads flushes nothing"
    );
    parse("file_size=16384");
}

#[test]
fn each_thread_of_fsync_has_its_own_file() {
    const COMMITS: &str = "threads=1 block_size=4096 file_size=4096 amount=auto mode=append \
                           method=fdatasync";
    let parse = |words: &str| Shape::from_params(Commit, &params(&format!("{COMMITS} {words}")));
    let shape = parse("threads=8").unwrap();
    assert!(shape.flush && shape.engine == Kind::Psync && shape.queue_depth == 1);
    assert_eq!((shape.mode, shape.method), (Mode::Append, Method::Fdatasync));
    let other = parse("mode=overwrite method=o_dsync").unwrap();
    assert_eq!((other.mode, other.method), (Mode::Overwrite, Method::ODsync));
    let refused = |words: &str| parse(words).unwrap_err().0;
    assert!(refused("file_size=4095").contains("needs a file of 4 KiB"));
    assert!(refused("threads=2 amount=4096").contains("amount is"));
    assert_eq!(refused("mode=truncate"), "mode has no value 'truncate'");
    assert_eq!(refused("method=fsync"), "method has no value 'fsync'");
}
