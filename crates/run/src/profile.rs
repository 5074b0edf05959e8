//! Profiles: named plans in TOML, built in or from a file. `names` refuses unknown names.

mod names;
mod points;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proofmark_model::{Policy, Subsystem, did_you_mean};
use serde::Deserialize;

use crate::error::Usage;
use crate::read_bounded::read_text;
use crate::request::{LONGEST_RUN, LONGEST_TRIAL};

#[cfg(test)]
pub use points::OneOrMany;
use points::Time;
pub use points::{PointText, Reference, SeriesText};

/// Built-in profiles by name, the texts of files that users can copy and change.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("quick", include_str!("../profiles/quick.toml")),
    ("default", include_str!("../profiles/default.toml")),
    ("thorough", include_str!("../profiles/thorough.toml")),
    ("screen", include_str!("../profiles/screen.toml")),
    ("noise", include_str!("../profiles/noise.toml")),
    ("chameleon-2017", include_str!("../profiles/chameleon-2017.toml")),
    ("aws-2016", include_str!("../profiles/aws-2016.toml")),
];

const LARGEST: u64 = 1 << 20;

/// A profile as its file has it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name, recorded in the run.
    pub name: String,
    /// Summary in one line, for `proofmark list profiles`.
    #[serde(default)]
    pub about: String,
    /// Number and duration of trials.
    pub policy: PolicyText,
    /// The configurations.
    #[serde(deserialize_with = "points::points")]
    pub points: Vec<PointText>,
}

/// The table `[policy]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyText {
    target: f64,
    /// Settings of one subsystem that differ.
    #[serde(default)]
    target_of: BTreeMap<Subsystem, f64>,
    min_trials: u32,
    max_trials: u32,
    trial: Time,
    /// Timed seconds after which a configuration takes no more trials than the minimum: 8 rounds, or 3
    /// trials of loads that are not cut.
    time_of_point: Option<Time>,
    /// Time for each subsystem; others take as long as their trials need.
    #[serde(default)]
    budget: BTreeMap<Subsystem, Time>,
}

