//! Reads and sets the parameters of a configuration.

use proofmark_engine::Refusal;
use proofmark_model::Params;
use proofmark_model::key::{Choice, Key, Kind};

pub(crate) fn unset<T>(key: Key<T>) -> Refusal {
    Refusal(format!("{key} is not set"))
}

/// Returns the value of a parameter that must be set.
pub(crate) fn required<T: Kind>(params: &Params, key: Key<T>) -> Result<T::Value<'_>, Refusal> {
    params.get(key).ok_or_else(|| unset(key))
}

/// Returns the meaning of a parameter's word, from the `known` words.
pub(crate) fn choice<T: Copy>(
    params: &Params,
    key: Key<Choice>,
    known: &[(&str, T)],
) -> Result<T, Refusal> {
    let word = required(params, key)?;
    let found = known.iter().find(|known| known.0 == word).map(|known| known.1);
    found.ok_or_else(|| Refusal(format!("{key} has no value '{word}'")))
}

/// Sets a parameter to `value` if it is `auto`.
pub(crate) fn resolved<'a, T: Kind>(
    params: Params,
    key: Key<T>,
    value: impl FnOnce(&Params) -> T::Value<'a>,
) -> Params {
    if !params.is_auto(key) {
        return params;
    }
    let value = value(&params);
    params.with(key, value)
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Barrier;

    use proofmark_engine::{Load, Refusal, Setup, Workload};

    use super::Params;

    /// Shortcuts for tests of a workload with given parameters.
    pub(crate) trait WorkloadExt: Workload {
        fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
            self.configure(params)?.setup()
        }

        fn refusal(&self, params: &Params) -> Option<String> {
            self.configure(params).err().map(|Refusal(reason)| reason)
        }
    }

    impl<W: Workload + ?Sized> WorkloadExt for W {}

    /// Runs the threads in parallel and asserts that they verify every trial, both as one run and
    /// as several slices. Iterations ahead of a trial must not count.
    pub(crate) fn prove(setup: &dyn Setup, threads: usize, trials: &[u64], what: &str) {
        let made = Barrier::new(threads);
        std::thread::scope(|scope| {
            for index in 0..threads {
                let made = &made;
                scope.spawn(move || {
                    let load = setup.thread(index, threads);
                    // As in the engine, no thread begins before all threads exist.
                    made.wait();
                    let mut load = load.unwrap();
                    for n in trials {
                        for slices in [vec![*n], uneven_slices(*n)] {
                            // Prepared for fewer iterations than follow.
                            load.prepare(*n);
                            [2, 1].iter().for_each(|ahead| load.run(*ahead));
                            let verified = verified(load.as_mut(), &slices);
                            let runs = slices.len();
                            assert_eq!(verified, Ok(*n), "{what}: {n} iterations, {runs} runs");
                        }
                    }
                });
            }
        });
    }

    /// Divides this many iterations into slices of 0, 1, 2 ... iterations.
    pub(crate) fn uneven_slices(iterations: u64) -> Vec<u64> {
        let mut left = iterations;
        let slices = (0..).map_while(|length: u64| {
            let slice = length.min(left);
            left -= slice;
            (length == 0 || slice > 0).then_some(slice)
        });
        slices.collect()
    }

    /// Runs the slices and returns the result of the verification.
    pub(crate) fn verified(load: &mut dyn Load, slices: &[u64]) -> Result<u64, String> {
        load.begin();
        slices.iter().for_each(|n| load.run(*n));
        assert_eq!(load.failure(), None);
        load.verify()
    }

    /// Parses parameters from `name=value` words. Values that parse as numbers become numbers.
    pub(crate) fn params(words: &str) -> Params {
        words.split_whitespace().fold(Params::default(), |params, word| {
            let (name, value) = word.split_once('=').unwrap();
            match value.parse::<u64>() {
                Ok(number) => params.with_named(name, number),
                Err(_) => params.with_named(name, value),
            }
        })
    }
}
