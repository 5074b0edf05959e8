//! The run file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    BetweenRuns, Clocks, CpuPlacement, Finding, Host, Measurement, OtherPrograms, Plan, Program,
    TimeAccount, Timestamp, Trial, Verdict, WorkloadSpec, clean_excerpt,
};

/// Version of the run file's shape.
pub const SCHEMA: &str = "proofmark.run/2";

/// Magnitudes of the numbers of a run file that are not 0. No quantity of a machine comes near
/// either end, and products and quotients of several stay finite.
pub const MAGNITUDES: RangeInclusive<f64> = 1e-60..=1e60;

/// Returns true if a number may be in a run file: 0, or in [`MAGNITUDES`].
pub fn is_quantity(number: f64) -> bool {
    number == 0.0 || MAGNITUDES.contains(&number.abs())
}

/// The program that made a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Version of proofmark.
    pub version: String,
    /// Commit that it was built from; null for a build outside a checkout.
    pub commit: Option<String>,
    /// Compiler, target and profile.
    pub build: String,
}

impl Tool {
    /// Describes the difference if a node and its launcher have different programs.
    pub fn mismatch(&self, launcher: &Self) -> Option<String> {
        let [own, launcher] = self.differing(launcher)?;
        Some(format!("it has proofmark {own}, the launcher {launcher}"))
    }

    /// Returns the names of two different programs, which would not measure alike: `0.3.0 (1a2b3c)`,
    /// with their builds if only these differ.
    pub fn differing(&self, other: &Self) -> Option<[String; 2]> {
        const LONGEST: usize = 80;
        // Nearly all nodes have the same program, and this runs for each line of a fleet.
        if self == other {
            return None;
        }
        let by_build = (&self.version, &self.commit) == (&other.version, &other.commit);
        let words = |tool: &Self| {
            let commit = tool.commit.as_deref().unwrap_or("of no commit");
            let build = if by_build { format!(", {}", tool.build) } else { String::new() };
            clean_excerpt(&format!("{} ({commit}{build})", tool.version), LONGEST)
        };
        Some([self, other].map(words))
    }
}

/// One run: host, plan and measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Run")]
pub struct Run<M = Measurement> {
    /// Always [`SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The program that made the run.
    pub tool: Tool,
    /// Start time.
    pub started: Timestamp,
    /// End time; null while it goes on, and for ever if it was killed.
    pub ended: Option<Timestamp>,
    /// Signal that stopped the run before the plan was done.
    pub interrupted: Option<String>,
    /// The tool whose output was imported, with its version; left out where proofmark measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<String>,
    /// The user's name for the machine or the run (`--label`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// True if names were removed (`--anonymous`): some facts that were judged are gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anonymous: bool,
    /// The machine.
    pub host: Host,
    /// The plan.
    pub plan: Plan,
    /// Declarations of the workloads in the plan, by id, so that a reader of this
    /// file needs nothing else to explain it.
    pub workloads: BTreeMap<String, WorkloadSpec>,
    /// The results, in the order of the plan.
    pub measurements: Vec<M>,
    /// Placements of the threads' CPUs while the rounds ran, the most frequent first; empty where
    /// they were not probed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_placements: Vec<CpuPlacement>,
    /// Other programs that used the run's CPUs, most first, as far as the system shows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// CPU time of all other programs, those that `programs` does not name too, as a share of that
    /// of one CPU; null where the system does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs_of_one_cpu: Option<f64>,
    /// How its results varied between earlier runs of the same machine, as the history had them when
    /// the run began; empty without a history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub between_runs: Vec<BetweenRuns>,
    /// Duration of the run by each of the system's clocks; null until it has ended.
    pub clocks: Option<Clocks>,
    /// Findings about the run as a whole.
    pub findings: Vec<Finding>,
}

impl<M> Run<M> {
    /// Replaces the measurements, and drops the placements of CPUs, which follow from them.
    pub fn with_measurements<N>(&self, measurements: Vec<N>) -> Run<N> {
        Run {
            schema: self.schema.clone(),
            tool: self.tool.clone(),
            started: self.started,
            ended: self.ended,
            interrupted: self.interrupted.clone(),
            imported: self.imported.clone(),
            label: self.label.clone(),
            anonymous: self.anonymous,
            host: self.host.clone(),
            plan: self.plan.clone(),
            workloads: self.workloads.clone(),
            measurements,
            cpu_placements: Vec::new(),
            programs: self.programs.clone(),
            programs_of_one_cpu: self.programs_of_one_cpu,
            between_runs: self.between_runs.clone(),
            clocks: self.clocks,
            findings: self.findings.clone(),
        }
    }

    /// Returns the other programs that used CPUs and devices during the run.
    pub fn other_programs(&self) -> OtherPrograms<'_> {
        OtherPrograms { named: &self.programs, all_of_one_cpu: self.programs_of_one_cpu }
    }

    /// Returns the name of the machine: the user's label, else its host name.
    pub fn name(&self) -> Option<&str> {
        self.label.as_deref().or(self.host.os.host_name.get().map(String::as_str))
    }

    /// Describes the machine in a few words after its name: `web-3: AMD EPYC (zen3), 2 CPUs,
    /// 23.5 GiB`. A label is no name of a machine: `label quiet; AMD EPYC (zen3), 2 CPUs, 23.5 GiB`.
    pub fn words(&self) -> String {
        let machine = self.machine_words();
        match &self.label {
            Some(label) => format!("label {}; {machine}", clean_excerpt(label, 60)),
            None => machine,
        }
    }

    /// Describes the machine without the label, which hides its host name.
    pub fn machine_words(&self) -> String {
        let words = self.host.words();
        match self.host.os.host_name.get().filter(|_| self.label.is_none()) {
            Some(name) => format!("{}: {words}", clean_excerpt(name, 60)),
            None => words,
        }
    }
}

