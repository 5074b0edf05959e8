//! Core design of the processor, and the evidence for it.
//!
//! The model number is accepted unless the processor has a feature or a level-1 cache that this
//! design cannot have. Hypervisors mask model numbers, but cannot add features. Then every design
//! remains that fits all features. If one remains, or several with the same arithmetic per cycle,
//! it is the answer, with a finding. Else the design is unknown, with the reason.

mod table;

use std::collections::BTreeSet;

use proofmark_model::{Finding, Microarchitecture, Probe, and_list};

use crate::findings::{MASKED_MODEL, note};
use crate::identity::Identity;
use table::{DESIGNS, Design, MARKS, PARTS, ROWS, Row, is_named};

/// Sizes in bytes of the caches that distinguish designs, if known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CacheSizes {
    pub(crate) l1d: Option<u64>,
    pub(crate) l1i: Option<u64>,
    pub(crate) l2: Option<u64>,
}

/// Iterates over the ids of every design that [`conclude`] can name.
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    DESIGNS.iter().map(|design| design.id).chain(PARTS.iter().map(|part| part.2))
}

/// Concludes the design, with a finding if the model number was rejected.
pub(crate) fn conclude(
    who: &Identity,
    caches: CacheSizes,
) -> (Probe<Microarchitecture>, Option<Finding>) {
    if let Some((implementer, part)) = who.midr {
        return (from_midr(implementer, part, who.family.origin()), None);
    }
    let (Some(vendor), Some(&family), Some(&model)) =
        (who.vendor.get(), who.family.get(), who.model.get())
    else {
        let vendor = who.vendor.get().is_none();
        let reason = if vendor { who.vendor.origin() } else { who.family.origin() };
        return (Probe::missing(reason.to_owned()), None);
    };
    let stepping = who.stepping.get().copied();
    let number = format!("{vendor} family {family:#x} model {model:#x}");
    let Some(row) = find_row(vendor, family, model, stepping) else {
        return (Probe::missing(format!("the table of designs has no row for {number}")), None);
    };
    let named = row.design.and_then(table::by_id);
    let against = named.map_or(vec![], |design| contradictions(design, who, caches));
    match named {
        Some(design) if against.is_empty() => (plain(row, design, &number, who), None),
        _ => resolve(row, named, &number, &against, who, caches),
    }
}

fn from_midr(implementer: u32, part: u32, source: &str) -> Probe<Microarchitecture> {
    let number = format!("MIDR implementer {implementer:#04x} part {part:#05x}");
    match PARTS.iter().find(|p| (p.0, p.1) == (implementer, part)) {
        Some((.., id, name)) => {
            let (id, name) = ((*id).to_owned(), (*name).to_owned());
            Probe::known(Microarchitecture { id, name, evidence: number }, source.to_owned())
        }
        None => Probe::missing(format!("the table of designs has no row for {number}")),
    }
}

fn find_row(vendor: &str, family: u32, model: u32, stepping: Option<u32>) -> Option<&'static Row> {
    let within = |(first, last): (u32, u32), n: u32| (first..=last).contains(&n);
    ROWS.iter().find(|row| {
        row.vendor == vendor
            && row.family == family
            && within(row.models, model)
            && stepping.is_none_or(|s| within(row.steppings, s))
    })
}

/// Returns the design of an accepted model number.
fn plain(row: &Row, design: &Design, number: &str, who: &Identity) -> Probe<Microarchitecture> {
    let mut evidence = format!("{number}: {}", row.product);
    if who.hybrid {
        evidence += "; the machine has cores of two designs, this is the larger";
    }
    let name = with_product(design, row.product);
    Probe::known(
        Microarchitecture { id: design.id.to_owned(), name, evidence },
        "CPUID and the table of designs",
    )
}

/// Returns the properties of the processor that the design cannot have.
fn contradictions(design: &Design, who: &Identity, caches: CacheSizes) -> Vec<String> {
    let mut against: Vec<String> = reported_marks(who)
        .filter(|(_, designs)| !is_named(designs, design.id))
        .map(|(feature, _)| feature.to_owned())
        .collect();
    // A hypervisor may invent smaller caches, but not larger ones. On a machine of two core
    // designs, the caches may belong to the other one.
    if !who.hybrid {
        for (name, bytes, own) in
            [("L1d", caches.l1d, design.l1.0), ("L1i", caches.l1i, design.l1.1)]
        {
            if bytes.is_some_and(|b| b > own << 10) {
                against.push(format!("an {name} of {} KiB", bytes.unwrap_or_default() >> 10));
            }
        }
    }
    against
}

