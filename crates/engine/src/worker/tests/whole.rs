//! What a worker does with a workload of which a trial is one whole problem: it neither
//! calibrates nor runs anything ahead, and tells the solution.

use proofmark_model::Solution;

use super::*;
use crate::workload::{Load, Setup};

/// Writes down each call that is made of it, in [`CALLS`].
pub(super) struct Solver;

struct Solving;

/// What was asked of the solver since it was last set up. Its tests take turns.
static CALLS: Calls = Calls::new();

/// The tests that use the solver.
static SOLVER: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// What the threads were asked to do, in all.
struct Calls {
    /// Calls of [`Setup::begin_trial`].
    begun: AtomicUsize,
    /// Calls of [`Load::run`] with anything to do.
    runs: AtomicUsize,
    /// The most iterations that one of them held.
    most: AtomicUsize,
}

impl Calls {
    const fn new() -> Self {
        let [begun, runs, most] = [const { AtomicUsize::new(0) }; 3];
        Self { begun, runs, most }
    }

    fn reset(&self) {
        for count in [&self.begun, &self.runs, &self.most] {
            count.store(0, Ordering::SeqCst);
        }
    }

    /// How many trials were begun, how often a thread ran, and the most that one was asked for.
    fn so_far(&self) -> [usize; 3] {
        [&self.begun, &self.runs, &self.most].map(|count| count.load(Ordering::SeqCst))
    }
}

struct SolvingThread {
    done: u64,
}

impl Workload for Solver {
    fn spec(&self) -> &'static WorkloadSpec {
        NULL.spec()
    }
    fn supports(&self, _: &Params) -> Result<(), Refusal> {
        Ok(())
    }
    fn setup(&self, _: &Params) -> Result<Box<dyn Setup>, Refusal> {
        CALLS.reset();
        Ok(Box::new(Solving))
    }
}

impl Setup for Solving {
    fn amount(&self) -> Amount {
        Amount::Whole
    }
    fn work_per_iteration(&self) -> f64 {
        500.0
    }
    fn begin_trial(&self) -> Result<(), Refusal> {
        CALLS.begun.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
    fn solution(&self) -> Option<Solution> {
        Some(Solution {
            n: 9,
            leading_dimension: 16,
            alignment: 64,
            residual: 0.25,
            normalised_residual: 0.5,
        })
    }
    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(SolvingThread { done: 0 }))
    }
}

impl Load for SolvingThread {
    fn run(&mut self, iterations: u64) {
        self.done = iterations;
        CALLS.runs.fetch_add(usize::from(iterations > 0), Ordering::SeqCst);
        let most = usize::try_from(iterations).unwrap_or(usize::MAX);
        CALLS.most.fetch_max(most, Ordering::SeqCst);
    }
    fn verify(&mut self) -> Result<u64, String> {
        Ok(self.done)
    }
}

#[test]
fn a_whole_problem_is_one_iteration_a_thread_from_the_first_call_on() {
    use Request::{Trial, Warm};
    let _one = SOLVER.lock();
    for threads in [1, 2, 3] {
        for requests in [&[Warm][..], &[Trial], &[Warm, Warm, Trial], &[Warm, Warm, Trial, Trial]] {
            let replies = talk("test.solver", threads, requests);
            assert_eq!(replies.len(), 1 + requests.len(), "{replies:?}");
            let (trials, each) = (requests.len(), usize::try_from(threads).unwrap());
            // No call that calibrates, none ahead of a trial, and never two iterations.
            assert_eq!(CALLS.so_far(), [trials, trials * each, 1], "{requests:?} of {threads}");
            let work = 500.0 * threads as f64;
            for reply in &replies[1..] {
                assert_eq!((trial(reply).work, account(reply)), (work, (work, work)));
            }
        }
    }
}

#[test]
fn the_solution_is_told_with_the_trial_and_others_have_none() {
    let _one = SOLVER.lock();
    let replies = talk("test.solver", 2, &[Request::Trial]);
    let solution = trial(&replies[1]).solution.as_ref().unwrap();
    assert_eq!((solution.n, solution.leading_dimension, solution.alignment), (9, 16, 64));
    assert_eq!((solution.residual, solution.normalised_residual), (0.25, 0.5));
    let replies = talk("test.null", 2, &[Request::Trial]);
    assert_eq!(trial(&replies[1]).solution, None);
}
