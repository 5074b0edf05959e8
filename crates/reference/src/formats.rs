//! Outputs that are known and not read, so that nobody has to guess what to do instead.

/// An output that is not read.
struct Format {
    /// What an output of it holds, all of them.
    holds: &'static [&'static str],
    name: &'static str,
    /// What to do instead, where the same program can print what is read.
    instead: Option<&'static str>,
}

const fn format(name: &'static str, holds: &'static [&'static str]) -> Format {
    Format { holds, name, instead: None }
}

const FIO_JSON: Option<&str> = Some("run fio with --output-format=json");

const FORMATS: &[Format] = &[
    Format { instead: FIO_JSON, ..format("fio's text", &["(groupid=", "fio-"]) },
    Format { instead: FIO_JSON, ..format("fio's terse output", &["3;fio-"]) },
    Format {
        instead: Some("run iperf3 with -J"),
        ..format("iperf3's text", &["Connecting to host ", "[ ID] Interval"])
    },
    // A server's, or a part of it.
    Format {
        instead: Some("run iperf3's client with -J"),
        ..format("iperf3's text", &["[ ID] Interval", "connected to "])
    },
    Format {
        instead: Some("run iperf3's client with -J"),
        ..format("iperf3's text", &["[ ID] Interval", " sender"])
    },
    Format {
        instead: Some("give all that iperf prints, or run iperf3 with -J"),
        ..format("a part of iperf's text", &[" sec ", "Bytes", "bits/sec"])
    },
    format("bonnie++'s table", &["Sequential Output", "Sequential Input"]),
    format("stress-ng's output", &["stress-ng: info:"]),
    format("BabelStream's output", &["BabelStream"]),
    format("Geekbench's output", &["Geekbench"]),
    format("hyperfine's JSON", &["\"results\"", "\"command\"", "\"exit_codes\""]),
    format("dd's output", &["records out", " copied"]),
    format("hdparm's output", &["Timing ", "MB/sec"]),
    format("ioping's output", &["ioping statistics ---"]),
    format("pg_test_fsync's output", &["Compare file sync methods"]),
    format("Phoronix Test Suite's XML", &["<PhoronixTestSuite>"]),
    format("CrystalDiskMark's text", &["CrystalDiskMark"]),
    format("7-Zip's benchmark", &["7-Zip", "Dict", "MIPS"]),
    format("CoreMark's output", &["CoreMark Size"]),
    format("mbw's output", &["Method: MEMCPY", "MiB: "]),
    format("wrk's output", &["Thread Stats", "Requests/sec:"]),
];

/// What an output is that no tool's reader reads, and what to do instead.
pub fn unread(text: &str) -> Option<String> {
    let is_it = |f: &&Format| f.holds.iter().all(|words| text.contains(words));
    let found = FORMATS.iter().find(is_it)?;
    let instead =
        found.instead.unwrap_or("proofmark audit checks a figure that you type (explain audit)");
    Some(format!("this is {}, which is not read: {instead}", found.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_formats_are_named_with_what_to_do_instead() {
        for (text, says) in [
            (
                "rand: (g=0)\nfio-3.33\nrand: (groupid=0, jobs=1): err= 0: pid=7",
                "--output-format=json",
            ),
            ("3;fio-3.33;rand;0;0;1024", "terse"),
            ("Connecting to host a, port 5201\n[ ID] Interval  Transfer", "with -J"),
            (
                "[  5] local ::1 port 1 connected to ::1 port 2\n[ ID] Interval  Transfer",
                "client with -J",
            ),
            ("[  3]  0.0-10.0 sec  1.10 GBytes   943 Mbits/sec", "give all that iperf prints"),
            (
                "8+0 records in\n8+0 records out\n8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.1 s",
                "dd's",
            ),
            ("/dev/sda:\n Timing buffered disk reads: 424 MB in 3 s = 141.1 MB/sec", "hdparm"),
            ("--- /dev/sda (block device 1 TiB) ioping statistics ---", "ioping"),
        ] {
            assert!(unread(text).is_some_and(|said| said.contains(says)), "{text}");
        }
        assert_eq!(unread("a photo"), None);
    }
}
