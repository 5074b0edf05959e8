//! Rows of made-up runs.

use super::*;
use crate::testing::{measurement, run, spec};
use crate::{Parameter, ParameterKind, Place, Unit, Verdict, key};

const fn pick(parameter: &'static str, value: PickedValue) -> Pick {
    Pick { parameter: Cow::Borrowed(parameter), value }
}

/// A workload with two rows and these results, each of which is faster than the one before.
fn measured(points: &[(u64, &str, u64)]) -> Run {
    let mut spec = spec("disk.rand_read", Unit::BytePerSecond);
    spec.subsystem = Subsystem::Disk;
    spec.parameters = Cow::Owned(vec![Parameter {
        name: "block_size".into(),
        about: "".into(),
        kind: ParameterKind::Size { min: 1, max: 1 << 20 },
        default: "4096".into(),
    }]);
    let row = |place, title: &'static str, depth| MainRow {
        place,
        title: title.into(),
        picks: Cow::Owned(vec![pick("queue_depth", depth), pick("isa", PickedValue::Best)]),
    };
    let rows = vec![row(2, "deep", PickedValue::Largest), row(1, "one", PickedValue::Smallest)];
    spec.role.main_rows = Cow::Owned(rows);
    let of = |(i, (depth, isa, block)): (usize, &(u64, &str, u64))| {
        let params = Params::default().with(key::QUEUE_DEPTH, *depth).with(key::ISA, *isa);
        measurement(&spec, params.with(key::BLOCK_SIZE, *block), &[1.0 + i as f64; 8])
    };
    let all = points.iter().enumerate().map(of).collect();
    let mut run = run(all);
    run.workloads.insert(spec.id.to_string(), spec);
    run
}

/// Titles, depths and blocks of the rows.
fn rows(run: &Run) -> Vec<(String, u64, String, u64)> {
    let of = |h: &MainResult| {
        let p = &h.measurement.params;
        let title = h.row.map_or_else(String::new, |r| r.title.to_string());
        let isa = p.get(key::ISA).unwrap().to_owned();
        (title, p.get(key::QUEUE_DEPTH).unwrap(), isa, p.get(key::BLOCK_SIZE).unwrap())
    };
    run.main_results().iter().flat_map(|(_, rows)| rows.iter().map(of)).collect()
}

#[test]
fn each_machine_of_an_import_has_its_rows() {
    let of = |nodes: u64| {
        let mut all = Vec::new();
        let mut run = measured(&sweep());
        for node in 0..nodes {
            let name = format!("n{node}");
            all.extend(run.measurements.iter().cloned().map(|mut m| {
                m.params = m.params.with_named(FROM, name.as_str());
                m
            }));
        }
        run.measurements = all;
        let main = run.main_results();
        let rows = main.iter().flat_map(|(_, rows)| rows);
        let from = rows.map(|row| row.measurement.params.word(FROM).unwrap().to_owned());
        from.collect::<Vec<_>>()
    };
    assert_eq!(of(2), ["n0", "n0", "n1", "n1"]);
    assert_eq!(of(40).len(), FEW, "a first screen");
}

/// More results than a first screen with all of them holds.
fn sweep() -> Vec<(u64, &'static str, u64)> {
    let blocks = [4096, 8192, 65536];
    let of = |depth| blocks.map(|b| ["a", "b"].map(|isa| (depth, isa, b))).concat();
    [1, 4, 8, 32].into_iter().flat_map(of).collect()
}

#[test]
fn declared_rows_come_in_their_order_and_of_defaults() {
    let run = measured(&sweep());
    let expected = [
        ("one".to_owned(), 1, "b".to_owned(), 4096),
        ("deep".to_owned(), 32, "b".to_owned(), 4096),
    ];
    assert_eq!(rows(&run), expected, "the default block, and the best instruction set");
    // The last declared row is the workload's main result.
    let all: Vec<&Measurement> = run.measurements.iter().collect();
    assert_eq!(answer(&run, &all).unwrap().params.get(key::QUEUE_DEPTH), Some(1));
}

#[test]
fn what_was_not_measured_is_replaced_and_no_result_is_there_twice() {
    let mut run = measured(&sweep());
    run.measurements.retain(|m| m.params.get(key::QUEUE_DEPTH) == Some(8));
    run.measurements.retain(|m| m.params.get(key::BLOCK_SIZE) != Some(4096));
    run.measurements.extend(run.measurements.clone());
    run.measurements.extend(run.measurements.clone());
    run.measurements.extend(run.measurements.clone());
    assert_eq!(rows(&run).len(), 1, "{:?}", rows(&run));
}

