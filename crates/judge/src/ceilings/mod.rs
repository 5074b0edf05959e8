//! Theoretical ceilings. Each is a formula with its inputs, and each input says
//! whether it was measured, reported, assumed or declared. One file a rule; to add
//! one, write the file and add a line to [`ALL`].

mod cpu_boost;
mod cpu_mix;
mod cpu_peak;
mod parts;

use proofmark_model::{Ceiling, Limiter, Measurement};

use crate::{Capacity, Context};

pub(crate) use cpu_mix::cycles_at_least as mix_cycles;
pub(crate) use cpu_peak::Peak;
pub(crate) use parts::CLOCK_INPUT;

/// A rule that derives a ceiling.
pub trait CeilingRule: Sync {
    /// Id, as kernels name it in their `ceilings`.
    fn id(&self) -> &'static str;

    /// Title for lists.
    fn title(&self) -> &'static str;

    /// What bounds the number, the formula, where its inputs come from, and how
    /// sure it is.
    fn about(&self) -> &'static str;

    /// The ceiling of this measurement.
    ///
    /// # Errors
    /// Why there is none, in words for a person.
    fn derive(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String>;

    /// What holds a measurement down that came near a ceiling of this rule. `share`
    /// says how near, in words that begin the evidence: `98.5 % of the ceiling`.
    fn limiter(&self, ceiling: &Ceiling, capacity: &Capacity, share: &str) -> Limiter;
}

/// Every rule.
pub const ALL: &[&dyn CeilingRule] = &[&cpu_peak::CpuPeak, &cpu_mix::CpuMix, &cpu_boost::CpuBoost];

/// The rule of that id.
pub fn find(id: &str) -> Option<&'static dyn CeilingRule> {
    ALL.iter().copied().find(|rule| rule.id() == id)
}

/// The ceiling of a measurement: the first of its kernel's list that can be derived.
///
/// # Errors
/// Why none can.
pub fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    if ctx.spec.ceilings.is_empty() {
        return Err("this kernel declares no ceiling".to_owned());
    }
    let mut reasons = Vec::new();
    for id in ctx.spec.ceilings.iter() {
        match find(id).map(|rule| rule.derive(ctx, m)) {
            Some(Ok(c)) if c.value.is_finite() && c.value > 0.0 && c.uncertainty.is_finite() => {
                return Ok(c);
            }
            Some(Ok(c)) => reasons.push(format!("{id}: comes out as {}", c.value)),
            Some(Err(reason)) => reasons.push(format!("{id}: {reason}")),
            None => reasons.push(format!("{id}: no such ceiling")),
        }
    }
    Err(reasons.join("; "))
}
