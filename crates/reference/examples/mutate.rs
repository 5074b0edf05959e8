//! Spoils captured outputs and has every tool read them: `cargo run --release --package
//! proofmark-reference --example mutate -- 1000000`, so many for each tool. A panic is told with
//! the text that caused it, a figure that is no number too; either ends it with status 1.
//!
//! `fuzz/targets/output.rs` does the same led by coverage, with a nightly compiler.

#![allow(clippy::unwrap_used, reason = "without its seeds it can do nothing")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use proofmark_model::Params;
use proofmark_reference::{ALL, Task, Tool};

/// A generator of numbers: xorshift64*, after Vigna.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// What parsers stumble over.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "18446744073709551616",
    "99999999999999999999",
    "",
    "\n",
    "{",
    "}",
    "[",
    "\"",
    ":",
    ",",
    "\0",
    "\u{202e}",
    "%",
    "1.00 GBytes",
    "0.00 sec",
    "null",
];

/// A text with a few changes.
fn spoilt(text: &str, other: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => drop(bytes.splice(at..end, WORDS[random.below(WORDS.len())].bytes())),
            4 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            5 => {
                let digits: Vec<usize> =
                    (0..bytes.len()).filter(|i| bytes[*i].is_ascii_digit()).collect();
                if let Some(i) = digits.get(random.below(digits.len())) {
                    bytes[*i] = b'0' + random.below(10) as u8;
                }
            }
            _ => {
                let from = random.below(other.len());
                let piece = &other.as_bytes()[from..(from + 200).min(other.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a text; whether it holds figures. All of them must be numbers.
fn read(tool: &dyn Tool, text: &str, params: &Params) -> bool {
    let _ = tool.recognises(text);
    let Ok(output) = tool.parse(text) else { return false };
    for t in output.figures.iter().flat_map(|f| &f.trials) {
        assert!(t.value.is_finite() && t.seconds > 0.0, "{} in {}", t.value, t.seconds);
    }
    for figure in &output.figures {
        let (cpus, file) = (&[0, 1][..], Path::new("/"));
        let (seconds, work) = (0.2, 1e9);
        let (spec, test) = (&*figure.declaration(tool, []), &*figure.test);
        let task = Task { spec, test, params, seconds, work, cpus, file, port: 1 };
        let _ = tool.runner().figure(&task, output.clone());
    }
    true
}

fn main() {
    let most: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seeds: Vec<String> = Vec::new();
    for folder in fs::read_dir(root).unwrap().map(|f| f.unwrap().path()) {
        let Ok(files) = fs::read_dir(folder.join("captured")) else { continue };
        seeds.extend(files.map(|f| fs::read_to_string(f.unwrap().path()).unwrap()));
    }
    let params =
        ["threads", "streams", "block_size", "file_size", "n", "array_size", "queue_depth"]
            .into_iter()
            .fold(Params::default(), |p, name| p.with(name, 1));
    let mut failed = 0;
    for tool in ALL {
        let own: Vec<&String> = seeds.iter().filter(|s| tool.parse(s).is_ok()).collect();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut held = 0_u64;
        for _ in 0..most {
            let seed = own[random.below(own.len())];
            let other = &seeds[random.below(seeds.len())];
            let text = spoilt(seed, other, &mut random);
            match catch_unwind(AssertUnwindSafe(|| read(*tool, &text, &params))) {
                Ok(holds) => held += u64::from(holds),
                Err(_) => {
                    failed += 1;
                    println!("{}: panic at {text:?}", tool.id());
                }
            }
        }
        println!("{}: {most} texts after {} outputs, {held} with figures", tool.id(), own.len());
    }
    println!("{failed} panics");
    std::process::exit(i32::from(failed > 0));
}
