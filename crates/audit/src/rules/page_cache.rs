//! `page_cache`: a disk figure that no disk of this machine can carry.

use proofmark_model::{Finding, Severity, Subsystem, Unit, format_quantity};

use super::Rule;
use crate::{Figure, Metric, Sheet};

const ADVICE: &str = "The page cache served the data. Measure with direct I/O, or with far more \
                      data than memory, and compare with the device's own counters.";

pub(super) const RULE: Rule = Rule {
    id: "page_cache",
    title: "page cache reported as disk",
    about: "A rate above what the disk's link carries after coding, or above what the provider \
            allows, came from memory and is invalid. Operations per second are converted to bytes \
            by their block size. Random operations smaller than a sector count as one sector of \
            512 B, which the device must move. A latency is converted to a rate, block / latency, \
            and compared with the link alone: an allowance covers many parallel operations. \
            Without a declared link, a rate above one drive on PCIe 5.0 x4 (15.754 GB/s) is \
            suspect. An operation that reads and writes may use both directions of a link at once, \
            except on SATA (150, 300 or 600 MB/s). A lower rate is suspect if nine in ten of the \
            same tool's other rates (at least nine) with that block and those threads exceed the \
            limit: that tool used the page cache.",
    examine,
};

fn examine(sheet: &Sheet, index: usize) -> Option<Finding> {
    let figure = sheet.figure(index)?;
    let rate = figure.device_rate()?;
    let limit = sheet.machine().disk_limit(figure);
    if rate <= limit.most {
        return buffered(sheet, figure, index);
    }
    let shown = |v| format_quantity(v, Unit::BytePerSecond);
    Some(
        Finding::new(
            RULE.id,
            limit.severity,
            format!("{} from the disk, but {} {}", shown(rate), limit.whose, shown(limit.most)),
            ADVICE,
        )
        .with("device_bytes_per_s", rate)
        .with("limit_bytes_per_s", limit.most),
    )
}

/// Fewer other figures prove nothing about a tool.
const LEAST_OTHERS: usize = 9;
/// Share of them above the limit that tells a buffered tool.
const MOST_OF_THEM: f64 = 0.9;

