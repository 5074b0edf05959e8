//! A check in CI: results that are slower than in the baseline, and requirements.

mod json;

use std::collections::BTreeMap;

use proofmark_model::{
    CheckedRequirement, Comparison, Decision, OVER_TIME_ONLY, Run, Verdict, check_id,
};
use quick_junit::{TestCase, TestCaseStatus};
use serde::Serialize;

use crate::comparison;
use crate::junit;
use crate::markdown::escape;
use crate::terminal::page::Page;
use crate::view::{Scale, clean, counted, grouped, percent};
use crate::{Format, Options, RenderError};

/// The writer of a check.
pub type Writer = fn(&Check, &Options) -> Result<String, RenderError>;

/// Every format of a check, in the order of `--help`.
pub const FORMATS: &[Format<Writer>] = &[
    Format { id: "terminal", write: |check, options| Ok(check.terminal(options)) },
    Format { id: "json", write: |check, _| check.json() },
    Format { id: "junit", write: |check, _| check.junit() },
    Format { id: "markdown", write: |check, _| Ok(check.markdown()) },
];

/// The requirements of a run, and its comparison with a baseline.
#[derive(Debug, Clone, Copy)]
pub struct Check<'a> {
    /// The run's name, and the run.
    run: (&'a str, &'a Run),
    requirements: &'a [CheckedRequirement],
    comparison: Option<&'a Comparison>,
    /// The reason why there is no baseline to compare with, where one was asked for.
    no_baseline: Option<&'a str>,
}

impl<'a> Check<'a> {
    /// Takes a run with its name, and its requirements.
    pub fn new(run: (&'a str, &'a Run), requirements: &'a [CheckedRequirement]) -> Self {
        let (comparison, no_baseline) = (None, None);
        Self { run, requirements, comparison, no_baseline }
    }

    /// Adds the comparison with the baseline, or the reason why there is no baseline.
    pub fn against(self, baseline: Result<&'a Comparison, &'a str>) -> Self {
        Self { comparison: baseline.ok(), no_baseline: baseline.err(), ..self }
    }

    /// Returns the conclusion: the worst of the requirements' and the comparison's. Without the
    /// baseline that was asked for it is undecided.
    pub fn decision(&self) -> Decision {
        let compared = self.comparison.map(Comparison::decision);
        let lacking = self.no_baseline.map(|_| Decision::Undecided);
        let required = self.requirements.iter().map(|c| c.decision);
        required.chain(compared).chain(lacking).max().unwrap_or(Decision::Met)
    }

    /// Writes the results that fail by their causes, and a line for each requirement.
    pub fn terminal(&self, options: &Options) -> String {
        let mut page = Page::new(options);
        page.out = self.comparison.map_or_else(String::new, |c| comparison::check(c, options));
        for line in self.no_baseline().into_iter().chain(self.requirements()) {
            page.wrap("", 2, &line);
        }
        page.out
    }

    /// Writes GitHub-flavoured Markdown, for a pull request or a ticket.
    pub fn markdown(&self) -> String {
        let compared = self.comparison.map(|c| comparison::markdown(std::slice::from_ref(c)));
        let mut out = compared.unwrap_or_else(|| {
            let (name, run) = self.run;
            let about = format!("{}: {}, {}", clean(name), run.words(), run.started.display());
            format!("{}\n", escape(&about))
        });
        out.extend(self.no_baseline().map(|why| format!("\n{}\n", escape(&why))));
        if !self.requirements.is_empty() {
            out += "\n## Requirements\n\n";
            out.extend(self.requirements().iter().map(|one| format!("- {}\n", escape(one))));
        }
        out
    }

    /// Writes JUnit XML: a suite of the requirements, one of each subsystem, a case for each
    /// result.
    ///
    /// # Errors
    /// If a value has no form in XML.
    pub fn junit(&self) -> Result<String, RenderError> {
        let mut suites = Vec::new();
        if !self.requirements.is_empty() {
            suites.push(junit::suite("requirements", self.requirements.iter().map(case).collect()));
        }
        let name = match self.comparison {
            Some(c) => {
                suites.extend(comparison::suites(c));
                format!("{} against {}", c.b.name, c.a.name)
            }
            None => format!("requirements of {}", self.run.0),
        };
        suites.extend(self.no_baseline.map(|why| {
            let case = TestCase::new("a baseline was found", junit::error("no baseline", why));
            junit::suite("comparison", vec![case])
        }));
        Ok(junit::write(&name, suites)?)
    }

