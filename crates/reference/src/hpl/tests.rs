use proofmark_model::key;
use std::path::Path;

use super::runner::{blas, find_solve, grid, library_name, solve};
use super::{Hpl, TEST};
use crate::testing::{captured, command_line, matrices, refuses, task};
use crate::{ReferenceRunner, Task, Tool};

const TWO: &str = include_str!("captured/2.0-hpcc-1.5.0-debian12-2-processes.txt");
/// A run with a threshold of 0.0001, so that residuals fail.
const FAILED: &str = include_str!("captured/2.0-hpcc-1.5.0-debian13-refused.txt");

#[test]
fn solves_alike_are_trials_of_one_figure() {
    let again = TWO.replace("         500    80 ", "         500    40 ");
    let output = captured(&Hpl, &again);
    let trials: Vec<usize> = output.figures.iter().map(|f| f.trials.len()).collect();
    assert_eq!(trials, [2, 1, 1]);
}

#[test]
fn older_and_newer_forms_are_read() {
    // HPL 2.3 prints more digits, and its start.
    let newer = TWO
        .replace("1.222e+00", "1.2220e+00\nHPL_pdgesv() start time Sat Nov 21 21:49:05 2026\n")
        .replace("=        0.0046435", "=   4.64350000e-03");
    assert_eq!(captured(&Hpl, &newer), captured(&Hpl, TWO));
    // HPL 1.0 has three residuals per solve, which must all pass.
    let norms = ["( eps * ||A||_1  * N        )", "( eps * ||A||_1  * ||x||_1  )"];
    let [one, two] =
        norms.map(|norm| format!("||Ax-b||_oo / {norm} =        0.0193455 ...... PASSED"));
    let last = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0046435";
    let older = TWO.replace(last, &format!("{one}\n{two}\n{last}"));
    assert_eq!(captured(&Hpl, &older), captured(&Hpl, TWO));
    let failed = ("0.0193455 ...... PASSED", "19.345500 ...... FAILED", "its residual is 19.3455");
    refuses(&Hpl, &older, &[failed]);
}

#[test]
fn residuals_are_missed_unless_none_were_checked() {
    let without: String =
        TWO.lines().filter(|l| !l.contains("......")).flat_map(|l| [l, "\n"]).collect();
    refuses(&Hpl, TWO, &[(TWO, &without, "this solve has no residual")]);
    let unchecked = without.replace("less than                16.0", "less than -16.0");
    assert_eq!(captured(&Hpl, &unchecked).figures.len(), 4);
}