/// Iterates over the processor's distinguishing features, with the designs that have them.
fn reported_marks(who: &Identity) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let marks = MARKS.iter().flat_map(|(f, designs)| f.split(' ').map(move |f| (f, *designs)));
    marks.filter(|(feature, _)| who.features.contains(*feature))
}

/// Returns the vendor's designs that fit all features and caches.
fn candidates(vendor: &str, who: &Identity, caches: CacheSizes) -> Vec<&'static Design> {
    let able: Vec<_> = DESIGNS
        .iter()
        .filter(|d| {
            d.vendor == vendor && reported_marks(who).all(|(_, designs)| is_named(designs, d.id))
        })
        .collect();
    let fits = |d: &&Design| {
        let same = |bytes: Option<u64>, kib: u64| bytes.is_none_or(|b| b == kib << 10);
        same(caches.l1d, d.l1.0)
            && same(caches.l1i, d.l1.1)
            && caches.l2.is_none_or(|b| d.l2.contains(&(b >> 10)))
    };
    let fitting: Vec<_> = able.iter().copied().filter(fits).collect();
    if fitting.is_empty() { able } else { fitting }
}

/// Concludes the design after rejecting the model number.
fn resolve(
    row: &Row,
    named: Option<&Design>,
    number: &str,
    against: &[String],
    who: &Identity,
    caches: CacheSizes,
) -> (Probe<Microarchitecture>, Option<Finding>) {
    let claim = match named {
        Some(design) => format!(
            "{number} means {} ({}), but the CPU has {}",
            design.name,
            row.product,
            against.join(", ")
        ),
        None => format!("{number} is used for more than one design ({})", row.product),
    };
    let left = candidates(row.vendor, who, caches);
    let names: Vec<_> = left.iter().map(|d| title(d)).collect();
    let classes: BTreeSet<_> = left.iter().map(|d| d.class).collect();
    let finding = |message: String| {
        note(
            &MASKED_MODEL,
            message,
            "The hypervisor masks the CPU's model number. Ask the provider for the real model.",
        )
        .with("number", number)
        .with("contradicted_by", against)
    };
    let see = MASKED_MODEL.0;
    let (Some(first), 1) = (left.first(), classes.len()) else {
        let (reason, detail) = match names.as_slice() {
            [] => ("no matching design", "no known design has these features".to_owned()),
            _ => (
                "several matching designs",
                format!("several designs have these features: {}", names.join(", ")),
            ),
        };
        let finding = finding(format!("{claim}; {detail}"));
        return (Probe::missing(format!("{reason}; see {see}")), Some(finding));
    };
    let conclusion = if names.len() == 1 {
        format!("only {} has these features", title(first))
    } else {
        format!("{} have these features and the same execution ports", and_list(&names))
    };
    let sizes = describe(caches);
    let source = if sizes.is_empty() { "CPUID features" } else { "CPUID features and cache sizes" };
    let number_is = if named.is_some() { "is masked" } else { "is used for several designs" };
    let found = Microarchitecture {
        id: first.id.to_owned(),
        name: title(first),
        evidence: format!("{source}; the model number {number_is} (see {see})"),
    };
    let finding = finding(format!("{claim}; {conclusion}{sizes}")).with("concluded", first.id);
    (Probe::known(found, source), Some(finding))
}

fn with_product(design: &Design, product: &str) -> String {
    match product {
        same if same == design.name => same.to_owned(),
        other => format!("{} ({other})", design.name),
    }
}

/// Returns a design's name with its product lines.
fn title(design: &Design) -> String {
    let products: Vec<_> =
        ROWS.iter().filter(|r| r.design == Some(design.id)).map(|r| r.product).collect();
    match products.as_slice() {
        [] => design.name.to_owned(),
        [one] => with_product(design, one),
        [one, two] => format!("{} ({one} or {two})", design.name),
        [one, ..] => format!("{} ({one} and others)", design.name),
    }
}

fn describe(caches: CacheSizes) -> String {
    let all = [("L1d", caches.l1d), ("L1i", caches.l1i), ("L2", caches.l2)];
    let known = all.into_iter().filter_map(|(name, bytes)| Some((name, bytes? >> 10)));
    let parts: Vec<_> = known.map(|(name, kib)| format!("{name} {kib} KiB")).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

#[cfg(test)]
mod tests;
