//! Requirements on a run's figures: `disk.fsync.p99 < 10ms`, `cpu.flops >= 100 GFLOP/s`.
//!
//! A requirement is about the result that answers for its workload, or about every result with the
//! parameters in brackets. A figure that is missing, or in a result that is not valid, misses it; so
//! does a configuration that was planned and not measured.

use std::str::FromStr;

use proofmark_model::{
    CheckedRequirement, Ending, Measurement, Run, Severity, Subsystem, Unit, Verdict, answer,
    split_unit,
};

/// One requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    text: String,
    /// Id of the workload.
    pub workload: String,
    /// Parameters in brackets, by name.
    params: Vec<(String, String)>,
    statistic: Statistic,
    operator: Operator,
    amount: Amount,
}

/// Which number of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    Delivered,
    Attainable,
    Typical,
    Efficiency,
    Iops,
    Mean,
    P50,
    P90,
    P99,
    P999,
    Max,
}

/// Statistics by the word after the last point of a requirement's figure.
const STATISTICS: [(&str, Statistic); 11] = [
    ("delivered", Statistic::Delivered),
    ("attainable", Statistic::Attainable),
    ("typical", Statistic::Typical),
    ("efficiency", Statistic::Efficiency),
    ("iops", Statistic::Iops),
    ("mean", Statistic::Mean),
    ("p50", Statistic::P50),
    ("p90", Statistic::P90),
    ("p99", Statistic::P99),
    ("p999", Statistic::P999),
    ("max", Statistic::Max),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// Operators as they are written, longest first.
const OPERATORS: [(&str, Operator); 4] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Below),
    (">", Operator::Above),
];

/// What a number is in; `None` is a share.
type Dimension = Option<Unit>;

/// A number in a base unit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Amount {
    value: f64,
    dimension: Dimension,
}

const FORM: &str = "write FIGURE OPERATOR VALUE, as in disk.fsync.p99<10ms, cpu.flops>=100GFLOP/s or \
                    disk.rand_read[queue_depth=1].p99<=1ms";

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = text.find(['<', '>']).ok_or(FORM)?;
        let (figure, rest) = text.split_at(at);
        let is = |(word, _): &&(&str, Operator)| rest.starts_with(word);
        let (word, operator) = OPERATORS.iter().find(is).ok_or(FORM)?;
        let amount = amount(rest[word.len()..].trim())?;
        let (workload, params, statistic) = parse_figure(figure.trim())?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self { text, workload, params, statistic, operator: *operator, amount })
    }
}

type ParsedFigure = (String, Vec<(String, String)>, Statistic);

/// `disk.rand_read[queue_depth=1].p99`.
fn parse_figure(text: &str) -> Result<ParsedFigure, String> {
    let (workload, params, rest) = match text.split_once('[') {
        Some((workload, rest)) => {
            let (inner, rest) = rest.split_once(']').ok_or("] is missing after [")?;
            let pair = |one: &str| {
                let (name, value) = one.split_once('=').ok_or("write [parameter=value,...]")?;
                Ok::<_, &str>((name.trim().to_owned(), value.trim().to_owned()))
            };
            let params = inner.split(',').map(pair).collect::<Result<Vec<_>, _>>()?;
            (workload, params, rest.strip_prefix('.').unwrap_or(rest))
        }
        None => match text.rsplit_once('.') {
            Some((workload, word)) if STATISTICS.iter().any(|(s, _)| *s == word) => {
                (workload, Vec::new(), word)
            }
            _ => (text, Vec::new(), ""),
        },
    };
    let known = STATISTICS.iter().find(|(word, _)| *word == rest).map(|(_, s)| *s);
    let statistic = match (rest, known) {
        ("", _) => Statistic::Delivered,
        (_, Some(statistic)) => statistic,
        (word, None) => {
            let all: Vec<&str> = STATISTICS.iter().map(|(word, _)| *word).collect();
            return Err(format!("no statistic '{word}'; there are {}", all.join(", ")));
        }
    };
    if workload.is_empty() {
        return Err(FORM.to_owned());
    }
    Ok((workload.to_owned(), params, statistic))
}