    /// Writes one object of schema `proofmark.check/1`.
    ///
    /// # Errors
    /// If a value has no form in JSON.
    pub fn json(&self) -> Result<String, RenderError> {
        // Refuses a comparison that JSON cannot hold.
        self.comparison.map(comparison::json).transpose()?;
        Ok(serde_json::to_string_pretty(&json::Object::new(self))? + "\n")
    }

    /// Returns why there is no baseline: `? undecided: no baseline in the history ...`.
    fn no_baseline(&self) -> Option<String> {
        self.no_baseline.map(|why| format!("? undecided: {}", clean(why)))
    }

    /// Returns a line for each requirement, how to decide the undecided ones, and how many are met,
    /// missed and undecided.
    fn requirements(&self) -> Vec<String> {
        if self.requirements.is_empty() {
            return Vec::new();
        }
        let line = |c: &CheckedRequirement| {
            format!("{} {}: {}", mark(c.decision), clean(&c.requirement), evidence(c))
        };
        let sum = RequirementCounts::count(self.requirements).sentence();
        let all = self.requirements.iter().filter_map(advice).map(|text| (text, ()));
        let advice = grouped(all).into_iter().map(|(text, _)| text.to_owned());
        self.requirements.iter().map(line).chain(advice).chain([sum]).collect()
    }
}

/// Requirements by decision. One is met if all of its results meet it.
#[derive(Debug, Serialize)]
struct RequirementCounts {
    met: usize,
    missed: usize,
    undecided: usize,
}

impl RequirementCounts {
    fn count(checked: &[CheckedRequirement]) -> Self {
        let mut all: BTreeMap<&str, Decision> = BTreeMap::new();
        for c in checked {
            let worst = all.entry(&c.requirement).or_insert(c.decision);
            *worst = c.decision.max(*worst);
        }
        let count = |decision| all.values().filter(|d| **d == decision).count();
        let [met, missed, undecided] =
            [Decision::Met, Decision::Missed, Decision::Undecided].map(count);
        Self { met, missed, undecided }
    }

    fn sentence(&self) -> String {
        let Self { met, missed, undecided } = self;
        let all = counted((met + missed + undecided) as u64, "requirement");
        let other = |n: usize, word: &str| match n {
            0 => String::new(),
            n => format!(", {n} {word}"),
        };
        format!("{met} of {all} met{}{}.", other(*missed, "missed"), other(*undecided, "undecided"))
    }
}

/// Returns what to do about a requirement that is undecided. Without a figure, the reason says what
/// it lacks.
fn advice(c: &CheckedRequirement) -> Option<&'static str> {
    let text = match c.verdict {
        None if c.reason.as_deref() == Some(OVER_TIME_ONLY) => {
            "To decide: check a run of trials (proofmark run). A limit does not apply to a result over \
             time, whose lowest level is in its report."
        }
        None => "To decide: measure what was not measured, and check that run.",
        Some(verdict) if !verdict.is_undoubted() && c.checks.is_empty() => {
            "To decide: measure again what gave no result."
        }
        Some(verdict) if !verdict.is_undoubted() => {
            "To decide: follow the advice of `proofmark explain CHECK` for the check named, and \
             measure again."
        }
        Some(_) if c.value.is_none() => return None,
        Some(_) if c.ci95.is_none() => {
            "To decide: measure again with more trials (run --trials), of which a 95 % interval \
             needs at least 6, on a quiet machine (run --wait-quiet)."
        }
        Some(_) => {
            "To decide: measure again on a quiet machine (run --wait-quiet) or with more trials (run \
             --trials), or set a limit outside the interval."
        }
    };
    (c.decision == Decision::Undecided).then_some(text)
}

fn mark(decision: Decision) -> &'static str {
    match decision {
        Decision::Met => "✓ met",
        Decision::Undecided => "? undecided",
        Decision::Missed => "✗ missed",
    }
}

fn case(c: &CheckedRequirement) -> TestCase {
    let status = match c.decision {
        Decision::Met => TestCaseStatus::success(),
        Decision::Undecided => junit::error("undecided", &evidence(c)),
        Decision::Missed => junit::failure("missed", &evidence(c)),
    };
    TestCase::new(junit::text(&format!("{} ({})", c.requirement, c.title)), status)
}

/// Returns the result with its figure, and what the decision rests on: `Commit, 4 KiB, fdatasync,
/// p99 1.250 ms`.
fn evidence(c: &CheckedRequirement) -> String {
    let Some(value) = figure(c) else { return format!("{}: {}", clean(&c.title), no_figure(c)) };
    let mut text = format!("{}, {value}{}", clean(&c.title), doubts(c));
    let is_named = doubtful(c).is_some() && c.checks.is_empty();
    if let Some(reason) = c.reason.as_deref().filter(|_| !is_named) {
        text += &format!("; {}", clean(reason));
    }
    let interval = c.ci95.filter(|_| c.decision == Decision::Undecided);
    if let Some(ends) = interval.and_then(|ends| interval_of(c, ends)) {
        text += &format!("; its 95 % interval is {ends}");
    }
    text
}

