//! Names the resource that held a number down, with the figures that show it.
//!
//! What took the CPU away comes first: a quota, other processes, the hypervisor.
//! Then, if the number is near its ceiling, what the ceiling's own rule says that it is
//! made of. If neither, nobody is named: a limiter that is guessed is worse than none.

use proofmark_model::{Limiter, Measurement, Severity};

use crate::capacity::Capacity;
use crate::{Context, ceilings};

/// From this share of its ceiling on, the ceiling's resource is the limit.
const NEAR: f64 = 0.9;

/// Share of time lost to interrupts from which on it is worth telling.
const TOLD: f64 = 0.001;

/// Checks that say who took the CPU, and what the resource is then called.
const TAKERS: &[(&str, &str)] = &[
    ("throttled", "CPU quota"),
    ("other_cpu", "competing processes"),
    ("steal", "steal time"),
    ("swap", "memory (swapping)"),
];

/// The limiter of a measurement whose ceiling, efficiency and findings are filled in.
///
/// # Errors
/// Why none can be named.
pub(crate) fn name(ctx: &Context, m: &Measurement) -> Result<Limiter, String> {
    if m.trials.is_empty() {
        return Err("no trial was completed".to_owned());
    }
    if let Some(limiter) = taken_away(m) {
        return Ok(limiter);
    }
    let (Some(ceiling), Some(efficiency)) = (&m.ceiling, m.efficiency) else {
        return Err("without a ceiling nothing shows what the limit is".to_owned());
    };
    if m.findings.iter().any(|f| f.severity == Severity::Invalid) {
        return Err("the number is invalid, so nothing limited it".to_owned());
    }
    let share = format!("{:.1} % of the ceiling", efficiency * 100.0);
    if efficiency < NEAR {
        return Err(format!("{share}, and no check found what holds it down"));
    }
    let capacity = Capacity::of(ctx.host, m)?;
    let rule = ceilings::find(&ceiling.id)
        .ok_or_else(|| format!("{share}, and no rule of the ceiling {} is known", ceiling.id))?;
    let mut limiter = rule.limiter(ceiling, &capacity, &share);
    if let Some(lost) = ctx.host.timer.interrupted_share.get().filter(|l| **l >= TOLD) {
        let lost = lost * 100.0;
        limiter.evidence += &format!("; interrupts take {lost:.1} % of a busy thread's time here");
    }
    Ok(limiter)
}

/// The first of the findings that says who took the CPU.
fn taken_away(m: &Measurement) -> Option<Limiter> {
    TAKERS.iter().find_map(|(check, resource)| {
        let finding =
            m.findings.iter().find(|f| f.check == *check && f.severity >= Severity::Suspect)?;
        Some(Limiter { resource: (*resource).to_owned(), evidence: finding.message.clone() })
    })
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuQuota, Host, Probe};

    use super::*;
    use crate::testing::{around, clock, each, flops, host, judged, mix, with_values};

    #[test]
    fn what_interrupts_take_is_told() {
        let mut h = host();
        let told = |h: &Host| judged(h, flops(1), &[]).limiter.unwrap().evidence;
        h.timer.interrupted_share = Probe::known(0.009, "gaps");
        assert!(told(&h).contains("interrupts take 0.9 %"), "{}", told(&h));
        h.timer.interrupted_share = Probe::known(0.0, "gaps");
        assert!(!told(&h).contains("interrupts"), "{}", told(&h));
    }

    #[test]
    fn those_who_take_are_checks() {
        for (check, _) in TAKERS {
            assert!(crate::checks::find(check).is_some(), "no check {check}");
        }
    }

    fn resource(h: &Host, m: Measurement) -> Option<String> {
        judged(h, m, &[]).limiter.map(|l| l.resource)
    }

    #[test]
    fn the_ports_the_cores_and_the_divider() {
        let h = host();
        assert_eq!(resource(&h, flops(1)).as_deref(), Some("execution ports"));
        assert_eq!(resource(&h, flops(8)).as_deref(), Some("physical cores"));
        let divisions = with_values(mix(true, "arith17", "scalar"), &around(0.95 * 8.5e9));
        assert_eq!(resource(&h, divisions).as_deref(), Some("divider unit"));
        let mut bare = host();
        bare.os.virtualisation = Probe::known("none".to_owned(), "test");
        let limiter = judged(&bare, clock(4.1e9), &[]).limiter.unwrap();
        assert_eq!(limiter.resource, "clock");
        assert!(limiter.evidence.contains("reported boost"), "{}", limiter.evidence);
    }

    #[test]
    fn the_evidence_names_the_figures() {
        let evidence = |h: &Host, m| {
            let whole = judged(h, m, &[]).limiter.unwrap().evidence;
            whole.split("; interrupts").next().unwrap_or_default().to_owned()
        };
        let mut h = host();
        let near = |limit: f64| around(0.99 * limit);
        assert_eq!(
            evidence(&h, with_values(flops(1), &near(64e9))),
            "99.0 % of the ceiling at 4.000 GHz on 1 core"
        );
        assert_eq!(
            evidence(&h, with_values(flops(8), &near(128e9))),
            "99.0 % of the ceiling at 4.000 GHz: 8 threads share the execution ports of 2 cores"
        );
        assert_eq!(
            evidence(&h, with_values(mix(true, "arith17", "scalar"), &near(8.5e9))),
            "99.0 % of the ceiling at 4.000 GHz: 8 cycles of division an iteration"
        );
        h.limits.cpu_quota = Probe::known(CpuQuota { cpus: Some(0.5) }, "cpu.max");
        assert_eq!(
            evidence(&h, with_values(flops(1), &near(32e9))),
            "99.0 % of the ceiling of 0.5 CPUs at 4.000 GHz"
        );
    }

    #[test]
    fn who_took_the_cpu_comes_first() {
        let h = host();
        let busy = each(flops(1), |_, t| t.conditions.other_cpu_s = Some(0.05));
        assert_eq!(resource(&h, busy).as_deref(), Some("competing processes"));
        let stolen = each(flops(1), |_, t| t.conditions.steal_s = Some(0.05));
        assert_eq!(resource(&h, stolen).as_deref(), Some("steal time"));
        let mut limited = host();
        limited.limits.cpu_quota = Probe::known(CpuQuota { cpus: Some(0.5) }, "cpu.max");
        let half = with_values(flops(1), &around(0.49 * 64e9));
        assert_eq!(resource(&limited, half.clone()).as_deref(), Some("CPU quota"));
        let held = each(half, |_, t| t.conditions.throttled_s = Some(0.05));
        assert_eq!(resource(&limited, held).as_deref(), Some("CPU quota"));
    }

    #[test]
    fn nobody_is_named_without_evidence() {
        let h = host();
        let slow = judged(&h, with_values(flops(1), &around(0.85 * 64e9)), &[]);
        assert!(slow.limiter.is_none());
        assert!(slow.missing["limiter"].contains("85.0 %"));
        let above = judged(&h, with_values(flops(1), &around(1.5 * 64e9)), &[]);
        assert!(above.limiter.is_none());
        assert!(above.missing["limiter"].contains("invalid"));
    }
}
