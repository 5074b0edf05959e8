//! Reads and sets the parameters of a point.

use proofmark_engine::Refusal;
use proofmark_model::{AUTO, Param, Params};

pub(crate) fn unset(parameter: &str) -> Refusal {
    Refusal(format!("{parameter} is not set"))
}

pub(crate) fn text<'a>(params: &'a Params, parameter: &str) -> Result<&'a str, Refusal> {
    params.text(parameter).ok_or_else(|| unset(parameter))
}

pub(crate) fn int(params: &Params, parameter: &str) -> Result<u64, Refusal> {
    params.int(parameter).ok_or_else(|| unset(parameter))
}

/// What the word of a parameter means, of the words that are `known`.
pub(crate) fn choice<T: Copy>(
    params: &Params,
    parameter: &str,
    known: &[(&str, T)],
) -> Result<T, Refusal> {
    let word = text(params, parameter)?;
    let found = known.iter().find(|known| known.0 == word).map(|known| known.1);
    found.ok_or_else(|| Refusal(format!("{parameter} has no value '{word}'")))
}

/// These parameters with that parameter set, if it is `auto`.
pub(crate) fn resolved<T: Into<Param>>(
    params: Params,
    parameter: &str,
    value: impl FnOnce(&Params) -> T,
) -> Params {
    if params.text(parameter) != Some(AUTO) {
        return params;
    }
    let value = value(&params);
    params.with(parameter, value)
}

#[cfg(test)]
pub(crate) mod testing {
    use proofmark_engine::Setup;

    use super::Params;

    /// Runs the threads in parallel, each so many iterations after some ahead, and has them verify.
    pub(crate) fn prove(setup: &dyn Setup, threads: usize, runs: &[u64], what: &str) {
        std::thread::scope(|scope| {
            for index in 0..threads {
                scope.spawn(move || {
                    let mut load = setup.thread(index, threads).unwrap();
                    for n in runs {
                        load.run(2);
                        load.run(*n);
                        assert_eq!(load.verify(), Ok(*n), "{what}: {n} iterations");
                    }
                });
            }
        });
    }

    /// Parameters as `name=value` words; numbers are numbers.
    pub(crate) fn params(words: &str) -> Params {
        words.split_whitespace().fold(Params::default(), |params, word| {
            let (name, value) = word.split_once('=').unwrap();
            match value.parse::<u64>() {
                Ok(number) => params.with(name, number),
                Err(_) => params.with(name, value),
            }
        })
    }
}
