//! Judges all results of a run, in the order of their dependences.

use proofmark_model::{
    Access, Measurement, Precision, Property, RawMeasurement, RawRun, Run, Verdict, WorkloadSpec,
};

use crate::checks::Check;
use crate::execution::Execution;
use crate::words::counted;
use crate::{
    Context, bottleneck, ceilings, checks, efficiency, imported, placement, quota, references,
    series, width,
};

/// Judges a run: a result gets its statistics, ceiling, efficiency, bottleneck, findings and
/// verdict, and the reason for each part that is missing. A reference tool gets its efficiency,
/// findings and verdict, which change no verdict of proofmark's own results. The function reads and
/// keeps nothing: the same run is always judged the same.
pub fn judge(raw: &RawRun) -> Run {
    let (specs, policy) = (&raw.workloads, &raw.plan.policy);
    let ctx = Context {
        host: &raw.host,
        specs,
        policy,
        others: &[],
        programs: raw.other_programs(),
        imported: raw.imported.is_some(),
    };
    let mut all: Vec<_> = raw.measurements.iter().map(|m| ctx.summarise(m)).collect();
    let (cpu_placements, each) = placement::derive_all(policy, &all);
    all.iter_mut().zip(each).for_each(|(m, placements)| m.cpu_placements = placements);
    let order = ctx.order(&all);
    order.iter().for_each(|i| ctx.examine(&mut all, *i));
    // The bottleneck of a result also depends on the results after it.
    order.iter().for_each(|i| ctx.conclude(&mut all, *i));
    Run { cpu_placements, ..raw.with_measurements(all) }
}

impl Context<'_> {
    /// The same context with these results.
    fn among<'b>(&'b self, others: &'b [Measurement]) -> Context<'b> {
        Context { others, ..*self }
    }

    /// Returns the places of the declared results, each after those that its checks and ceilings
    /// use. Those that give the latency of memory, on which ceilings rest, come before all others,
    /// sequential order before random, few threads before many.
    fn order(&self, all: &[Measurement]) -> Vec<usize> {
        let stage = |m: &Measurement, spec: &WorkloadSpec| match spec.work.access {
            _ if spec.role.gives(Property::LoadLatency) => (0, m.params.threads()),
            Some(Access::Random) => (2, m.params.threads()),
            _ => (1, m.params.threads()),
        };
        let stage = |i: usize| Some((stage(&all[i], self.specs.get(&all[i].workload)?), i));
        let mut order: Vec<_> = (0..all.len()).filter_map(stage).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, i)| i).collect()
    }

    /// Returns the raw result with its statistics, not judged yet.
    fn summarise(&self, raw: &RawMeasurement) -> Measurement {
        let m = raw.unjudged(raw.summary(self.specs.get(&raw.workload), self.policy));
        Measurement { summary: quota::as_recorded(self.host, &m), ..m }
    }

    /// Fills in the parts of a result on which its verdict rests.
    pub(crate) fn examine(&self, all: &mut [Measurement], i: usize) {
        all[i].series = series::analyse(&self.among(all), &all[i]);
        match ceilings::derive(&self.among(all), &all[i]) {
            Ok(ceiling) => all[i].ceiling = Some(ceiling),
            Err(reason) => note_missing(&mut all[i], "ceiling", reason),
        }
        match efficiency(&all[i]) {
            Ok(value) => all[i].efficiency = Some(value),
            Err(reason) => note_missing(&mut all[i], "efficiency", reason),
        }
        let tools = std::mem::take(&mut all[i].references);
        let judged = |r| references::judged(&self.among(all), &all[i], r);
        all[i].references = tools.into_iter().map(judged).collect();
        // In order: a later check may use the findings of an earlier one.
        let applies = |check: &&Check| !self.imported || imported::is_applicable(check.id);
        for check in checks::known().filter(applies) {
            let examine = check.examine.for_ours();
            let Some(finding) = examine(&self.among(all), &all[i]) else { continue };
            let finding = if self.imported { imported::with_tool_advice(finding) } else { finding };
            all[i].findings.push(finding);
            if check.id == checks::STOP_AFTER {
                break;
            }
        }
    }

    /// Returns the precision of the headline; `None` without an interval, or if it spans several
    /// levels.
    fn precision(&self, m: &Measurement) -> Option<Precision> {
        let half_width = m.summary.as_ref()?.half_width().filter(|_| !series::has_changes(m))?;
        let target = self.policy.target_for(m.subsystem);
        Some(Precision { half_width, target, reached: half_width <= target })
    }

    /// Names the bottleneck of a result, and derives its verdict from its findings.
    pub(crate) fn conclude(&self, all: &mut [Measurement], i: usize) {
        match bottleneck::name(&self.among(all), &all[i]) {
            Ok(bottleneck) => all[i].bottleneck = Some(bottleneck),
            Err(reason) => note_missing(&mut all[i], "bottleneck", reason),
        }
        let execution = Execution::derive(&self.among(all), &all[i]);
        all[i].precision = self.precision(&all[i]);
        let width = width::classify(&self.among(all), &all[i]);
        all[i].verdict = Verdict::from_findings(&all[i].findings).with_width(width);
        explain_what_is_missing(&mut all[i], &execution);
    }
}

