//! Compares the loads and stores in the machine code of every stream loop with its operation.

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

use super::loops::tests::all;
use super::segment::{GRAIN, STAMP};
use super::stream::op::{Op, Stores};
use super::x86_64::{Form, find};
use crate::cpu::decoded::{function, inner_loops};
use crate::cpu::isa::{Element, Isa};

/// Bytes loaded and stored by pointer, and bytes stored by kind of store.
#[derive(Debug, Default, PartialEq)]
struct Traffic {
    from_a: usize,
    from_b: usize,
    to_dst: usize,
    to_a: usize,
    temporal: usize,
    non_temporal: usize,
}

fn is_prefetch(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{Prefetcht0, Prefetcht1, Prefetchw};
    [Prefetcht0, Prefetcht1, Prefetchw].contains(&mnemonic)
}

fn moves(i: &Instruction) -> bool {
    !is_prefetch(i.mnemonic()) && i.op_kinds().any(|kind| kind == OpKind::Memory)
}

fn traffic(code: &[Instruction]) -> Traffic {
    let mut sum = Traffic::default();
    let mut factory = InstructionInfoFactory::new();
    for i in code.iter().filter(|i| moves(i)) {
        for used in factory.info(i).used_memory() {
            let bytes = used.memory_size().size();
            match (used.access(), used.base()) {
                (_, Register::R11 | Register::RSP) => {} // The segment and the return address.
                (OpAccess::Read, Register::RDX) => sum.from_a += bytes,
                (OpAccess::Read, Register::RCX) => sum.from_b += bytes,
                (OpAccess::Write, base @ (Register::RDI | Register::RDX)) => {
                    let to = if base == Register::RDI { &mut sum.to_dst } else { &mut sum.to_a };
                    *to += bytes;
                    let streaming = [Mnemonic::Movntpd, Mnemonic::Vmovntpd].contains(&i.mnemonic());
                    *if streaming { &mut sum.non_temporal } else { &mut sum.temporal } += bytes;
                }
                other => panic!("{other:?} in {i:?}"),
            }
        }
    }
    sum
}

/// Returns the traffic that a turn of a loop of this operation must have.
fn declared(op: Op, stores: Stores) -> Traffic {
    let to_dst = if op.stores() { GRAIN } else { 0 };
    let (temporal, non_temporal) =
        if stores == Stores::Temporal { (to_dst, 0) } else { (0, to_dst) };
    let from = |n| if op.sources() >= n { GRAIN } else { 0 };
    Traffic { from_a: from(1), from_b: from(2), to_dst, to_a: 0, temporal, non_temporal }
}

/// Returns the loops in assembly with their operation, stores, instruction set and code.
fn assembled() -> Vec<(Op, Stores, Isa, Vec<Instruction>)> {
    let all = all().into_iter().filter(|row| row.2 != Isa::Scalar);
    all.map(|(op, stores, isa, f)| (op, stores, isa, function(f as usize))).collect()
}

#[test]
fn every_turn_loads_and_stores_what_is_declared() {
    for (op, stores, isa, code) in assembled() {
        let loops = inner_loops(&code);
        let most = if op.stores() && stores == Stores::NonTemporal { 1 } else { 2 };
        assert!((1..=most).contains(&loops.len()), "{op:?} {stores:?} {isa:?}");
        for turn in loops {
            assert_eq!(code[*turn.start()].ip() % 64, 0, "{op:?} {stores:?} {isa:?}");
            assert_eq!(traffic(&code[turn]), declared(op, stores), "{op:?} {stores:?} {isa:?}");
        }
    }
}

#[test]
fn outside_the_loops_only_the_stamp_is_stored() {
    for (op, stores, isa, code) in assembled() {
        let loops = inner_loops(&code);
        let outside: Vec<Instruction> = (0..code.len())
            .filter(|k| !loops.iter().any(|range| range.contains(k)))
            .map(|k| code[k])
            .collect();
        let stamps = if op.stores() && op.sources() > 0 { loops.len() * STAMP } else { 0 };
        let want = Traffic { to_a: stamps, temporal: stamps, ..Traffic::default() };
        assert_eq!(traffic(&outside), want, "{op:?} {stores:?} {isa:?}");
    }
}

#[test]
fn only_loops_for_data_from_memory_prefetch_and_only_with_the_widest_loads() {
    for (op, stores, isa, code) in assembled() {
        for (k, turn) in inner_loops(&code).into_iter().enumerate() {
            let body = &code[turn];
            let prefetches = body.iter().filter(|i| is_prefetch(i.mnemonic())).count();
            assert!(k == 0 || prefetches == 0, "{op:?} {stores:?} {isa:?}");
            for i in body.iter().filter(|i| moves(i)) {
                assert_eq!(
                    i.memory_size().size(),
                    isa.lanes(Element::I64.bytes()) * 8,
                    "{op:?} {stores:?} {isa:?}: {i:?}"
                );
            }
        }
    }
}

#[test]
fn plain_loops_walk_one_stream_and_ask_for_nothing() {
    let guided = |i: &Instruction| {
        let streams = [Register::R8, Register::R9];
        let other = streams.contains(&i.memory_base()) || streams.contains(&i.memory_index());
        is_prefetch(i.mnemonic()) || other && i.op_kinds().any(|kind| kind == OpKind::Memory)
    };
    let guides = |form, op, stores, isa| {
        let code = function(find(form, op, stores, isa).unwrap() as usize);
        inner_loops(&code).into_iter().any(|turn| code[turn].iter().any(guided))
    };
    for op in Op::ALL {
        for stores in Stores::ALL {
            for isa in [Isa::Sse2, Isa::Avx2, Isa::Avx512] {
                let what = format!("{op:?} {stores:?} {isa:?}");
                assert!(!guides(Form::Plain, op, stores, isa), "{what}");
                let nothing_to_guide = op == Op::Write && stores == Stores::NonTemporal;
                assert_ne!(guides(Form::Guided, op, stores, isa), nothing_to_guide, "{what}");
            }
        }
    }
}

#[test]
fn only_intel_s_cores_are_guided() {
    let form = |vendor: &str| Form::choose_for(vendor.as_bytes());
    assert_eq!([form("GenuineIntel"), form("AuthenticAMD")], [Form::Guided, Form::Plain]);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if let Some(line) = info.lines().find(|l| l.starts_with("vendor_id")) {
        assert_eq!(Form::here(), form(line.rsplit(' ').next().unwrap()));
    }
}
