//! The fuzz targets for a few seconds each, on the stable compiler: `scripts/test fuzz`. A failure
//! names its seed; `FUZZ_SEED=N cargo test --package proofmark --test fuzz TARGET` makes that input
//! again.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on fails.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mutate::mutated;
use proofmark_peer::wire::{ToServer, encode};

#[path = "../../../../fuzz/functions.rs"]
mod functions;
mod mutate;

/// Time per target.
const BUDGET: Duration = Duration::from_secs(5);

/// Calls a target with mutations of the corpus until its time is over, or with the one of
/// `FUZZ_SEED`.
fn fuzz(name: &str, target: fn(&[u8]), corpus: &[Vec<u8>]) {
    corpus.iter().for_each(|input| target(input));
    if let Ok(seed) = std::env::var("FUZZ_SEED") {
        return target(&mutated(corpus, seed.parse().unwrap()));
    }
    let (started, first) = (Instant::now(), RandomState::new().hash_one(name));
    let mut inputs = 0;
    while started.elapsed() < BUDGET {
        let seed = first.wrapping_add(inputs);
        let input = mutated(corpus, seed);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&input))) {
            eprintln!("{name}: FUZZ_SEED={seed} makes this input again");
            resume_unwind(panic);
        }
        inputs += 1;
    }
    println!("{name}: {inputs} inputs from FUZZ_SEED={first}");
}

/// Lists the files in directories called `captured` below a crate.
fn captured(package: &str) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    let mut folders: Vec<PathBuf> =
        vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if folder.ends_with("captured") => inputs.push(fs::read(path).unwrap()),
                false => {}
            }
        }
    }
    inputs.sort();
    assert!(!inputs.is_empty(), "nothing is captured in {package}");
    inputs
}

#[test]
fn handshake() {
    // The first byte of a control connection and a frame of a handshake's length, those of a data
    // connection and a token, and another protocol.
    let control = [&[1, 0, 48][..], &[7; 48]].concat();
    let data = [&[2][..], &[7; 16]].concat();
    fuzz("handshake", functions::handshake, &[control, data, b"GET / HTTP/1.1\r\n\r\n".to_vec()]);
}

#[test]
fn message() {
    let hello = br#"{"message":"hello","version":"1","run":"r","asked":{"seconds":60,"bytes":9}}"#;
    let opened = br#"{"message":"opened","streams":[]}"#;
    let job = serde_json::json!({ "tcp": { "streams": 2, "block": 65536 }, "seconds": 0.5 });
    let ours = [ToServer::Ping, ToServer::Counters, ToServer::Open { job }];
    let mut corpus: Vec<_> = ours.iter().map(|message| encode(message).unwrap()).collect();
    corpus.extend([hello.to_vec(), opened.to_vec(), [&[0, 5][..], b"frame"].concat()]);
    fuzz("message", functions::message, &corpus);
}

#[test]
fn node() {
    fuzz("node", functions::node, &captured("fleet/tests"));
}

#[test]
fn output() {
    fuzz("output", functions::output, &captured("reference/src"));
}

#[test]
fn the_same_seed_makes_the_same_input() {
    let corpus = captured("fleet/tests");
    let all = [1, 2, u64::MAX].map(|seed| mutated(&corpus, seed));
    assert_eq!(all, [1, 2, u64::MAX].map(|seed| mutated(&corpus, seed)));
    assert!(all[0] != all[1] && all[1] != all[2]);
}