/// A slow figure of a tool whose other figures at that point came from the page cache: it was
/// buffered as well, and includes what the cache was busy with.
fn buffered(sheet: &Sheet, figure: &Figure, index: usize) -> Option<Finding> {
    if !figure.is(Subsystem::Disk, Metric::Throughput) || figure.level().is_none() {
        return None;
    }
    let tally = sheet.tally(index)?;
    let others = tally.figures.saturating_sub(1);
    let most = others >= LEAST_OTHERS && tally.above as f64 >= MOST_OF_THEM * others as f64;
    most.then(|| {
        Finding::new(
            RULE.id,
            Severity::Suspect,
            format!(
                "{} of this tool's {others} other rates at this block size and thread count exceed \
                 the disk's limit",
                tally.above
            ),
            ADVICE,
        )
        .with("others", others)
        .with("above", tally.above)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, findings, flagged};

    #[test]
    fn a_rate_above_the_link_is_the_page_cache() {
        let rows = "disk,x,seq_read,throughput,,1,1,601,MB/s,601e6,bytes/s\n\
                    disk,x,seq_read,throughput,,1,1,599,MB/s,599e6,bytes/s\n\
                    disk,x,seq_read,throughput,,1,sd,601,MB/s,601e6,bytes/s\n\
                    memory,x,seq_read,throughput,,1,1,601,MB/s,601e6,bytes/s\n";
        assert_eq!(flagged(&RULE, MACHINE, rows), [true, false, false, false]);
        let slower = "[m]\ndisk_link_bytes_per_s = 6e8\ndisk_limit_bytes_per_s = 1e8\n";
        assert_eq!(flagged(&RULE, slower, rows), [true, true, false, false]);
        assert_eq!(flagged(&RULE, "[m]\n", rows), [false; 4]);
    }

    #[test]
    fn a_random_byte_costs_a_sector() {
        let rows = "disk,x,rand_read,throughput,1,1,1,2,MB/s,2e6,bytes/s\n\
                    disk,x,rand_read,throughput,1,1,1,1,MB/s,1e6,bytes/s\n\
                    disk,x,seq_read,throughput,1,1,1,2,MB/s,2e6,bytes/s\n\
                    disk,x,rand_read,throughput,4096,1,1,2,MB/s,2e6,bytes/s\n";
        assert_eq!(flagged(&RULE, MACHINE, rows), [true, false, false, false]);
    }

    #[test]
    fn a_buffered_tool_is_buffered_in_all_it_does() {
        let row = |operation: &str, rate: u32| {
            format!("disk,x,{operation},throughput,4096,1,1,{rate},MB/s,{rate}e6,bytes/s\n")
        };
        let fast: String = (0..9).map(|n| row(&format!("op{n}"), 5000)).collect();
        let last = |rows: String| flagged(&RULE, MACHINE, &rows).last().copied();
        assert_eq!(last(format!("{fast}{}", row("write", 500))), Some(true));
        let fewer: String = (0..8).map(|n| row(&format!("op{n}"), 5000)).collect();
        assert_eq!(last(format!("{fewer}{}", row("write", 500))), Some(false));
        assert_eq!(last(format!("{fast}{}{}", row("r", 400), row("w", 500))), Some(true));
        assert_eq!(
            last(format!("{fast}{}{}{}", row("a", 1), row("b", 400), row("w", 500))),
            Some(false)
        );
        let other = row("write", 500).replace("4096", "512");
        assert_eq!(last(format!("{fast}{other}")), Some(false));
    }

    #[test]
    fn a_latency_is_a_rate_too() {
        let rows = "disk,x,seq_read,latency,8192,1,1,10,us,1e-5,seconds\n\
                    disk,x,seq_read,latency,8192,1,1,20,us,2e-5,seconds\n\
                    disk,x,seq_read,latency,,1,1,10,us,1e-5,seconds\n";
        assert_eq!(flagged(&RULE, MACHINE, rows), [true, false, false]);
        let allowed = "[m]\ndisk_limit_bytes_per_s = 1e6\n";
        assert_eq!(flagged(&RULE, allowed, rows), [false; 3]);
        let both = format!("{MACHINE}disk_limit_bytes_per_s = 1e6\n");
        assert_eq!(flagged(&RULE, &both, rows), [true, false, false]);
    }

    #[test]
    fn operations_a_second_move_their_blocks() {
        let rows = "disk,x,rand_read,rate,4096,8,1,150,kIOPS,150e3,ops/s\n\
                    disk,x,rand_read,rate,4096,8,1,140,kIOPS,140e3,ops/s\n\
                    disk,x,rand_read,rate,1,8,1,1.2,MIOPS,1.2e6,ops/s\n\
                    disk,x,stat,rate,,8,1,9,MIOPS,9e6,ops/s\n";
        assert_eq!(flagged(&RULE, MACHINE, rows), [true, false, true, false]);
    }

    #[test]
    fn reads_and_writes_use_both_directions_of_pcie_and_share_those_of_sata() {
        let rows = "disk,x,seq_read_write,throughput,,1,1,900,MB/s,900e6,bytes/s\n\
                    disk,x,seq_read_write,throughput,,1,1,12,GB/s,12e9,bytes/s\n\
                    disk,x,seq_read_write,throughput,,1,1,16,GB/s,16e9,bytes/s\n\
                    disk,x,seq_read,throughput,,1,1,12,GB/s,12e9,bytes/s\n";
        assert_eq!(flagged(&RULE, MACHINE, rows), [true; 4]);
        let gen4 = "[m]\ndisk_link_bytes_per_s = 7.877e9\n";
        assert_eq!(flagged(&RULE, gen4, rows), [false, false, true, true]);
    }

    #[test]
    fn only_above_a_declared_limit_is_a_rate_impossible() {
        let rows = "disk,x,seq_read,throughput,,1,1,28,GB/s,28e9,bytes/s\n\
                    disk,x,seq_read,throughput,,1,1,15,GB/s,15e9,bytes/s\n";
        let severities = |machine: &str| -> Vec<_> {
            findings(&RULE, machine, rows).into_iter().map(|f| f.map(|f| f.severity)).collect()
        };
        assert_eq!(severities("[m]\n"), [Some(Severity::Suspect), None]);
        let gen4 = "[m]\ndisk_link_bytes_per_s = 7.877e9\n";
        assert_eq!(severities(gen4), [Some(Severity::Invalid); 2]);
        assert_eq!(severities("[m]\ndisk_link_bytes_per_s = 31.5e9\n"), [None; 2]);
    }
}