fn note_missing(m: &mut Measurement, part: &str, reason: String) {
    m.missing.insert(part.to_owned(), reason);
}

/// Gives each null part its reason, and no other part one.
fn explain_what_is_missing(m: &mut Measurement, execution: &Execution) {
    let trials = m.trials.len();
    let no_trial = m.ending.words();
    let or = |why| if trials == 0 { no_trial.as_str() } else { why };
    let summary = m.summary.as_ref();
    for (part, absent, reason) in [
        ("summary", summary.is_none(), or("the trials' values cannot be summarised")),
        (
            "summary.trials.sd",
            summary.is_some_and(|s| s.trials.sd.is_none()),
            "one trial has no standard deviation",
        ),
        ("precision", m.precision.is_none(), or(&no_precision(m))),
        ("latency", m.latency.is_none(), execution.no_latency),
        ("verification", m.verification.is_none(), or(execution.no_verification)),
        ("ceiling", m.ceiling.is_none(), &no_trial),
        ("efficiency", m.efficiency.is_none(), &no_trial),
        ("bottleneck", m.bottleneck.is_none(), &no_trial),
        ("references", m.references.is_empty(), "no reference tool was run"),
    ] {
        if absent {
            // A recorded reason is more specific.
            m.missing.entry(part.to_owned()).or_insert_with(|| reason.to_owned());
        } else {
            m.missing.remove(part);
        }
    }
}

