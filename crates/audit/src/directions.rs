//! Detection of figures that add up both directions of a link. Both carry data at once, so their
//! sum may be twice the rate of one.

use crate::figure::Figure;

/// Words, or parts of words, for both directions: `bibw` is from the OSU benchmarks, `dualtest`
/// from iperf.
const DUPLEX: [&str; 5] = ["both", "bidir", "duplex", "bibw", "dualtest"];
const HALF_DUPLEX: &str = "halfduplex";

/// True if the operation names both directions; for networks, the tool's name counts too.
pub(crate) fn both(figure: &Figure) -> bool {
    let operation = figure.operation.to_ascii_lowercase();
    let names = match figure.subsystem.info().has_server {
        true => format!("{operation} {}", figure.tool.to_ascii_lowercase()),
        false => operation,
    };
    // "bi-directional", "full_duplex".
    let joined: String = names.chars().filter(char::is_ascii_alphanumeric).collect();
    if joined.contains(HALF_DUPLEX) {
        return false;
    }
    let reads_and_writes = || {
        let mut words = names.split(|c: char| !c.is_ascii_alphanumeric());
        joined.contains("read") && joined.contains("write")
            || words.any(|w| w.ends_with("rw") || w == "mixed")
    };
    DUPLEX.iter().any(|word| joined.contains(word))
        || figure.subsystem.info().uses_block_devices && reads_and_writes()
}

#[cfg(test)]
mod tests {
    use crate::testing::figures;

    fn both(subsystem: &str, tool: &str, operation: &str) -> bool {
        let row = format!("{subsystem},{tool},{operation},throughput,,,,1,,1,bits/s\n");
        super::both(&figures(&row)[0])
    }

    #[test]
    fn a_disk_reads_and_writes_where_the_operation_says_so() {
        for operation in ["randrw", "seq_read_write", "Mixed", "read+write", "rand rw 70/30"] {
            assert!(both("disk", "x", operation), "{operation}");
        }
        for operation in ["record_rewrite", "reread", "seq_read", "rand_write", "rrwa", ""] {
            assert!(!both("disk", "readwrite", operation), "{operation}");
        }
    }

    #[test]
    fn a_network_is_duplex_where_operation_or_tool_says_so() {
        for operation in ["tcp_bidir", "Bi-Directional", "full duplex", "both"] {
            assert!(both("network", "x", operation), "{operation}");
        }
        assert!(both("network", "osu_bibw", "stream"));
        for operation in ["tcp", "half-duplex", "read_write"] {
            assert!(!both("network", "x", operation), "{operation}");
        }
    }
}
