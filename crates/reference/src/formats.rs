//! Known outputs that are not read, with the alternative for each.

/// An output that is not read.
struct Format {
    /// The words that each output of this format contains, all of them.
    holds: &'static [&'static str],
    name: &'static str,
    /// The alternative, where the same program can print a format that is read.
    instead: Option<&'static str>,
}

impl Format {
    fn is_in(&self, text: &str) -> bool {
        self.holds.iter().all(|words| text.contains(words))
    }
}

const fn format(name: &'static str, holds: &'static [&'static str]) -> Format {
    Format { holds, name, instead: None }
}

/// A file in which no tool's text can be found until it is converted.
const fn file(name: &'static str, holds: &'static [&'static str], instead: &'static str) -> Format {
    Format { name, holds, instead: Some(instead) }
}

const UNPACK: &str = "unpack it first; - reads standard input";
const TEXT: &str = "save the text that the tool printed";

const FIO_JSON: Option<&str> = Some("run fio with --output-format=json");

const FORMATS: &[Format] = &[
    Format { instead: FIO_JSON, ..format("fio's text", &["(groupid=", "fio-"]) },
    Format { instead: FIO_JSON, ..format("fio's terse output", &["3;fio-"]) },
    Format {
        instead: Some("run iperf3 with -J"),
        ..format("iperf3's text", &["Connecting to host ", "[ ID] Interval"])
    },
    file("a run of proofmark", &["\"proofmark.run/"], "see proofmark report"),
    file("packed with gzip", &["\u{1f}\u{8b}\u{8}"], UNPACK),
    file("packed with xz", &["\u{fd}7zXZ"], UNPACK),
    file("packed with zstd", &["(\u{b5}/\u{fd}"], UNPACK),
    file("a zip archive", &["PK\u{3}\u{4}"], UNPACK),
    file("a PDF", &["%PDF-"], TEXT),
    file("a picture", &["\u{89}PNG\r\n"], TEXT),
    file("a web page", &["<html"], TEXT),
    // The text of a server, or a part of a text.
    Format {
        instead: Some("run iperf3's client with -J"),
        ..format("iperf3's text", &["[ ID] Interval", "connected to"])
    },
    Format {
        instead: Some("run iperf3's client with -J"),
        ..format("iperf3's text", &["[ ID] Interval", " sender"])
    },
    Format {
        instead: Some("give netperf's lines as it prints them"),
        ..format("netperf's text, changed", &[" TEST from ", " AF_INET"])
    },
    Format {
        instead: Some("give all that sysbench prints"),
        ..format("a part of sysbench's text", &["Threads fairness:", "(avg/stddev):"])
    },
    Format {
        instead: Some("give all that likwid-bench prints"),
        ..format("a part of likwid-bench's text", &["Cycles per cacheline:", "MByte/s:"])
    },
    Format { instead: FIO_JSON, ..format("a part of fio's text", &["IO depths    :"]) },
    Format {
        instead: Some("give all that iperf prints, or run iperf3 with -J"),
        ..format("a part of iperf's text", &[" sec ", "Bytes", "bits/sec"])
    },
    format("bonnie++'s table", &["Sequential Output", "Sequential Input"]),
    format("stress-ng's output", &["stress-ng: info:"]),
    Format {
        instead: Some("import the part of one of its programs: lat_mem_rd, bw_mem or stream"),
        ..format("lmbench's results file", &["[lmbench", " results for "])
    },
    format("BabelStream's output", &["BabelStream"]),
    format("GPU-STREAM's output", &["GPU-STREAM"]),
    format("HPCG's output", &["HPCG-Benchmark"]),
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
    format("ApacheBench's output", &["This is ApacheBench"]),
    format("redis-benchmark's output", &["requests completed in", "parallel clients"]),
    format("pgbench's output", &["transaction type:", "tps = "]),
    format("Intel's Memory Latency Checker", &["Intel(R) Memory Latency Checker"]),
    format("tinymembench's output", &["tinymembench v"]),
    format("UnixBench's output", &["BYTE UNIX Benchmarks"]),
    format("OpenSSL's speed test", &["in 1000s of bytes per second processed"]),
    format("the OSU micro-benchmarks", &["# OSU "]),
    format("the Intel MPI benchmarks", &["MPI Benchmarks", "#bytes #repetitions"]),
    format("perftest's table", &["#bytes", "#iterations", "BW average[", "MsgRate["]),
    format("Vdbench's report", &["Vdbench", "resp"]),
    format("speedtest's output", &["Speedtest by Ookla"]),
    format("YABS' output", &["Yet-Another-Bench-Script"]),
];

/// Names the format of an output that no reader reads, and the alternative.
pub fn unread(text: &str) -> Option<String> {
    let found = FORMATS.iter().find(|f| f.is_in(text))?;
    let instead =
        found.instead.unwrap_or("proofmark audit checks a figure that you type (explain audit)");
    Some(format!("this is {}, which is not read: {instead}", found.name))
}

/// Names an unread format of another program in a text that this tool's reader read.
pub fn other_format(tool: &str, text: &str) -> Option<String> {
    let other =
        |f: &&Format| ![Some(UNPACK), Some(TEXT)].contains(&f.instead) && !f.name.contains(tool);
    let found = FORMATS.iter().filter(other).find(|f| f.is_in(text))?;
    Some(format!("{}, which is not read", found.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_an_output_is_named() {
        let others = "Connecting to host b, port 5201\n[ ID] Interval Transfer\n";
        assert!(
            other_format("sockperf", others).is_some_and(|what| what.starts_with("iperf3's text"))
        );
        assert_eq!(other_format("iperf3", others), None);
        // No captured output contains another format.
        for (folder, path) in crate::captured::folders() {
            for (name, text) in crate::captured::outputs(&path) {
                let Some((tool, Ok(_))) = crate::read(&text) else { continue };
                assert_eq!(other_format(tool.id(), &text), None, "{folder}/{name}");
            }
        }
    }

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
            ("x = \"MIGRATED TCP STREAM TEST from a () port 0 AF_INET to b ()", "netperf's lines"),
            ("Threads fairness:\n    events (avg/stddev):   77.0/1.00", "all that sysbench"),
            ("MByte/s:\t\t77.1\nCycles per cacheline:\t7.5", "all that likwid-bench"),
            ("  IO depths    : 1=100.0%, 2=0.0%", "--output-format=json"),
            ("[  3]  0.0-10.0 sec  1.10 GBytes   943 Mbits/sec", "give all that iperf prints"),
            (
                "8+0 records in\n8+0 records out\n8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.1 s",
                "dd's",
            ),
            ("/dev/sda:\n Timing buffered disk reads: 424 MB in 3 s = 141.1 MB/sec", "hdparm"),
            ("--- /dev/sda (block device 1 TiB) ioping statistics ---", "ioping"),
            ("\u{1f}\u{8b}\u{8}\u{0}", "unpack it first"),
            ("{\"schema\":\"proofmark.run/2\",", "proofmark report"),
            ("<!DOCTYPE html><html lang=en>", "save the text"),
        ] {
            assert!(unread(text).is_some_and(|said| said.contains(says)), "{text}");
        }
        assert_eq!(unread("a photo"), None);
    }
}
