//! Damaged answers of nodes: each is refused with a reason, or judged and rendered.
//! `PROPTEST_CASES=1000000 cargo test --release --package proofmark-fleet --test damaged --
//! --nocapture` prints how many.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod heard;

use std::cell::Cell;
use std::ops::Range;
use std::time::{Duration, Instant};

use proofmark_fleet::{Answer, read_answer};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use heard::{CAPTURED, hear, judge_and_draw};

/// Values that often break parsers: for a number, for a text, and for either.
const NUMBERS: [&str; 14] = [
    "null",
    "0",
    "-0.0",
    "-1",
    "1e-320",
    "1e-60",
    "1.5",
    "1e15",
    "1e60",
    "1e308",
    "1e999",
    "4294967295",
    "9007199254740993",
    "18446744073709551616",
];
const TEXTS: [&str; 10] = [
    "\"\"",
    "\"n2\"",
    "\"again\"",
    "\"lower\"",
    "\"typical\"",
    "\"invalid\"",
    "\"B/s\"",
    "\"9999-12-31T23:59:60Z\"",
    "\"\\u0000\\u001b[31m\\u202e\\n\"",
    "\"<script>{{ x }}]]>&amp;\"",
];
const OTHERS: [&str; 5] = ["true", "null", "[]", "{}", "[[[[[[[[]]]]]]]]"];

/// Returns the captured answers, one text each.
fn answers() -> Vec<String> {
    let mut texts = vec![String::new()];
    for line in std::str::from_utf8(CAPTURED).unwrap().lines() {
        texts.last_mut().unwrap().push_str(&line[1..]);
        if line.starts_with('.') {
            texts.push(String::new());
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}

/// Finds the numbers, strings and words of a JSON text.
fn values(text: &[u8]) -> Vec<Range<usize>> {
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(first) = text.get(at) {
        let rest = &text[at + 1..];
        let long = match first {
            b'"' => 2 + rest.iter().position(|b| *b == b'"').unwrap_or(rest.len()),
            b if b.is_ascii_alphanumeric() || *b == b'-' => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b':');
                1 + rest.iter().position(ends).unwrap_or(rest.len())
            }
            _ => 1,
        };
        let end = (at + long).min(text.len());
        // Leave out keys, which a colon follows.
        if long > 1 && text.get(end) != Some(&b':') {
            all.push(at..end);
        }
        at = end;
    }
    all
}

/// Mutation of an answer.
#[derive(Debug, Clone)]
enum Change {
    /// Replaces a value by another of the same type.
    Value(Index, Index),
    /// Replaces a value by one of another type.
    Other(Index, &'static str),
    /// Replaces a digit: another number of the same size.
    Digit(Index, u8),
    /// Replaces a value by one from another place.
    Moved(Index, Index),
    /// Repeats objects of a list, up to very often.
    Again(Index, usize, usize),
    /// Removes bytes or replaces them by others.
    Bytes(Index, usize, Vec<u8>),
    /// Cuts off the end.
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        12 => (index(), index()).prop_map(|(at, new)| Change::Value(at, new)),
        1 => (index(), select(&OTHERS[..])).prop_map(|(at, new)| Change::Other(at, new)),
        6 => (index(), b'0'..=b'9').prop_map(|(at, digit)| Change::Digit(at, digit)),
        2 => (index(), index()).prop_map(|(from, to)| Change::Moved(from, to)),
        2 => (index(), 1..4_usize, select(&[1_usize, 2, 70, 1100][..]))
            .prop_map(|(at, long, times)| Change::Again(at, long, times)),
        2 => (index(), 0..64_usize, prop::collection::vec(any::<u8>(), 0..8))
            .prop_map(|(at, long, new)| Change::Bytes(at, long, new)),
        1 => index().prop_map(Change::Cut),
    ]
}