impl Run {
    /// Returns the account of all threads' time; `None` where no trial has one.
    pub fn time_account(&self) -> Option<TimeAccount> {
        self.time_account_of(self.measurements.iter().flat_map(|m| &m.trials))
    }

    /// Returns the account of the threads' time in these trials; `None` where none has one.
    pub fn time_account_of<'a>(
        &self,
        trials: impl IntoIterator<Item = &'a Trial>,
    ) -> Option<TimeAccount> {
        let all = trials.into_iter().filter_map(|t| t.time_account).reduce(|a, b| a + b)?;
        // Without a quota no time is throttled.
        let throttled_s = all.throttled_s.or(self.host.limits.has_no_cpu_quota().then_some(0.0));
        Some(TimeAccount { throttled_s, ..all })
    }

    /// Returns the worst verdict of all measurements; `None` without one.
    pub fn verdict(&self) -> Option<Verdict> {
        self.measurements.iter().map(|m| m.verdict).max()
    }
}

/// The reason why a run file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(String);

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        Self(format!("not a proofmark run: {error}"))
    }
}

/// Reads a run file's text. An error in the shape has line and column.
pub fn read_run(text: &str) -> Result<Run, ReadError> {
    let json: Value = serde_json::from_str(text)?;
    let found = match json.get("schema") {
        Some(Value::String(s)) => s.clone(),
        Some(other) => other.to_string(),
        None => "missing".to_owned(),
    };
    if found != SCHEMA {
        let action = of_other_version(&found, &json).unwrap_or_default();
        return Err(ReadError(format!("schema is {found}, this proofmark reads {SCHEMA}{action}")));
    }
    let bad = out_of_range(&json);
    drop(json); // Of a large run it takes several times what the run does.
    // Only an error from the text, not from the value, has a line.
    let run = serde_json::from_str(text)?;
    match bad {
        Some((number, at)) => Err(ReadError(format!(
            "{number} at {at} is out of range: numbers are 0 or of {MAGNITUDES:?}"
        ))),
        None => Ok(run),
    }
}

/// Returns what to do with a run of another version of the schema; `None` if it is no run.
fn of_other_version(found: &str, json: &Value) -> Option<String> {
    let version = |schema: &str| schema.strip_prefix("proofmark.run/")?.parse::<u32>().ok();
    let is_newer = version(found)? > version(SCHEMA)?;
    let program = json.get("tool")?.get("version")?.as_str()?;
    let program = clean_excerpt(program, 40);
    Some(match is_newer {
        true => format!("; use proofmark {program} or newer"),
        false => format!("; use proofmark {program}, or measure again"),
    })
}

/// Returns the first number outside [`MAGNITUDES`] and its place as a JSON pointer.
fn out_of_range(json: &Value) -> Option<(String, String)> {
    let below = |key: &dyn Display, value| {
        out_of_range(value).map(|(number, at)| (number, format!("/{key}{at}")))
    };
    match json {
        Value::Number(n) => {
            let magnitude = n.as_f64().unwrap_or(f64::NAN).abs();
            (!is_quantity(magnitude)).then(|| (format!("{magnitude:e}"), String::new()))
        }
        Value::Array(all) => all.iter().enumerate().find_map(|(i, v)| below(&i, v)),
        Value::Object(all) => all.iter().find_map(|(key, v)| below(key, v)),
        _ => None,
    }
}

/// Returns the JSON schema of a run file.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Run)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Params, Unit, testing};

    #[test]
    fn what_is_no_run_of_this_version_is_refused() {
        let message = |text: &str| read_run(text).unwrap_err().to_string();
        assert_eq!(
            message(r#"{"schema": "proofmark.run/0"}"#),
            "schema is proofmark.run/0, this proofmark reads proofmark.run/2"
        );
        assert!(message("{}").contains("schema is missing"));
        assert!(message(r#"{"schema": 1}"#).contains("schema is 1"));
        assert!(message(r#"{"schema": "proofmark.run/2"}"#).contains("missing field"));
        assert!(message("{\n\"schema\": ").contains("line 2"));
    }

    #[test]
    fn no_number_is_beyond_what_a_machine_has() {
        let read = |value: &str| {
            let spec = testing::spec("cpu.flops", Unit::OpPerSecond);
            let m = testing::measurement(&spec, Params::default(), &[123.25]);
            let text = serde_json::to_string(&testing::run(vec![m])).unwrap();
            read_run(&text.replace("123.25", value)).map_err(|e| e.to_string()).map(drop)
        };
        for fine in ["0", "-0.0", "1e60", "-1e-60"] {
            assert_eq!(read(fine), Ok(()), "{fine}");
        }
        for bad in ["1.1e60", "-1.7e308", "1e-61", "5e-324"] {
            let message = read(bad).unwrap_err();
            assert!(message.contains(" at /measurements/0/"), "{message}");
            assert!(
                message.ends_with("out of range: numbers are 0 or of 1e-60..=1e60"),
                "{message}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"[\[\]{}":,a-z0-9. /-]{0,80}"#) {
            let _ = read_run(&text);
            let _ = read_run(&format!(r#"{{"schema": "proofmark.run/2", {text}}}"#));
        }
    }
}