fn amount(text: &str) -> Result<Amount, String> {
    let (number, unit) = split_unit(text);
    let number: f64 = number.parse().map_err(|_| format!("'{text}' is no number with a unit"))?;
    if unit == "%" {
        return Ok(Amount { value: number / 100.0, dimension: None });
    }
    let found = Unit::TYPED.iter().find(|(word, ..)| *word == unit);
    let (_, dimension, factor) = found.ok_or_else(|| {
        let all: Vec<&str> = Unit::TYPED.iter().map(|(word, ..)| *word).collect();
        format!("no unit '{unit}'; there are {}, %", all.join(", "))
    })?;
    Ok(Amount { value: number * factor, dimension: Some(*dimension) })
}

impl Requirement {
    /// Holds it against a run.
    ///
    /// # Errors
    /// If its unit is not that of its figure.
    pub fn check(&self, run: &Run) -> Result<Vec<CheckedRequirement>, String> {
        let measured = || {
            let of_workload = |m: &&Measurement| m.workload == self.workload && m.series.is_none();
            run.measurements.iter().filter(of_workload)
        };
        let lacking = self.lacking(run, measured().collect());
        let all: Vec<&Measurement> = measured().chain(&lacking).collect();
        let chosen: Vec<&Measurement> = match self.params.is_empty() {
            true => answer(run, &all).into_iter().collect(),
            false => all.into_iter().filter(|m| self.fits(m)).collect(),
        };
        if chosen.is_empty() {
            let none = CheckedRequirement {
                requirement: self.text.clone(),
                met: false,
                params: None,
                value: None,
                unit: self.amount.dimension,
                verdict: None,
                checks: Vec::new(),
            };
            return Ok(vec![none]);
        }
        chosen.into_iter().map(|m| self.held_against(run, m)).collect()
    }

    /// The configurations of the workload that were planned and not measured, as results without a
    /// figure: if one of them answers, no other may in its place.
    fn lacking(&self, run: &Run, measured: Vec<&Measurement>) -> Vec<Measurement> {
        let Some(spec) = run.workloads.get(&self.workload) else { return Vec::new() };
        let over_time = |at: usize| run.plan.series.iter().any(|s| s.point == at);
        let planned = run.plan.points.iter().enumerate();
        let planned = planned.filter(|(at, p)| p.workload == self.workload && !over_time(*at));
        let lacking = planned.filter(|(_, p)| measured.iter().all(|m| m.params != p.params));
        lacking.map(|(_, p)| Measurement::new(spec, p.params.clone())).collect()
    }

    fn fits(&self, m: &Measurement) -> bool {
        self.params.iter().all(|(name, wanted)| {
            let Some(value) = m.params.get(name) else { return false };
            let bytes = proofmark_model::parse_size(wanted).ok();
            value.to_string() == *wanted || bytes.is_some() && m.params.int(name) == bytes
        })
    }

    fn held_against(&self, run: &Run, m: &Measurement) -> Result<CheckedRequirement, String> {
        // Random I/O is reported in operations, and measured in bytes.
        let random = run.workloads.get(&m.workload).is_some_and(|s| s.work.is_random());
        let iops = random
            && m.subsystem == Subsystem::Disk
            && m.unit == Unit::BytePerSecond
            && self.amount.dimension == Some(Unit::OpPerSecond);
        let statistic = match self.statistic {
            Statistic::Delivered if iops => Statistic::Iops,
            other => other,
        };
        let unit = dimension(statistic, m);
        if unit != self.amount.dimension {
            let words = unit.map_or("a share, in %".to_owned(), |u| format!("in {u}"));
            return Err(format!("{}: the figure is {words}", self.text));
        }
        let value = number(statistic, m).filter(|v| v.is_finite());
        let reached = value.is_some_and(|v| self.operator.holds(v, self.amount.value));
        let checks = m.findings.iter().filter(|f| f.severity > Severity::Note);
        let mut checks: Vec<String> = checks.map(|f| f.check.to_string()).collect();
        checks.dedup();
        Ok(CheckedRequirement {
            requirement: self.text.clone(),
            met: reached && m.verdict == Verdict::Valid,
            params: Some(m.params.clone()),
            value,
            unit,
            verdict: (m.ending != Ending::Unfinished || !m.trials.is_empty()).then_some(m.verdict),
            checks,
        })
    }
}