/// The result's verdict, if a check or its failure puts the figure in doubt.
fn doubtful(c: &CheckedRequirement) -> Option<Verdict> {
    c.verdict.filter(|v| !v.is_undoubted())
}

fn ids(ids: &[String]) -> String {
    ids.iter().map(|id| clean(id)).collect::<Vec<_>>().join(", ")
}

/// Returns what makes a figure doubtful, or disturbed it.
fn doubts(c: &CheckedRequirement) -> String {
    let is_tail = c.disturbances.iter().any(|id| id == check_id::DISTURBED_TAIL);
    match doubtful(c) {
        Some(verdict) if c.checks.is_empty() => {
            let reason = clean(c.reason.as_deref().unwrap_or_default());
            format!(", but the result is {verdict} ({reason})")
        }
        Some(verdict) => format!(", but the result is {verdict} ({})", ids(&c.checks)),
        // A figure that meets its limit needs no excuse.
        None if c.disturbances.is_empty() || c.decision == Decision::Met => String::new(),
        None if is_tail => {
            format!(", which may be that of a disturbance ({})", ids(&c.disturbances))
        }
        None => format!(", disturbed by {}", ids(&c.disturbances)),
    }
}

/// Returns why there is no figure.
fn no_figure(c: &CheckedRequirement) -> String {
    let (what, reason) = (clean(&c.statistic), clean(c.reason.as_deref().unwrap_or_default()));
    match doubtful(c) {
        None => reason,
        Some(verdict) if c.checks.is_empty() => {
            format!("no {what}: the result is {verdict} ({reason})")
        }
        Some(verdict) if reason.is_empty() => {
            format!("no {what}: the result is {verdict} ({})", ids(&c.checks))
        }
        // The reason for the missing figure comes before the doubt.
        Some(verdict) => {
            format!("no {what}: {reason}; the result is {verdict} ({})", ids(&c.checks))
        }
    }
}

fn interval_of(c: &CheckedRequirement, [low, high]: [f64; 2]) -> Option<String> {
    let Some(unit) = c.unit else {
        return Some(format!("{} to {} %", percent(low)?, percent(high)?));
    };
    let scale = Scale::for_largest([low, high], unit);
    Some(format!("{} to {}", scale.number(low)?, scale.with_label(high)?))
}

