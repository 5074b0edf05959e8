//! Whether the placement of virtual CPUs explains that more threads gain nothing. Two vCPUs may be
//! hardware threads of one core, or share a link that CPUs of other cores do not.

use proofmark_model::{CpuPlacement, Measurement, format_percent, key};

use super::SHARED;
use crate::Context;
use crate::memory::from_memory;
use crate::statistics::gain;

/// Share of the time from which on a placement can be that of a result.
const MOSTLY: f64 = 0.9;

/// Returns the place of the CPUs if it does not explain a shared resource, else the reason why
/// it may.
pub(super) fn of_shared(
    ctx: &Context,
    one: &Measurement,
    many: &Measurement,
) -> Result<String, String> {
    let all = &many.cpu_placements;
    if all.is_empty() {
        return Err("the vCPU placement was not measured, and CPUs of one core gain nothing \
                    either"
            .to_owned());
    }
    let share = |of: &dyn Fn(&CpuPlacement) -> bool| -> f64 {
        all.iter().filter(|p| of(p)).map(|p| p.share).sum()
    };
    let (siblings, unknown) = (share(&CpuPlacement::are_siblings), share(&|p| !p.is_known()));
    if siblings > 1.0 - MOSTLY {
        let part = format_percent(siblings);
        return Err(format!("the vCPUs were SMT siblings for {part} of the time"));
    }
    if unknown > 1.0 - MOSTLY {
        let part = format_percent(unknown);
        return Err(format!("the vCPU placement changed or is not known for {part} of the time"));
    }
    let alone = one.summary.as_ref().map(|s| s.value());
    let gained = |p: &CpuPlacement| Some(p.figure.as_ref()?.value? / alone?);
    let better = all.iter().filter_map(|p| Some((gained(p)?, p)));
    let better = better.filter(|(ratio, p)| *ratio >= SHARED && p.is_known());
    if let Some((ratio, p)) = better.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let name = &p.name;
        return Err(format!(
            "they reach {ratio:.2} times on vCPUs {name}: the vCPU placement decides"
        ));
    }
    let place = all.iter().find(|p| p.is_known()).ok_or("the vCPU placement is not known")?;
    elsewhere(ctx, many, place).map_or_else(|| Ok(place.name.clone()), Err)
}

/// Names another load from memory on as many threads that gained at another placement.
fn elsewhere(ctx: &Context, many: &Measurement, place: &CpuPlacement) -> Option<String> {
    let gained = |o: &Measurement| {
        let alone = ctx.on_one_thread(o)?;
        gain(alone, o, &[key::THREADS]).filter(|ratio| *ratio >= SHARED)
    };
    let alike = |o: &&Measurement| {
        let threads = o.params.threads() == many.params.threads();
        threads && o.unit == many.unit && from_memory(ctx, o).is_ok()
    };
    let placed = ctx.others.iter().filter(alike).filter_map(|o| {
        let main = o.cpu_placements.first().filter(|p| p.is_known() && p.share >= MOSTLY)?;
        Some((gained(o).filter(|_| !main.is_like(place))?, o, main))
    });
    let best = placed.max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(ratio, o, main)| {
        format!(
            "that was on vCPUs {}; {} reaches {ratio:.2} times on vCPUs {}: the vCPU placement may \
             decide",
            place.name, o.workload, main.name
        )
    })
}