#[test]
fn a_residual_that_passed_is_the_proof() {
    let proofs = |text: &str| {
        let figures = captured(&Hpl, text).figures;
        figures.iter().map(|f| f.proof.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(proofs(TWO), [true; 4]);
    // A table alone has only HPL's verdict.
    let table = &TWO[TWO.find("T/V                N").unwrap()..];
    assert_eq!(proofs(table), [true; 4]);
    let unchecked: String =
        TWO.lines().filter(|l| !l.contains("......")).flat_map(|l| [l, "\n"]).collect();
    assert_eq!(
        proofs(&unchecked.replace("less than                16.0", "less than -16.0")),
        [false; 4]
    );
}

#[test]
fn a_solution_that_is_no_number_is_wrong() {
    let residual = "=        0.0046435 ...... PASSED";
    let changes = [
        (
            residual,
            "=              nan ...... FAILED",
            "wrong solution, no figure: its residual is nan",
        ),
        (
            residual,
            "=             -nan ...... FAILED",
            "wrong solution, no figure: its residual is -nan",
        ),
        (
            residual,
            "=              inf ...... FAILED",
            "wrong solution, no figure: its residual is inf",
        ),
        (residual, "=              nan ...... PASSED", "\"PASSED\" of residual nan"),
        ("1.222e+00", "nan", "no figure: HPL reports nan Gflops"),
        ("1.222e+00", "-inf", "no figure: HPL reports -inf Gflops"),
    ];
    refuses(&Hpl, TWO, &changes);
}

#[test]
fn other_work_with_the_same_table_is_refused_by_name() {
    let head = "HPLinpack 2.0";
    let row = "0.07              1.222e+00";
    let changes = [
        (
            head,
            "HPL-NVIDIA 24.9.0  -- NVIDIA accelerated HPL benchmark -- NVIDIA",
            "HPL-NVIDIA measures GPUs",
        ),
        (head, "HPL-NVIDIA 1.0.0\nHPLinpack 2.1", "HPL-NVIDIA measures GPUs"),
        (head, "HPL-MxP-NVIDIA 24.9.0", "mixed precision"),
        (
            head,
            "=          HPL-AI Mixed-Precision Benchmark          =\nHPLinpack 2.0",
            "mixed precision",
        ),
        ("WR11C2R4         500    40", "HPL_AI   WR11C2R4  500    40", "mixed precision"),
        ("BCAST  :", "Allreduce_dmxswp impl: HPL custom\nBCAST  :", "rocHPL measures GPUs"),
        ("PFACT  :", "p      :        2.\nPFACT  :", "rocHPL measures GPUs"),
        (row, "0.07              1.222e+00 (   6.110e-01)", "rates each accelerator"),
        (head, "Number of Intel(R) Xeon Phi(TM) coprocessors : 2\nHPLinpack 2.0", "Xeon Phi"),
    ];
    refuses(&Hpl, TWO, &changes);
    for (from, to, _) in &changes {
        assert!(Hpl.recognises(&TWO.replace(from, to)), "{to}");
    }
    let none = format!("Number of Intel(R) Xeon Phi(TM) coprocessors : 0\n{TWO}");
    assert_eq!(captured(&Hpl, &none), captured(&Hpl, TWO));
}

#[test]
fn what_it_says_twice_is_compared() {
    let findings = |text: &str| {
        let figures = captured(&Hpl, text).figures;
        figures.into_iter().flat_map(|f| f.findings).map(|f| f.message).collect::<Vec<_>>()
    };
    assert!(findings(TWO).is_empty());
    let lost = TWO.replacen("4 tests completed and passed", "5 tests completed and passed", 1);
    assert_eq!(findings(&lost), ["HPL reports 5 solves that passed, but lists 4"; 4]);
    let twice = findings(&[TWO, TWO].concat());
    assert!(twice.iter().all(|f| f.contains("one after another")), "of each run for itself");
    let changes = [
        (
            "N      :     500     1000",
            "N      :     600     1000",
            "N 500 is not in the list of parameters",
        ),
        (
            "NB     :      40       80",
            "NB     :      48       80",
            "NB 40 is not in the list of parameters",
        ),
        ("P      :       1", "P      :       2", "P 1 is not in the list of parameters"),
        ("Q      :       2", "Q      :       1", "Q 2 is not in the list of parameters"),
    ];
    let solves = &TWO[TWO.rfind("HPLinpack 2.0").unwrap()..];
    refuses(&Hpl, solves, &changes);
    let more = solves.replacen(
        "N      :     500     1000",
        "N      :     300      400\n             500     1000",
        1,
    );
    assert_eq!(captured(&Hpl, &more).figures.len(), 4, "a list of two lines");
}

#[test]
fn what_is_cut_off_or_wrong_is_refused() {
    let row = TWO.find("WR11C2R4").unwrap();
    let after = |characters: usize| &TWO[row + characters..];
    let first = TWO.lines().find(|l| l.contains("......")).unwrap();
    let alone = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.1 ...... PASSED";
    let changes = [
        (TWO, FAILED, "line 397: .. its residual is 0.0046329"),
        // Verdicts that contradict their number.
        ("0.0046435 ...... PASSED", "16.06 ...... PASSED", "\"PASSED\" of residual 16.06"),
        ("...... PASSED", "...... PAST", "\"PAST\" of residual"),
        (first, "", "line 444: this solve has no residual"),
        (after(0), "", "HPL solved nothing"),
        (after(30), "", "expected T/V"),
        (after(90), "", "ends too early"),
        (" 0.07 ", " 0.08 ", "it took"),
        ("1.222e+00", "0.000e+00", "more than zero"),
        ("1.222e+00", "1.222e55", "out of range"),
        ("         500    40", "        5e2     40", "N 5e2 is not in the list"),
        ("(1795297735)", "(9e99)", "is no time in seconds"),
        ("          16.0", "           NaN", "threshold"),
        (TWO, alone, "no solve"),
        (TWO, "||Ax-b|| ...... or so", "PASSED or FAILED"),
    ];
    refuses(&Hpl, TWO, &changes);
}

/// Calls a function with a task of this many equations and threads on 2 CPUs.
fn with_task<T>(n: u64, threads: u64, isa: &str, call: impl FnOnce(&Task) -> T) -> T {
    call(&task(TEST, &matrices(n, threads, isa)))
}

#[test]
fn a_solve_has_a_process_a_thread() {
    let call =
        |solver| with_task(5000, 2, "avx512", |t| solve(Path::new(solver), t, "avx512")).unwrap();
    let hpcc = call("/usr/bin/hpcc");
    let line = command_line(&hpcc);
    for part in [
        "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 ",
        " OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ",
        " OMPI_MCA_hwloc_base_binding_policy=none ",
        " -n 2 /usr/bin/hpcc",
    ] {
        assert!(line.contains(part), "{line}");
    }
    assert_eq!(hpcc.output, Some("hpccoutf.txt"));
    let (file, text) = &hpcc.files[0];
    // N, NB, P, Q and the separator have fixed lines in the file.
    let first = |line: usize| text.lines().nth(line - 1)?.split_whitespace().next();
    let values = [6, 8, 11, 12, 32, 33].map(|line| first(line).unwrap());
    assert_eq!((*file, values), ("hpccinf.txt", ["5000", "256", "1", "2", "-", "0"]));
    let alone = call("/opt/xhpl");
    assert_eq!((alone.files[0].0, alone.output), ("HPL.dat", None));
    assert_eq!(alone.files[0].1, *text);
}

#[test]
fn processes_lie_in_a_grid_as_square_as_can_be() {
    let grids = [1, 2, 6, 7, 16, 48].map(grid);
    assert_eq!(grids, [(1, 1), (1, 2), (2, 3), (1, 7), (4, 4), (6, 8)]);
}

#[test]
fn what_it_cannot_do_alike_is_refused() {
    for (threads, isa, why) in [
        (3, "avx512", "it runs no more processes than it has CPUs"),
        (2, "avx2+fma", "its BLAS cannot be limited to avx2+fma"),
    ] {
        let refused = with_task(5000, threads, isa, |t| solve(Path::new("hpcc"), t, "avx512"));
        assert_eq!(refused.unwrap_err(), why);
    }
}

#[test]
fn the_figure_is_that_of_the_task() {
    let nb = |n, threads| {
        let figure = with_task(n, threads, "avx512", |t| find_solve(t, captured(&Hpl, TWO)));
        figure.and_then(|f| f.params.get(key::MATRIX_BLOCK))
    };
    assert_eq!((nb(1000, 2), nb(1000, 1), nb(999, 2)), (Some(40), None, None));
}

#[test]
fn the_blas_is_the_one_that_is_linked() {
    let debian = "\tlinux-vdso.so.1 (0x00007f48ddecc000)
\tlibblas.so.3 => /lib/x86_64-linux-gnu/libblas.so.3 (0x00007f48dddc0000)
\tlibopenblas.so.0 => /lib/x86_64-linux-gnu/libopenblas.so.0 (0x00007f48db6d0000)\n";
    assert_eq!(blas(debian), Some("/lib/x86_64-linux-gnu/libblas.so.3".into()));
    assert_eq!(blas("\tlibopenblas.so.0 => not found\n\tlibm.so.6"), None);
    let openblas = Path::new("/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3");
    assert_eq!(library_name(openblas), "openblas-pthread");
    assert_eq!(
        library_name(Path::new("/opt/lib/libopenblasp-r0.3.21.so")),
        "libopenblasp-r0.3.21.so"
    );
}

#[test]
fn its_memory_is_the_matrix_and_its_processes() {
    let memory = |n, threads| with_task(n, threads, "avx512", |t| Hpl.memory(t));
    // Measured with HPC Challenge: 48 MiB of n = 500, 126 MiB of n = 3000.
    assert!(memory(500, 2) > 48 << 20 && (126..300).contains(&(memory(3000, 2) >> 20)));
    assert!(memory(50_000, 2) > 50_000 * 50_000 * 8 && memory(3000, 4) > memory(3000, 2));
    assert_eq!(memory(u64::MAX, 1), u64::MAX);
}

#[test]
fn a_run_that_was_aborted_is_not_passed_over() {
    let crash = "HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:\n";
    let found = Hpl.parse(&format!("{crash}{TWO}")).unwrap().figures;
    assert!(found.iter().all(|f| f.findings.iter().any(|f| f.message.contains("was aborted"))));
}
