//! Whether the placement of virtual CPUs explains that more threads gain nothing. Two vCPUs may be
//! hardware threads of one core, or share a link that CPUs of other cores do not.

use proofmark_model::{CpuPlacement, Measurement, format_percent, key, placement_words};

use super::SHARED;
use crate::Context;
use crate::memory::from_memory;
use crate::placement::{are_apart, with_intervals};
use crate::statistics::gain;

/// Share of the time from which on a placement can be that of a result.
const MOSTLY: f64 = 0.9;

/// Returns the placement of the CPUs if it does not explain a shared resource, else the reason why
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
    let often = |is: fn(&CpuPlacement) -> bool| -> Option<String> {
        let share: f64 = all.iter().filter(|p| is(p)).map(|p| p.share).sum();
        (share > 1.0 - MOSTLY).then(|| format_percent(share))
    };
    if let Some(part) = often(CpuPlacement::are_siblings) {
        return Err(format!("the vCPUs were SMT siblings for {part} of the time"));
    }
    if let Some(part) = often(|p| !p.is_known() && !p.are_several()) {
        return Err(format!("the vCPU placement changed or is not known for {part} of the time"));
    }
    if let Some(part) = often(CpuPlacement::are_several) {
        return Err(format!(
            "the pairs of vCPUs had different placements for {part} of the time, and that of some \
             may be the cause"
        ));
    }
    if let Some(why) = gained(one, many) {
        return Err(why);
    }
    let main = all.iter().find(|p| p.is_known() && p.share >= MOSTLY);
    let words = main.map_or_else(|| placement_words(all), |p| p.name.clone());
    elsewhere(ctx, many, main, &words).map_or(Ok(words), Err)
}

/// Names the placement at which the threads gained. It decides where its interval is above that of
/// another.
fn gained(one: &Measurement, many: &Measurement) -> Option<String> {
    let alone = one.summary.as_ref()?.value();
    let at_each = many.cpu_placements.iter().filter(|p| p.is_known());
    let ratios = at_each.filter_map(|p| Some((p.figure.as_ref()?.value? / alone, p)));
    let best = ratios.filter(|(ratio, _)| *ratio >= SHARED).max_by(|a, b| a.0.total_cmp(&b.0));
    let (ratio, best) = best?;
    let seen = with_intervals(many);
    let is_shown = seen.first().zip(seen.last()).is_some_and(|(highest, lowest)| {
        std::ptr::eq(highest.0, best) && are_apart(highest, lowest)
    });
    let decides = if is_shown { "decides" } else { "may decide" };
    let name = &best.name;
    Some(format!("they reach {ratio:.2} times on vCPUs {name}: the vCPU placement {decides}"))
}

/// Names another load from memory on as many threads that gained at another placement than the main
/// one; `words` describe that of these threads.
fn elsewhere(
    ctx: &Context,
    many: &Measurement,
    main: Option<&CpuPlacement>,
    words: &str,
) -> Option<String> {
    let gained = |o: &Measurement| {
        let alone = ctx.on_one_thread(o)?;
        gain(alone, o, &[key::THREADS]).filter(|ratio| *ratio >= SHARED)
    };
    let alike = |o: &&Measurement| {
        let threads = o.params.threads() == many.params.threads();
        threads && o.unit == many.unit && from_memory(ctx, o).is_ok()
    };
    let placed = ctx.others.iter().filter(alike).filter_map(|o| {
        let other = o.cpu_placements.first().filter(|p| p.is_known() && p.share >= MOSTLY)?;
        let differs = main.is_none_or(|main| !other.is_like(main));
        Some((gained(o).filter(|_| differs)?, o, other))
    });
    let best = placed.max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(ratio, o, other)| {
        format!(
            "that was on vCPUs {words}; {} reaches {ratio:.2} times on vCPUs {}: the vCPU placement \
             may decide",
            o.workload, other.name
        )
    })
}

#[cfg(test)]
mod tests {
    use proofmark_model::Figure;

    use super::*;
    use crate::testing::*;