#[test]
fn of_few_results_all_are_there() {
    let run = measured(&sweep()[..5]);
    assert_eq!(run.main_results()[0].1.len(), 5);
    assert!(run.main_results()[0].1.iter().all(|h| h.row.is_none()));
    // The last of them is the one that answers for the workload, in whatever order they were taken.
    let few = sweep().into_iter().step_by(2).collect::<Vec<_>>();
    let run = measured(&few);
    let all: Vec<&Measurement> = run.measurements.iter().collect();
    let last = run.main_results()[0].1.last().unwrap().measurement;
    assert!(std::ptr::eq(last, answer(&run, &all).unwrap()), "{last:?}");
    assert_ne!(last.params, run.measurements.last().unwrap().params);
    assert_eq!(run.main_results()[0].1.len(), few.len());
}

#[test]
fn no_verdict_moves_a_row_and_only_the_figure_chooses_an_instruction_set() {
    let mut run = measured(&sweep());
    let before = rows(&run);
    run.measurements.iter_mut().for_each(|m| m.verdict = Verdict::Invalid);
    assert_eq!(rows(&run), before);
    for m in &mut run.measurements {
        if m.params.get(key::ISA) == Some("b") {
            m.summary = None;
        }
    }
    assert!(rows(&run).iter().all(|(_, _, isa, _)| isa == "a"), "{:?}", rows(&run));
}

/// Workloads of one table are compared with each other: a headline of other parameters would look
/// like a difference of the workloads.
#[test]
fn workloads_of_a_family_answer_alike() {
    let run = |names: [&'static str; 2], tables: [&'static str; 2]| {
        let parameter = |name: &'static str, default: &'static str| Parameter {
            name: name.into(),
            about: "".into(),
            kind: ParameterKind::Size { min: 1, max: 1 << 40 },
            default: default.into(),
        };
        let specs = [0, 1].map(|i| {
            let mut spec = spec(["memory.copy", "memory.scale"][i], Unit::BytePerSecond);
            spec.subsystem = Subsystem::Memory;
            spec.parameters =
                vec![parameter(names[i], "8"), parameter("stores", "temporal")].into();
            spec.role.tables =
                vec![Place { table: tables[i].into(), row: i as u32 + 1, label: "row".into() }]
                    .into();
            spec
        });
        let mut all = Vec::new();
        for spec in &specs {
            for (size, stores) in [(8_u64, "temporal"), (8, "nontemporal"), (64, "nontemporal")] {
                let params = Params::default().with_named("array_size", size);
                let params = params.with_named("stores", stores);
                all.push(measurement(spec, params, &[1.0; 8]));
            }
        }
        let mut run = crate::testing::run(all);
        let [mut first, second] = specs;
        first.role.main_rows = vec![MainRow {
            place: 1,
            title: "Memory copy".into(),
            picks: vec![
                pick("array_size", PickedValue::Largest),
                pick("stores", PickedValue::Is("nontemporal".into())),
            ]
            .into(),
        }]
        .into();
        run.workloads.insert(first.id.to_string(), first);
        run.workloads.insert(second.id.to_string(), second);
        run
    };
    let answers = |run: &Run| {
        ["memory.copy", "memory.scale"].map(|id| {
            let all: Vec<_> = run.measurements.iter().filter(|m| m.workload == id).collect();
            let params = &answer(run, &all).unwrap().params;
            (params.number("array_size").unwrap(), params.named("stores").unwrap().to_string())
        })
    };
    let large = (64, "nontemporal".to_owned());
    let alike = answers(&run(["array_size"; 2], ["stream"; 2]));
    assert_eq!(alike, [large.clone(), large.clone()]);
    // Of another table, or of other parameters, the defaults decide.
    let default = (8, "temporal".to_owned());
    for other in [
        run(["array_size"; 2], ["stream", "blocks"]),
        run(["array_size", "file_size"], ["stream"; 2]),
    ] {
        let [first, second] = answers(&other);
        assert_eq!(first, large);
        assert_eq!(second.1, default.1);
    }
}

#[test]
fn where_no_result_has_a_headline_the_one_that_delivered_most_is_the_best() {
    let run = measured(&[(1, "a", 4096), (1, "b", 4096), (1, "c", 4096)]);
    let mut all = run.measurements;
    all[0].summary = None;
    for m in &mut all[1..] {
        let s = m.summary.as_mut().unwrap();
        s.headline = crate::FigureKind::Attainable;
        s.attainable = crate::Figure::none("undisturbed time was too short");
    }
    let isa = |all: &[Measurement]| {
        let all: Vec<&Measurement> = all.iter().collect();
        best(&all).unwrap().params.get(key::ISA).map(str::to_owned)
    };
    assert_eq!(isa(&all).as_deref(), Some("c"));
    // A headline counts for more than what others delivered.
    all[1].summary.as_mut().unwrap().attainable = crate::Figure::alone(0.1, "few");
    assert_eq!(isa(&all).as_deref(), Some("b"));
    all[1..].iter_mut().for_each(|m| m.summary = None);
    assert_eq!(isa(&all).as_deref(), Some("a"));
}
