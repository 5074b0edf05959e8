//! Compares the arithmetic in the machine code of every hot loop with the workload's declaration.

#![allow(unsafe_code)] // Reads this program's own code.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use iced_x86::{Code, Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction, Mnemonic};

use super::isa::{Element, Isa};
use super::law::Law;
use super::work::{Hot, Variant};
use super::x86_64::{FLOPS, IOPS, MIX_FLOAT, MIX_INT};

/// Decodes a function in assembly from its address to its `ret`.
pub(crate) fn function(mut at: usize) -> Vec<Instruction> {
    let mut all: Vec<Instruction> = Vec::new();
    while all.last().is_none_or(|i| i.flow_control() != FlowControl::Return) {
        // SAFETY: `at` is the start of an instruction of a function that ends with `ret`. The
        // longest instruction has 15 bytes. These stay within the code segment, because other
        // functions follow.
        let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, 15) };
        let instruction = Decoder::with_ip(64, bytes, at as u64, DecoderOptions::NONE).decode();
        assert_ne!(instruction.code(), Code::INVALID, "at {at:#x}");
        at = instruction.next_ip() as usize;
        all.push(instruction);
    }
    all
}

/// Returns the loops without inner loops, each from the target of a backward branch to the branch.
pub(crate) fn inner_loops(code: &[Instruction]) -> Vec<RangeInclusive<usize>> {
    let start =
        |i: &Instruction| code.iter().position(|other| other.ip() == i.near_branch_target());
    let branches = code.iter().enumerate().filter(|(_, i)| i.mnemonic() == Mnemonic::Jne);
    let loops: Vec<_> = branches
        .filter_map(|(end, i)| start(i).filter(|start| *start < end).map(|start| start..=end))
        .collect();
    let holds_one = |range: &RangeInclusive<usize>| {
        loops.iter().any(|o| o != range && range.contains(o.start()) && range.contains(o.end()))
    };
    loops.iter().filter(|range| !holds_one(range)).cloned().collect()
}

/// Returns the instructions of the only loop of a function.
fn only_loop(hot: Hot) -> Vec<Instruction> {
    let all = function(hot as usize);
    let branches = all.iter().filter(|i| i.flow_control() != FlowControl::Next);
    assert_eq!(branches.count(), 2, "a branch and a return");
    let body = inner_loops(&all).remove(0);
    assert_eq!(all[*body.start()].ip() % 64, 0, "the loop starts on a cache line");
    all[body].to_vec()
}

fn census(instructions: &[Instruction]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for instruction in instructions {
        *counts.entry(format!("{:?}", instruction.mnemonic()).to_lowercase()).or_default() += 1;
    }
    counts
}

/// Returns the encoding prefix and the type suffix of an arithmetic mnemonic.
fn names(variant: &Variant) -> (&'static str, &'static str) {
    let vex = if matches!(variant.isa, Isa::Scalar | Isa::Sse2) { "" } else { "v" };
    let suffix = match (variant.isa, variant.element) {
        (Isa::Scalar, Element::F64) => "sd",
        (Isa::Scalar, Element::F32) => "ss",
        (_, Element::F64) => "pd",
        (_, Element::F32) => "ps",
        (_, Element::I64) => "q",
        (_, Element::I32) => "d",
    };
    (vex, suffix)
}

/// Returns the census that the declaration requires.
fn declared(variant: &Variant) -> BTreeMap<String, u64> {
    let (v, suffix) = names(variant);
    let mut want = BTreeMap::from([("dec".to_owned(), 1), ("jne".to_owned(), 1)]);
    let mut put = |name: String, n: u64| want.insert(name, n);
    let general =
        variant.isa == Isa::Scalar && matches!(variant.element, Element::I64 | Element::I32);
    match variant.law {
        Law::Sum { adds, .. } if general => {
            put("add".to_owned(), adds);
        }
        Law::Sum { adds, each: 1, .. } => {
            let p = if matches!(variant.element, Element::I64 | Element::I32) { "p" } else { "" };
            put(format!("{v}{p}add{suffix}"), adds);
        }
        Law::Sum { adds, .. } if matches!(variant.isa, Isa::Avx2Fma | Isa::Avx512) => {
            put(format!("vfmadd231{suffix}"), adds);
        }
        Law::Sum { adds, .. } => {
            put(format!("{v}add{suffix}"), adds);
            put(format!("{v}mul{suffix}"), adds);
        }
        Law::Arithmetic { .. } if general => {
            for (name, n) in
                [("add", 5), ("sub", 4), ("imul", 4), ("idiv", 2), ("cmp", 2), ("cqo", 2)]
            {
                put(name.to_owned(), n);
            }
        }
        Law::Arithmetic { masks } => {
            for (name, n) in [("add", 5), ("sub", 4), ("mul", 4), ("div", 2)] {
                put(format!("{v}{name}{suffix}"), n);
            }
            put(if masks { "vcmppd" } else { "ucomisd" }.to_owned(), 2);
            if !masks {
                put("movapd".to_owned(), 2);
            }
        }
    }
    want
}

/// Returns the operations that the loop executes: the lanes of the destination register, times two
/// for a fused multiply-add. Moves and the loop counter count zero.
fn executed(variant: &Variant, instructions: &[Instruction]) -> u64 {
    let scalar = variant.isa == Isa::Scalar;
    let operations = |i: &Instruction| {
        let name = format!("{:?}", i.mnemonic()).to_lowercase();
        if ["dec", "jne", "cqo", "movapd"].contains(&&*name) {
            return 0;
        }
        let lanes = if scalar { 1 } else { i.op0_register().size() / variant.element.bytes() };
        lanes as u64 * if name.starts_with("vfmadd") { 2 } else { 1 }
    };
    instructions.iter().map(operations).sum()
}

fn all() -> impl Iterator<Item = &'static Variant> {
    FLOPS.iter().chain(IOPS).chain(MIX_INT).chain(MIX_FLOAT)
}

#[test]
fn the_operations_declared_are_the_operations_executed() {
    for variant in all() {
        let body = only_loop(variant.hot);
        assert_eq!(census(&body), declared(variant), "{variant:?}");
        assert_eq!(executed(variant, &body), variant.operations(), "{variant:?}");
    }
    assert_eq!(all().count(), 10 + 8 + 3 + 4);
}

#[test]
fn no_loop_touches_memory_or_adds_an_immediate() {
    for variant in all() {
        for i in only_loop(variant.hot) {
            assert!(!i.op_kinds().any(|k| k == iced_x86::OpKind::Memory), "{variant:?}: {i:?}");
            if [Mnemonic::Add, Mnemonic::Sub].contains(&i.mnemonic()) {
                assert_eq!(i.op1_kind(), iced_x86::OpKind::Register, "{variant:?}: {i:?}");
            }
        }
    }
}

#[test]
fn every_loop_is_encoded_as_its_instruction_set_says() {
    for variant in all() {
        let want = match variant.isa {
            Isa::Scalar | Isa::Sse2 => EncodingKind::Legacy,
            Isa::Avx2 | Isa::Avx2Fma => EncodingKind::VEX,
            Isa::Avx512 => EncodingKind::EVEX,
        };
        for i in only_loop(variant.hot) {
            if ![Mnemonic::Dec, Mnemonic::Jne].contains(&i.mnemonic()) {
                assert_eq!(i.encoding(), want, "{variant:?}: {i:?}");
                if i.mnemonic() == Mnemonic::Add {
                    let bytes = variant.element.bytes();
                    assert_eq!(i.op0_register().size(), bytes, "{variant:?}: {i:?}");
                }
            }
        }
    }
}