impl Profile {
    /// Loads a built-in profile by its name, or a file by its path; the error is one line.
    pub fn load(name: &str) -> Result<Self, Usage> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(n, _)| *n == name) {
            return Self::parse(text).map_err(|e| Usage(format!("profile {name}: {e}")));
        }
        let path = Path::new(name);
        if !path.exists() {
            let hint = did_you_mean(name, BUILT_IN.iter().map(|(n, _)| *n));
            let hint = hint.unwrap_or_else(|| "see 'proofmark list profiles'".to_owned());
            return Err(Usage(format!("no profile and no file named '{name}'; {hint}")));
        }
        if path.is_dir() {
            let todo = "name a TOML file, or one of 'proofmark list profiles'";
            return Err(Usage(format!("profile {name}: it is a directory; {todo}")));
        }
        let text = read_text(path, LARGEST).map_err(|e| Usage(format!("profile {name}: {e}")))?;
        Self::parse(&text).map_err(|e| Usage(format!("profile {name}: {e}")))
    }

    /// Reads a profile's text; the error is one line.
    fn parse(text: &str) -> Result<Self, String> {
        names::check(text)?;
        let profile: Self = toml::from_str(text).map_err(|e| names::one_line(&e, text))?;
        profile.check()?;
        Ok(profile)
    }

    fn check(&self) -> Result<(), String> {
        let p = &self.policy;
        let mut targets = p.target_of.values().chain([&p.target]);
        if let Some(target) = targets.find(|t| !(**t > 0.0 && **t < 1.0)) {
            return Err(format!(
                "target is {target}; it must lie between 0 and 1, as 0.02 for 2 %"
            ));
        }
        if p.min_trials == 0 || p.max_trials < p.min_trials || p.max_trials > 1000 {
            return Err(format!(
                "min_trials is {} and max_trials {}; they must be in order, from 1 to 1000",
                p.min_trials, p.max_trials
            ));
        }
        let trials = self.points.iter().filter_map(|p| p.trial);
        if trials.chain([p.trial.0]).any(|t| t > LONGEST_TRIAL)
            || p.budget.values().chain(&p.time_of_point).any(|t| t.0 > LONGEST_RUN)
        {
            return Err("a trial takes at most an hour, and a run 30 days".to_owned());
        }
        if self.points.is_empty() {
            return Err("it has no [[points]]".to_owned());
        }
        self.points.iter().try_for_each(|p| self.check_point(p))
    }

    fn check_point(&self, point: &PointText) -> Result<(), String> {
        let workload = &point.workload;
        if let Some(series) = &point.series {
            series.check().map_err(|e| format!("{workload}: {e}"))?;
        }
        if point.trials.is_some_and(|n| !(1..=1000).contains(&n)) {
            return Err(format!("{workload}: trials goes from 1 to 1000"));
        }
        // The number and duration of trials belong to a workload, not to one configuration.
        let differs = |other: &PointText| {
            other.workload == *workload
                && other.trials.zip(point.trials).is_some_and(|(a, b)| a != b)
        };
        match self.points.iter().any(differs) {
            true => Err(format!("{workload} has two different numbers of trials; give it one")),
            false => Ok(()),
        }
    }

    /// The policy for workloads of these subsystems. Where each of them has a budget, it is their sum.
    pub fn policy(&self, subsystems: &BTreeSet<Subsystem>) -> Policy {
        let p = &self.policy;
        let budgets: Option<Vec<_>> = subsystems.iter().map(|s| p.budget.get(s)).collect();
        let trial_s_of = self
            .points
            .iter()
            .filter_map(|p| Some((p.workload.clone(), p.trial?.as_secs_f64())))
            .collect();
        let trials_of =
            self.points.iter().filter_map(|p| Some((p.workload.clone(), p.trials?))).collect();
        Policy {
            target: p.target,
            target_of: p.target_of.clone(),
            min_trials: p.min_trials,
            max_trials: p.max_trials,
            trials_of,
            trial_s: p.trial.0.as_secs_f64(),
            trial_s_of,
            point_s: p.time_of_point.map(|t| t.0.as_secs_f64()),
            quota: None,
            memory_rate: None,
            budget_s: budgets.map(|all| all.iter().map(|b| b.0.as_secs_f64()).sum()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::and_list;

    use super::*;

    #[test]
    fn the_built_in_profiles_are_profiles() {
        for (name, text) in BUILT_IN {
            let p = Profile::parse(text).unwrap();
            assert_eq!(p.name, *name);
            assert!(!p.about.is_empty());
            let least = p.policy(&BTreeSet::new()).min_trials;
            let published = ["chameleon-2017", "aws-2016"].contains(name);
            assert!(least >= 6 || (published && least == 3), "fewer trials give no interval");
        }
    }

    #[test]
    fn the_built_in_profiles_take_as_long_as_they_say() {
        let seconds = |at: usize| {
            let policy = Profile::parse(BUILT_IN[at].1).unwrap().policy;
            policy.budget.values().map(|b| b.0.as_secs()).sum::<u64>()
        };
        let [quick, default, thorough] = [0, 1, 2].map(seconds);
        assert!(quick < 45, "quick takes {quick} s and says at most 45");
        assert!(default < 180, "default takes {default} s and says at most 3 minutes");
        assert_eq!(thorough, 95 * 60, "thorough says 95 minutes");
        let policy = Profile::parse(BUILT_IN[1].1).unwrap().policy(&BTreeSet::new());
        assert_eq!(policy.point_s, Some(6.0));
    }

    #[test]
    fn the_default_profile_has_every_workload() {
        let default = Profile::load("default").unwrap();
        for workload in proofmark_workloads::ALL {
            let id = &workload.spec().id;
            assert!(default.points.iter().any(|p| p.workload == *id), "{id} has no point");
        }
    }

    /// The number of configurations of a profile by their trials: `12 in 3 trials: cpu.mix.int,
    /// cpu.mix.float`. A value that is left to the machine counts as one.
    fn configurations(profile: &Profile) -> Vec<String> {
        let policy = profile.policy(&BTreeSet::new());
        let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
        for point in &profile.points {
            let how = match &point.series {
                Some(series) => format!("for {} s", series.length.as_secs()),
                None if policy.is_fixed(&point.workload) => {
                    format!("in {} trials", policy.trials_for(&point.workload).0)
                }
                None => "in any number of trials".to_owned(),
            };
            let tools = match &point.reference {
                Reference::First(_) => String::new(),
                Reference::Named(names) => format!(" with {}", and_list(names.all())),
            };
            let count = point.parameters.values().map(|values| values.all().len());
            *counts.entry((how + &tools, &point.workload)).or_default() += count.product::<usize>();
        }
        let mut alike: BTreeMap<(String, usize), Vec<&str>> = BTreeMap::new();
        for ((how, workload), count) in counts {
            alike.entry((how, count)).or_default().push(workload);
        }
        let line = |((how, count), workloads): (_, Vec<_>)| {
            format!("{count} {how}: {}", workloads.join(", "))
        };
        alike.into_iter().map(line).collect()
    }

    #[test]
    fn published_experiments_keep_their_configurations() {
        for (name, expected) in [("aws-2016", AWS), ("chameleon-2017", CHAMELEON)] {
            let found = configurations(&Profile::load(name).unwrap()).join("\n");
            assert_eq!(found, expected, "{name}");
        }
    }

    const AWS: &str = "\
1 for 600 s: cpu.mix.float, cpu.mix.int
2 in 10 trials: memory.add, memory.copy, memory.scale, memory.triad
2 in 10 trials with stream: memory.add, memory.copy, memory.scale, memory.triad
2 in 3 trials: cpu.clock
3 in 3 trials: cpu.flops, cpu.iops
4 in 3 trials: cpu.linpack
5 in 3 trials: memory.latency
6 in 3 trials: disk.read_write, memory.rand_read, memory.rand_read_write, memory.rand_write, \
memory.read_write, memory.seq_read, memory.seq_write, network.tcp.rtt, network.tcp.stream, \
network.udp.rtt, network.udp.stream
12 in 3 trials: cpu.mix.float, cpu.mix.int
18 in 3 trials: disk.rand_read, disk.rand_write, disk.seq_write
30 in 3 trials: disk.seq_read
4 in 3 trials with iozone: disk.rand_read, disk.rand_write, disk.seq_write
8 in 3 trials with iozone: disk.seq_read
1 in 3 trials with iperf and iperf3: network.tcp.stream, network.udp.stream";

    const CHAMELEON: &str = "\
1 for 600 s: cpu.mix.float, cpu.mix.int
2 in 10 trials: memory.add, memory.copy, memory.scale, memory.triad
2 in 10 trials with stream: memory.add, memory.copy, memory.scale, memory.triad
2 in 3 trials: cpu.clock
4 in 3 trials: cpu.flops, cpu.iops, network.tcp.stream, network.udp.stream
5 in 3 trials: memory.latency
7 in 3 trials: cpu.linpack
16 in 3 trials: cpu.mix.float, cpu.mix.int, disk.read_write, memory.rand_read, \
memory.rand_read_write, memory.rand_write, memory.seq_read, network.tcp.rtt, network.udp.rtt
18 in 3 trials: memory.read_write, memory.seq_write
148 in 3 trials: disk.rand_read, disk.rand_write
150 in 3 trials: disk.seq_write
282 in 3 trials: disk.seq_read
12 in 3 trials with iozone: disk.rand_read, disk.rand_write, disk.seq_write
24 in 3 trials with iozone: disk.seq_read
1 in 3 trials with iperf and iperf3: network.tcp.stream, network.udp.stream";

    #[test]
    fn what_is_no_profile_is_told_in_one_line() {
        let good = r#"name = "x"
[policy]
target = 0.02
min_trials = 6
max_trials = 12
trial = "60ms"
[[points]]
workload = "cpu.clock"
threads = [1, "all"]
"#;
        assert!(Profile::parse(good).is_ok());
        for (from, to, word) in [
            ("target = 0.02", "target = 2.0", "target"),
            ("0.02", "0.02\ntarget_of = { disk = 5 }", "target"),
            ("min_trials = 6", "min_trials = 60", "min_trials"),
            ("\"60ms\"", "\"60 parsecs\"", "parsecs"),
            ("\"60ms\"", "\"2h\"", "an hour"),
            ("\"60ms\"", "\"60ms\"\ntime_of_point = \"800h\"", "30 days"),
            ("\"60ms\"", "\"60ms\"\ntime_of_point = 30", "line"),
            ("[1, \"all\"]", "[1, -1]", "line"),
            (good, "", "name"),
        ] {
            let bad = good.replace(from, to);
            let error = Profile::parse(&bad).unwrap_err();
            assert!(error.contains(word) && !error.contains('\n'), "{error}");
        }
    }
}