fn changed(mut text: Vec<u8>, change: &Change) -> Vec<u8> {
    let all = values(&text);
    match change {
        Change::Value(at, new) if !all.is_empty() => {
            let place = at.get(&all).clone();
            let list = if text[place.start] == b'"' { &TEXTS[..] } else { &NUMBERS[..] };
            text.splice(place, new.get(list).bytes());
        }
        Change::Other(at, new) if !all.is_empty() => {
            text.splice(at.get(&all).clone(), new.bytes());
        }
        Change::Digit(at, digit) => {
            let digits: Vec<usize> =
                (0..text.len()).filter(|n| text[*n].is_ascii_digit()).collect();
            if !digits.is_empty() {
                text[*at.get(&digits)] = *digit;
            }
        }
        Change::Moved(from, to) if !all.is_empty() => {
            let value = text[from.get(&all).clone()].to_vec();
            text.splice(to.get(&all).clone(), value);
        }
        Change::Again(at, long, times) => {
            // Whole objects of a list, with their separators.
            let ends: Vec<usize> = text
                .windows(2)
                .enumerate()
                .filter(|(_, w)| *w == b"},")
                .map(|(n, _)| n + 2)
                .collect();
            if ends.len() > *long {
                let first = at.index(ends.len() - long);
                let piece = text[ends[first]..ends[first + long]].repeat(*times);
                text.splice(ends[first]..ends[first], piece);
            }
        }
        Change::Bytes(at, long, new) => {
            let at = at.index(text.len() + 1);
            text.splice(at..(at + long).min(text.len()), new.iter().copied());
        }
        Change::Cut(at) => text.truncate(at.index(text.len() + 1)),
        Change::Value(..) | Change::Other(..) | Change::Moved(..) => {}
    }
    text
}

/// Counts of outcomes, and the longest time.
#[derive(Default)]
struct Counts {
    refused: Cell<u64>,
    accepted: Cell<u64>,
    rounds: Cell<u64>,
    longest: Cell<Duration>,
}

impl Counts {
    fn add(cell: &Cell<u64>) {
        cell.set(cell.get() + 1);
    }

    fn draw(&self, answer: &Answer) {
        let begun = Instant::now();
        judge_and_draw(answer);
        Self::add(&self.accepted);
        if matches!(answer, Answer::Round(_)) {
            Self::add(&self.rounds);
        }
        self.longest.set(self.longest.get().max(begun.elapsed()));
    }

    fn print(&self, what: &str) {
        let Self { refused, accepted, rounds, longest } = self;
        let all = refused.get() + accepted.get();
        println!(
            "{all} {what}: {} refused; {} judged and drawn, {} of them rounds, each within {:.0} ms",
            refused.get(),
            accepted.get(),
            rounds.get(),
            1e3 * longest.get().as_secs_f64()
        );
    }
}

#[test]
fn what_was_captured_is_judged_and_drawn() {
    let heard = hear(CAPTURED);
    assert_eq!((heard.answers.len(), heard.refused), (3, None));
    heard.answers.iter().for_each(judge_and_draw);
    assert!(answers().iter().all(|text| read_answer(text.as_bytes()).is_ok()));
}

#[test]
fn damaged_answers_are_refused_or_judged_and_drawn() {
    let counts = Counts::default();
    let texts = answers();
    // Most answers are rounds.
    let text = prop_oneof![1 => Just(&texts[0]), 20 => Just(&texts[1]), 1 => Just(&texts[2])];
    proptest!(|(text in text, changes in prop::collection::vec(change(), 1..5))| {
        let bytes = changes.iter().fold(text.clone().into_bytes(), changed);
        match read_answer(&bytes) {
            Ok(answer) => counts.draw(&answer),
            Err(_) => Counts::add(&counts.refused),
        }
    });
    counts.print("damaged answers");
}

#[test]
fn damaged_lines_are_refused_or_judged_and_drawn() {
    let (counts, captured) = (Counts::default(), hear(CAPTURED).answers);
    proptest!(|(changes in prop::collection::vec(change(), 1..5))| {
        let heard = hear(&changes.iter().fold(CAPTURED.to_vec(), changed));
        heard.answers.iter().filter(|a| !captured.contains(a)).for_each(|a| counts.draw(a));
        if heard.refused.is_some() {
            Counts::add(&counts.refused);
        }
    });
    counts.print("changed answers in damaged lines");
}