/// Returns `delivered 82.44 GFLOP/s (attainable 118.1)`.
fn figure(c: &CheckedRequirement) -> Option<String> {
    let (value, name) = (c.value?, clean(&c.statistic));
    let Some(unit) = c.unit else { return Some(format!("{name} {} %", percent(value)?)) };
    let scale = Scale::for_largest([value], unit);
    let headline = c.headline.and_then(|h| {
        let number = scale.number(h.value)?;
        Some(format!(" ({} {number})", h.figure.as_str()))
    });
    Some(format!("{name} {}{}", scale.with_label(value)?, headline.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, HeadlineFigure, Params, Unit, key};

    use super::*;

    use Decision::{Met, Missed, Undecided};

    fn checked(decision: Decision, value: Option<f64>, verdict: Verdict) -> CheckedRequirement {
        CheckedRequirement {
            requirement: "disk.fsync.p99<10ms".into(),
            decision,
            title: "Commit, 4 KiB, fdatasync".into(),
            params: Some(Params::default().with(key::THREADS, 1)),
            statistic: "p99".into(),
            value,
            ci95: value.map(|v| [0.9 * v, 1.1 * v]),
            unit: Some(Unit::Second),
            headline: None,
            verdict: Some(verdict),
            checks: if verdict == Verdict::Valid { vec![] } else { vec!["steal".into()] },
            disturbances: Vec::new(),
            reason: value.is_none().then(|| "no such figure in the result".into()),
        }
    }

    #[test]
    fn too_few_trials_are_named_with_what_disturbed_them() {
        let few = CheckedRequirement {
            ci95: None,
            disturbances: vec!["other_cpu".into()],
            reason: Some("3 trials: too few without an interval, 4 are needed".into()),
            ..checked(Undecided, Some(1.25e-2), Verdict::NoInterval)
        };
        assert_eq!(
            evidence(&few),
            "Commit, 4 KiB, fdatasync, p99 12.50 ms, disturbed by other_cpu; 3 trials: too few without \
             an interval, 4 are needed"
        );
        let over_time = CheckedRequirement {
            verdict: None,
            reason: Some(OVER_TIME_ONLY.into()),
            ..checked(Undecided, None, Verdict::Valid)
        };
        assert!(advice(&over_time).unwrap().contains("does not apply to a result over time"));
        let text = advice(&few).unwrap();
        assert!(text.contains("more trials (run --trials)") && !text.contains("limit"), "{text}");
        let wide = checked(Undecided, Some(1.25e-2), Verdict::Valid);
        assert!(advice(&wide).unwrap().contains("a limit outside the interval"));
        assert_eq!(advice(&checked(Undecided, None, Verdict::Valid)), None, "its reason says it");
    }

    #[test]
    fn each_form_says_what_was_found() {
        let all = [
            checked(Met, Some(1.25e-3), Verdict::Coarse),
            checked(Undecided, Some(1.25e-2), Verdict::Suspect),
            checked(Undecided, None, Verdict::Valid),
            checked(Undecided, None, Verdict::Suspect),
            CheckedRequirement {
                params: None,
                verdict: None,
                reason: Some("not measured".into()),
                ..checked(Undecided, None, Verdict::Valid)
            },
            CheckedRequirement {
                checks: Vec::new(),
                reason: Some("the worker was ended by SIGILL: gone".into()),
                ..checked(Undecided, None, Verdict::Invalid)
            },
            CheckedRequirement {
                requirement: "cpu.flops>=100GFLOP/s".into(),
                title: "FP peak, 2 CPUs".into(),
                statistic: "delivered".into(),
                unit: Some(Unit::FlopPerSecond),
                headline: Some(HeadlineFigure { figure: FigureKind::Attainable, value: 118.1e9 }),
                disturbances: vec!["steal".into(), "other_cpu".into()],
                ..checked(Missed, Some(82.44e9), Verdict::Valid)
            },
            CheckedRequirement {
                reason: Some("3 trials: too few without an interval, 4 are needed".into()),
                ci95: None,
                ..checked(Undecided, Some(9e-3), Verdict::NoInterval)
            },
            checked(Undecided, Some(9.5e-3), Verdict::Valid),
            CheckedRequirement {
                requirement: "disk.rand_read>=50000IOPS".into(),
                title: "Random read, 4 KiB, depth 32".into(),
                statistic: "iops".into(),
                unit: Some(Unit::OpPerSecond),
                disturbances: vec!["other_cpu".into()],
                reason: Some("3 trials: too few without an interval, 4 are needed".into()),
                ci95: None,
                ..checked(Undecided, Some(48e3), Verdict::NoInterval)
            },
            CheckedRequirement {
                requirement: "disk.fsync.p99<1ms".into(),
                disturbances: vec!["disturbed_tail".into()],
                reason: Some("no interval of p99 from 3 trials (too few)".into()),
                ci95: None,
                ..checked(Missed, Some(9e-3), Verdict::NoInterval)
            },
            CheckedRequirement {
                reason: Some("3 trials: too few without an interval, 4 are needed".into()),
                ci95: None,
                ..checked(Undecided, Some(9e-3), Verdict::Suspect)
            },
        ];
        let run = proofmark_model::testing::run(Vec::new());
        let check = Check::new(("x", &run), &all);
        let wide = |width| check.terminal(&Options { width, color: false });
        insta::assert_snapshot!(
            [wide(60), wide(200), check.markdown(), check.junit().unwrap()].join("\n")
        );
        for width in [40, 60, 80, 100] {
            let lines = wide(width);
            let most = lines.lines().map(textwrap::core::display_width).max();
            assert!(most <= Some(width), "{lines}");
        }
        let json: serde_json::Value = serde_json::from_str(&check.json().unwrap()).unwrap();
        assert_eq!(json["requirements"].as_array().unwrap().len(), all.len());
        assert_eq!(json["outcome"], "missed");
        assert_eq!(json["counts"]["requirements"]["missed"], 2);
    }

    #[test]
    fn a_requirement_counts_once_and_is_met_by_all_its_results() {
        let of = |requirement: &str, decision| CheckedRequirement {
            requirement: requirement.into(),
            ..checked(decision, Some(1e-3), Verdict::Valid)
        };
        let mut all = vec![of("a<1s", Missed), of("a<1s", Met), of("b<1s", Met), of("b<1s", Met)];
        let run = proofmark_model::testing::run(Vec::new());
        let last = |all: &[_]| Check::new(("x", &run), all).requirements().last().cloned();
        assert_eq!(last(&all).as_deref(), Some("1 of 2 requirements met, 1 missed."));
        all.extend([of("b<1s", Undecided), of("c<1s", Met)]);
        assert_eq!(last(&all).as_deref(), Some("1 of 3 requirements met, 1 missed, 1 undecided."));
    }
}
