//! `memory.limit`: the rate of the memory bus that the user declares.
//!
//! Virtual machines and users without root see no memory modules. Their owner or provider may know
//! them.

use proofmark_model::{
    Bottleneck, Ceiling, Limit, Measurement, Provenance, Unit, ceiling_id, format_quantity,
};

use super::CeilingRule;
use super::memory_dram::over_bytes_moved;
use super::parts::{Formula, input};
use crate::{Capacity, Context};

/// Uncertainty of a declared limit, which is a rounded figure.
const PROMISE: f64 = 0.05;

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::MEMORY_LIMIT,
    title: "Declared memory limit",
    about: "The rate of the memory bus that the user declares (--limit memory.dram=76.8GB/s), \
         divided by bytes moved per byte counted, as for memory.dram. Declare the sum over all \
         sockets: transfers per second x 8 bytes x channels x sockets. Two channels of DDR5-4800 \
         are 76.8 GB/s. Uncertainty: 5 %, since a declared limit is a rounded figure, plus what \
         the last-level cache may have held and lines that some cores write without reading them \
         first. There is no ceiling if the cache could hold half of the data.",
    derive,
    bound: derive,
    bottleneck: Some(bottleneck),
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let (name, unit) = (Limit::MemoryDram.name(), Limit::MemoryDram.unit());
    let declared = ctx.host.limits.declared.get(name);
    let value = declared.ok_or_else(|| format!("no rate is declared (--limit {name})"))?;
    let note = format!("--limit {name}, all sockets");
    let limit = input(name, *value, unit.as_str(), Provenance::Declared, note);
    over_bytes_moved(&RULE, ctx, m, (Formula::from_input(limit), PROMISE))
}

fn bottleneck(ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    let rate = ceiling.inputs.first().map_or(0.0, |i| i.value);
    let rate = format_quantity(rate, Unit::BytePerSecond);
    let name = Limit::MemoryDram.name();
    let evidence = format!("{share}: {rate} by --limit {name}");
    Bottleneck { resource: format!("{} {name}", Bottleneck::DECLARED_LIMIT), evidence }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Host;

    use super::*;
    use crate::testing::*;

    const BUS: f64 = 76.8e9;

    fn declared() -> Host {
        with_declared(host_with_caches(), &[("memory.dram", BUS), ("disk.read", 1e6)])
    }

    #[test]
    fn it_counts_bytes_that_are_moved() {
        let moving = |m, by: f64| each(m, move |_, t| t.moved = Some(by * t.work));
        RULE.on(&declared(), &[]).expect([
            ("read", moving(stream("read", 1), 1.0), Ok(BUS)),
            ("ordinary stores", moving(stream("copy", 2), 1.5), Ok(BUS / 1.5)),
            ("parts of lines", moving(blocks("rand_read", 8), 8.0), Ok(BUS / 8.0)),
            ("a set in the cache", sweep("read", 1, 48 << 20), Err("cache")),
        ]);
        let c = RULE.on(&declared(), &[]).derive(&moving(stream("read", 1), 1.0)).unwrap();
        assert_eq!(c.inputs[0].source, Provenance::Declared);
        assert!((0.05..0.1).contains(&c.uncertainty), "{}", c.uncertainty);
        let none = Err("--limit memory.dram");
        RULE.on(&host_with_caches(), &[]).expect([("undeclared", stream("read", 1), none)]);
    }

    #[test]
    fn near_it_the_limit_is_the_bottleneck_and_above_it_the_result_is_suspect() {
        let at = |share: f64| with_values(stream("read", 1), &around(share * BUS));
        let near = "^declared limit memory.dram$ ... 76.80 GB/s by --limit memory.dram";
        expect_bottleneck(&declared(), at(0.95), &[], near);
        let check = crate::checks::find("above_limit").unwrap();
        check.on(&declared(), &[]).expect([
            ("above", at(1.2), suspect("120.0 % of the declared limit")),
            ("within its uncertainty", at(1.03), SILENT),
        ]);
        let physical = crate::checks::find("above_ceiling").unwrap();
        physical.on(&declared(), &[]).expect([
            ("above the limit, below the design's maximum", at(1.2), SILENT),
            ("beyond the design's bus", at(12.0), invalid("memory.dram")),
        ]);
    }
}