    /// A placement: name, round trip in ns, share of the time, rate, and half its interval; 0: it has
    /// too few rounds for one.
    type Place = (&'static str, f64, f64, f64, f64);

    const NEAR: Place = ("near (72 ns)", 72.0, 1.0, 41e9, 0.1);
    const FAR: Place = ("far (310 ns)", 310.0, 1.0, 101e9, 0.1);

    fn at(m: Measurement, rate: f64, placements: &[Place]) -> Measurement {
        let mut m = with_values(m, &around(rate));
        let one = |(name, ns, share, figure, half): &Place| CpuPlacement {
            name: (*name).to_owned(),
            round_trip_s: (*ns > 0.0).then_some(1e-9 * ns),
            share: *share,
            figure: (*figure > 0.0).then(|| Figure {
                value: Some(*figure),
                ci95: (*half > 0.0).then_some([figure * (1.0 - half), figure * (1.0 + half)]),
                ..Figure::default()
            }),
            ..CpuPlacement::default()
        };
        m.cpu_placements = placements.iter().map(one).collect();
        m
    }

    /// Asserts the bottleneck of two threads that reach the rate of one.
    #[track_caller]
    fn expect(placements: &[Place], others: &[Measurement], words: &str) {
        let others = [&[at(stream("read", 1), 41e9, &[])], others].concat();
        let two = at(stream("read", 2), 41e9, placements);
        expect_bottleneck(&host_with_caches(), two, &others, words);
    }

    fn during(place: Place, share: f64) -> Place {
        (place.0, place.1, share, place.3, place.4)
    }

    const NAMED: &str =
        "^path to memory$ 2 threads reach 1.00 times the rate of 1, on vCPUs near (72 ns)";

    #[test]
    fn threads_that_gain_nothing_by_their_placement_name_no_shared_resource() {
        expect(&[NEAR], &[], NAMED);
        let unknown = "^none$ 2 threads reach 1.00 times ... the vCPU placement was not measured";
        expect(&[], &[], unknown);
        let siblings = ("SMT siblings", 0.0, 0.7, 41e9, 0.1);
        let mostly = "^none$ ... SMT siblings for 70.0 % of the time";
        expect(&[siblings, during(FAR, 0.3)], &[], mostly);
        let moved = ("moved in the round", 0.0, 0.6, 0.0, 0.0);
        let not_known = "^none$ ... changed or is not known for 60.0 % of the time";
        expect(&[moved, during(FAR, 0.4)], &[], not_known);
    }

    #[test]
    fn pairs_of_different_placements_are_known_and_name_none() {
        let several = ("pairs that differ", 0.0, 1.0, 0.0, 0.0);
        let differ =
            "^none$ ... the pairs of vCPUs had different placements for 100.0 % of the time";
        expect(&[several], &[], differ);
        let both = [during(several, 0.6), ("unknown", 0.0, 0.4, 0.0, 0.0)];
        expect(&both, &[], "^none$ ... not known for 40.0 % of the time");
    }

    /// Recorded on 2 CPUs of a guest: 41 GB/s with both near each other, 101 GB/s with both far
    /// apart.
    #[test]
    fn a_placement_decides_only_if_the_intervals_are_apart() {
        let far = during(FAR, 0.2);
        let both = |far: Place| [during(NEAR, 0.8), far];
        let decides = "^none$ ... 2.46 times on vCPUs far (310 ns): the vCPU placement decides";
        expect(&both(far), &[], decides);
        let may = "^none$ ... 2.46 times on vCPUs far (310 ns): the vCPU placement may decide";
        expect(&both((far.0, far.1, far.2, far.3, 0.0)), &[], may);
        expect(&both((far.0, far.1, far.2, far.3, 0.7)), &[], may);
    }

    #[test]
    fn the_evidence_has_every_placement_that_counts() {
        let far = ("far (310 ns)", 310.0, 0.45, 41e9, 0.1);
        let both = "^path to memory$ ... on vCPUs near (72 ns) 55.0 %, far (310 ns) 45.0 %";
        expect(&[during(NEAR, 0.55), far], &[], both);
        let mostly = [during(NEAR, 0.95), ("unknown", 0.0, 0.05, 0.0, 0.0)];
        expect(&mostly, &[], NAMED);
    }

    #[test]
    fn another_load_that_gained_at_another_placement_may_show_it() {
        let of = |places: &[Place]| {
            [at(stream("triad", 1), 41e9, &[]), at(stream("triad", 2), 101e9, places)]
        };
        let elsewhere = "^none$ ... that was on vCPUs near (72 ns) ... memory.triad reaches 2.46 \
                         times on vCPUs far (310 ns)";
        expect(&[NEAR], &of(&[FAR]), elsewhere);
        expect(&[NEAR], &of(&[NEAR]), NAMED);
    }
}
