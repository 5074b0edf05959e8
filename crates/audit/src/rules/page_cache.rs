//! `page_cache`: a disk figure above the rate of every disk of the machine.

use proofmark_model::{Finding, Severity, Subsystem, Unit, format_quantity};

use super::{Examination, Outcome, Rule};
use crate::{Figure, Metric, Sheet};

pub(super) const RULE: Rule = Rule {
    id: "page_cache",
    title: "page cache reported as disk",
    about: "A rate above that of the disk's link after coding, or above the provider's limit, came \
            from memory and is invalid. Operations per second are converted to bytes by their \
            block size. Random operations smaller than a sector count as one sector of 512 B, \
            which the device must move. A latency is converted to a rate, block / latency, and \
            compared with the link alone: an allowance covers many parallel operations. Without a \
            declared link, a rate above one drive on PCIe 5.0 x4 (15.754 GB/s) is suspect. An \
            operation that reads and writes may use both directions of a link at once, except on \
            SATA (150, 300 or 600 MB/s). A lower rate is suspect if nine in ten of the same tool's \
            other rates (at least nine) with that block and those threads exceed the limit: that \
            tool used the page cache.",
    advice: "The page cache served the data. Measure with direct I/O, or with far more data than \
             memory, and compare with the device's own counters.",
    needs: "disk_link_bytes_per_s or disk_limit_bytes_per_s; usually the block",
    examination: Examination::Compare(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    let judged = figure.subsystem.info().uses_block_devices && figure.metric != Metric::Other;
    figure.level().filter(|_| judged)?;
    let Some(rate) = figure.device_rate() else {
        let what = "block_size_bytes is empty, so the bytes per second are unknown";
        return Some(Outcome::Missing(what));
    };
    let limit = sheet.machine().disk_limit(figure);
    let found = if rate > limit.most {
        let [shown, most] = [rate, limit.most].map(|v| format_quantity(v, Unit::BytePerSecond));
        let message = format!("{shown} from the disk exceeds {}, {most}", limit.source);
        let finding = RULE.finding(limit.severity, message);
        Some(finding.with("device_bytes_per_s", rate).with("limit_bytes_per_s", limit.most))
    } else {
        buffered(sheet, figure)
    };
    let missing = match figure.metric {
        _ if limit.severity == Severity::Invalid => None,
        Metric::Latency => Some("no disk_link_bytes_per_s is declared"),
        _ => Some("no disk_link_bytes_per_s or disk_limit_bytes_per_s is declared"),
    };
    Some(Outcome::new(found, missing))
}

/// Minimum of other figures for a conclusion about the tool.
const MIN_OTHERS: usize = 9;
/// Fraction of them above the limit that shows buffered I/O.
const MIN_FRACTION_ABOVE: f64 = 0.9;

/// Flags a slow figure of a tool whose other figures at that setting came from the page cache. Its
/// I/O was buffered too, and includes the cache's other work.
fn buffered(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    if !figure.is(Subsystem::Disk, Metric::Throughput) || figure.level().is_none() {
        return None;
    }
    let tally = sheet.tally(figure)?;
    let others = tally.figures.saturating_sub(1);
    let most = others >= MIN_OTHERS && tally.above as f64 >= MIN_FRACTION_ABOVE * others as f64;
    most.then(|| {
        let message = format!(
            "{} of this tool's {others} other rates at this block size and thread count exceed the \
             disk's limit",
            tally.above
        );
        let finding = RULE.finding(Severity::Suspect, message);
        finding.with("others", others).with("above", tally.above)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{INVALID, MACHINE, SUSPECT, flagged, judges};

    #[test]
    fn a_rate_above_the_link_is_the_page_cache() {
        let expected = [
            ("disk seq_read throughput 601e6", INVALID),
            ("disk seq_read throughput 599e6", None),
            ("disk seq_read throughput 601e6 trial=sd", None),
            ("memory seq_read throughput 601e6", None),
            // A random byte moves a sector.
            ("disk rand_read throughput 2e6 block=1", INVALID),
            ("disk rand_read throughput 1e6 block=1", None),
            ("disk seq_read throughput 2e6 block=1", None),
            ("disk rand_read throughput 2e6 block=4096", None),
            // A latency implies a rate.
            ("disk seq_read latency 1e-5 block=8192", INVALID),
            ("disk seq_read latency 2e-5 block=8192", None),
            ("disk seq_read latency 1e-5", None),
            // A rate of operations moves their blocks.
            ("disk rand_read rate 150e3 block=4096 threads=8", INVALID),
            ("disk rand_read rate 140e3 block=4096 threads=8", None),
            ("disk rand_read rate 1.2e6 block=1 threads=8", INVALID),
            ("disk stat rate 9e6 threads=8", None),
            // On SATA, reads and writes share the rate.
            ("disk seq_read_write throughput 900e6", INVALID),
        ];
        judges(&RULE, MACHINE, &expected);
        // Above an assumed limit.
        judges(&RULE, "", &[("disk seq_read throughput 28e9", SUSPECT)]);
    }

    #[test]
    fn a_buffered_tool_is_buffered_in_all_it_does() {
        let fast = |count: u32| (0..count).map(|n| format!("disk op{n} throughput 5e9 block=4096"));
        for (count, others, buffered) in [
            (9, &["disk write throughput 5e8 block=4096"][..], true),
            (8, &["disk write throughput 5e8 block=4096"], false),
            (9, &["disk r throughput 4e8 block=4096", "disk w throughput 5e8 block=4096"], true),
            (
                9,
                &[
                    "disk a throughput 1e6 block=4096",
                    "disk b throughput 4e8 block=4096",
                    "disk w throughput 5e8 block=4096",
                ],
                false,
            ),
            (9, &["disk write throughput 5e8 block=512"], false),
        ] {
            let rows: Vec<_> = fast(count).chain(others.iter().map(|o| (*o).to_owned())).collect();
            let last = flagged(&RULE, MACHINE, &rows).pop();
            assert_eq!(last, Some(buffered), "{count} {others:?}");
        }
    }
}