/// The reason why a result with trials has no precision.
fn no_precision(m: &Measurement) -> String {
    match series::has_changes(m) {
        true => "the interval spans several levels over time, so it is not a precision".to_owned(),
        false => format!("{}, no interval", counted(m.trials.len(), "trial")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proofmark_model::{Counterpart, Round};

    use super::*;
    use crate::raw_of;
    use crate::testing::*;

    /// Results that depend on others: a latency that steal disturbed, one thread that a quota
    /// limited, sequential blocks, larger problems, the clock.
    fn all() -> Vec<Measurement> {
        let stolen = |m: Measurement| each(m, |_, t| t.conditions.steal_s = Some(0.2 * t.seconds));
        let held =
            |m: Measurement| each(m, |_, t| t.conditions.throttled_s = Some(0.5 * t.seconds));
        let faster = with_values(blocks("rand_read", 8192), &around(2e10));
        vec![
            stream("read", 2),
            stream("read", 1),
            stream("triad", 2),
            stolen(latency(1 << 30, 1e-7)),
            faster,
            stolen(blocks("seq_read", 8192)),
            held(flops(1)),
            with_values(flops(2), &around(3.0 * 64e9)),
            at_rate(linpack(1000, 2), 64e9),
            linpack(10_000, 2),
            sweep("copy", 2, 1 << 20),
            with_values(disk("rand_read", 4096, "none"), &around(9e9)),
            disk("seq_read", 4096, "none"),
            rand_read(32),
            clock(4.4e9),
        ]
    }

    fn judged(measurements: Vec<Measurement>) -> Vec<Measurement> {
        judge(&raw_of(&run(host_with_caches(), measurements))).measurements
    }

    #[test]
    fn the_precision_compares_the_headline_with_the_target() {
        let in_rounds = |m: Measurement| {
            each(m, |_, t| {
                let round = Round { seconds: t.seconds, delivered: t.value, ..Round::default() };
                let typical = Some(t.value);
                t.rounds = vec![Round { typical, attainable: typical, clean_s: 0.1, ..round }];
            })
        };
        let fine = in_rounds(stream("triad", 1));
        let rough: Vec<f64> = around(1e10).iter().map(|v| 1e10 + 100.0 * (v - 1e10)).collect();
        let rough = in_rounds(with_values(stream("triad", 2), &rough));
        let mut alone = stream("triad", 4);
        alone.trials.truncate(3);
        alone.summary = summary(&[1e10, 2e10, 3e10]);
        let all = judged(vec![fine, rough, alone]);
        let half = all[0].summary.as_ref().unwrap().half_width().unwrap();
        assert!(half < 0.01, "{half}");
        assert_eq!(
            all[0].precision,
            Some(Precision { half_width: half, target: 0.03, reached: true })
        );
        assert!(all[1].precision.is_some_and(|p| p.half_width > 0.03 && !p.reached));
        assert_eq!((all[1].verdict, all[2].precision), (Verdict::Valid, None));
        assert!(all[2].missing["precision"].contains("no interval"), "{:?}", all[2].missing);
        assert!(!all[0].missing.contains_key("precision"));
    }

    #[test]
    fn no_judgement_depends_on_a_later_one() {
        let once = judged(all());
        let mut backwards = all();
        backwards.reverse();
        let mut backwards = judged(backwards);
        backwards.reverse();
        for (how, other) in [("again", judged(once.clone())), ("in another order", backwards)] {
            assert_eq!(once, other, "judged {how}");
        }
        let bounded_by = once[0].ceiling.as_ref().map(|c| c.id.as_str());
        assert_eq!(bounded_by, Some("memory.dram"), "the latency was disturbed itself");
        let found = |m: &Measurement, id: &str| m.findings.iter().any(|f| f.check == id);
        assert!(found(&once[4], "random_faster") && found(&once[11], "random_faster"));
        assert!(!found(&once[7], "scaling"), "one thread was throttled");
        assert_eq!(once[8].bottleneck.as_ref().unwrap().resource, "problem size");
    }

    #[test]
    fn a_workload_is_known_by_what_it_declares_and_not_by_its_name() {
        let names: BTreeMap<String, String> = proofmark_workloads::ALL
            .iter()
            .enumerate()
            .map(|(i, w)| (w.spec().id.to_string(), format!("w{i}")))
            .collect();
        let mut run = run(host_with_caches(), all());
        run.measurements.iter_mut().for_each(|m| m.workload = names[&m.workload].clone());
        let renamed = |c: &Counterpart| Counterpart {
            workload: names[&*c.workload].clone().into(),
            ..c.clone()
        };
        run.workloads = std::mem::take(&mut run.workloads)
            .into_values()
            .map(|mut spec| {
                spec.id = names[&*spec.id].clone().into();
                spec.role.counterparts = spec.role.counterparts.iter().map(renamed).collect();
                (spec.id.to_string(), spec)
            })
            .collect();
        let run = judge(&raw_of(&run));
        for (named, plain) in run.measurements.iter().zip(judged(all())) {
            let ids = |m: &Measurement| -> Vec<(String, _)> {
                m.findings.iter().map(|f| (f.check.to_string(), f.severity)).collect()
            };
            assert_eq!(ids(named), ids(&plain), "{}", plain.workload);
            assert_eq!(named.verdict, plain.verdict, "{}", plain.workload);
            let ceiling = |m: &Measurement| m.ceiling.clone().map(|c| (c.id, c.value));
            assert_eq!(ceiling(named), ceiling(&plain), "{}", plain.workload);
            assert_eq!(named.efficiency, plain.efficiency, "{}", plain.workload);
            let resource = |m: &Measurement| m.bottleneck.clone().map(|b| b.resource);
            assert_eq!(resource(named), resource(&plain), "{}", plain.workload);
        }
    }
}