impl Operator {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
        }
    }
}

fn dimension(statistic: Statistic, m: &Measurement) -> Dimension {
    match statistic {
        Statistic::Delivered | Statistic::Attainable | Statistic::Typical => Some(m.unit),
        Statistic::Efficiency => None,
        Statistic::Iops => Some(Unit::OpPerSecond),
        _ => Some(Unit::Second),
    }
}

fn number(statistic: Statistic, m: &Measurement) -> Option<f64> {
    let summary = m.summary.as_ref();
    let latency = m.latency.as_ref();
    match statistic {
        Statistic::Delivered => summary?.delivered.value,
        Statistic::Attainable => summary?.attainable.value,
        Statistic::Typical => summary?.typical.value,
        Statistic::Efficiency => m.efficiency,
        Statistic::Iops => match m.unit {
            Unit::BytePerSecond => Some(summary?.delivered.value? / m.params.block_bytes()?),
            Unit::OpPerSecond => summary?.delivered.value,
            _ => None,
        },
        Statistic::Mean => Some(latency?.mean),
        Statistic::P50 => Some(latency?.p50),
        Statistic::P90 => latency?.p90,
        Statistic::P99 => latency?.p99,
        Statistic::P999 => latency?.p999,
        Statistic::Max => Some(latency?.max),
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::testing::{measurement, run, spec};
    use proofmark_model::{Access, Finding, Latency, Params};

    use super::*;

    fn machine() -> Run {
        let flops = spec("cpu.flops", Unit::FlopPerSecond);
        let mut commit = spec("disk.fsync", Unit::OpPerSecond);
        commit.subsystem = Subsystem::Disk;
        let mut read = spec("disk.rand_read", Unit::BytePerSecond);
        read.subsystem = Subsystem::Disk;
        read.work.access = Some(Access::Random);
        let of = |depth: u64| Params::default().with("queue_depth", depth).with("block_size", 4096);
        let mut all = vec![
            measurement(&flops, Params::default(), &[120e9; 8]),
            measurement(&commit, Params::default(), &[2500.0; 8]),
            measurement(&read, of(1), &[40.96e6; 8]),
            measurement(&read, of(32), &[409.6e6; 8]),
        ];
        for m in &mut all {
            m.verdict = Verdict::Valid;
            m.latency = Some(Latency {
                unit: "s".into(),
                count: 1000,
                min: 1e-4,
                mean: 4e-4,
                p50: 3.5e-4,
                p90: Some(5e-4),
                p99: Some(1e-3),
                p999: None,
                max: 0.02,
                buckets: Vec::new(),
            });
        }
        let mut run = run(all);
        for spec in [flops, commit, read] {
            run.workloads.insert(spec.id.to_string(), spec);
        }
        run
    }

    fn met(run: &Run, text: &str) -> Vec<bool> {
        let checked = text.parse::<Requirement>().unwrap().check(run).unwrap();
        checked.iter().map(|c| c.met).collect()
    }

    #[test]
    fn every_operator_statistic_and_unit() {
        let run = machine();
        for (text, expected) in [
            ("cpu.flops>=120GFLOP/s", true),
            ("cpu.flops > 120 GFLOP/s", false),
            ("cpu.flops <= 0.12TFLOP/s", true),
            ("cpu.flops < 120000 MFLOP/s", false),
            ("cpu.flops.delivered>=1FLOP/s", true),
            ("disk.fsync.p99<=1ms", true),
            ("disk.fsync.p99<1000us", false),
            ("disk.fsync.p50<351000ns", true),
            ("disk.fsync.p90<0.0006s", true),
            ("disk.fsync.mean<400.1\u{b5}s", true),
            ("disk.fsync.max<20ms", false),
            ("disk.fsync.p999<1s", false),
            ("disk.fsync>=2500op/s", true),
            ("disk.fsync>2.5kop/s", false),
            ("disk.fsync.efficiency>=50%", false),
            ("cpu.flops.typical>=1GFLOP/s", false),
            ("cpu.linpack>=1GFLOP/s", false),
        ] {
            assert_eq!(met(&run, text), [expected], "{text}");
        }
        for (text, expected) in [
            ("disk.rand_read[queue_depth=32]>=100kIOPS", vec![true]),
            ("disk.rand_read[queue_depth=1].iops>=10001IOPS", vec![false]),
            ("disk.rand_read[block_size=4KB]>=40MB/s", vec![true, true]),
            ("disk.rand_read[block_size=4096]>=400000KiB/s", vec![false, true]),
            ("disk.rand_read[queue_depth=64]>=1MB/s", vec![false]),
        ] {
            assert_eq!(met(&run, text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_valid_misses_any_requirement() {
        for verdict in [Verdict::Suspect, Verdict::Invalid] {
            let mut run = machine();
            run.measurements[0].verdict = verdict;
            let found = Finding::new("steal", Severity::Suspect, "taken", "");
            run.measurements[0].findings = vec![found];
            let checked =
                "cpu.flops>=1GFLOP/s".parse::<Requirement>().unwrap().check(&run).unwrap();
            assert!(!checked[0].met && checked[0].checks == ["steal"], "{checked:?}");
        }
    }

    #[test]
    fn another_configuration_does_not_answer_for_one_that_was_not_measured() {
        let mut run = machine();
        run.plan.points = run.measurements.iter().map(Measurement::point).collect();
        run.workloads.get_mut("disk.rand_read").unwrap().axis = Some("queue_depth".into());
        let deepest = run.measurements.pop().unwrap();
        for text in [
            "disk.rand_read>=1MB/s",
            "disk.rand_read[queue_depth=32]>=1MB/s",
            "disk.rand_read.iops>=1IOPS",
        ] {
            let checked = text.parse::<Requirement>().unwrap().check(&run).unwrap();
            let [one] = &checked[..] else { panic!("{checked:?}") };
            assert!(!one.met && one.value.is_none() && one.verdict.is_none(), "{one:?}");
            assert_eq!(one.params.as_ref(), Some(&deepest.params));
        }
        assert_eq!(met(&run, "disk.rand_read[block_size=4096]>=1MB/s"), [true, false]);
        assert_eq!(met(&run, "disk.rand_read[queue_depth=1]>=1MB/s"), [true]);
        run.measurements.push(deepest);
        assert_eq!(met(&run, "disk.rand_read>=1MB/s"), [true]);
    }

    #[test]
    fn mistakes_are_told() {
        let told = |text: &str| text.parse::<Requirement>().unwrap_err();
        assert!(told("cpu.flops").contains("FIGURE OPERATOR VALUE"));
        assert!(told("cpu.flops>=fast").contains("no number"));
        assert!(told("cpu.flops>=1GFLOPS").contains("no unit 'GFLOPS'"));
        assert!(told("disk.rand_read[queue_depth=1].p98<1ms").contains("no statistic 'p98'"));
        assert!(told("disk.rand_read[queue_depth].p99<1ms").contains("parameter=value"));
        assert!(told(">=1ms").contains("FIGURE OPERATOR VALUE"));
        let unit = "cpu.flops>=1ms".parse::<Requirement>().unwrap().check(&machine());
        assert_eq!(unit.unwrap_err(), "cpu.flops>=1ms: the figure is in FLOP/s");
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".{0,40}", tail in "[<>=.\\[\\]a-z0-9%]{0,20}") {
            let _ = format!("{text}{tail}").parse::<Requirement>();
        }
    }
}
