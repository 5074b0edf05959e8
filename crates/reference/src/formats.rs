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

const FAILED: Option<&str> = Some("the program measured nothing: run it again without the error");
const FIO_JSON: Option<&str> = Some("run fio with --output-format=json");

const TERSE: Format = Format { instead: FIO_JSON, ..format("fio's terse output", &["2;"]) };

const FORMATS: &[Format] = &[
    Format { instead: FIO_JSON, ..format("fio's text", &["(groupid=", "fio-"]) },
    Format { holds: &["3;fio-"], ..TERSE },
    Format { holds: &["4;fio-"], ..TERSE },
    Format { holds: &["5;fio-"], ..TERSE },
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
    Format {
        instead: Some("give all that IOzone prints"),
        ..format("a part of IOzone's text", &[" reclen ", "rewrite"])
    },
    Format {
        instead: Some("give all that HPL prints"),
        ..format("a part of HPL's text", &["||Ax-b||_oo"])
    },
    Format { instead: FIO_JSON, ..format("a part of fio's text", &["IO depths    :"]) },
    Format {
        instead: Some("give all that iperf prints, or run iperf3 with -J"),
        ..format("a part of iperf's text", &[" sec ", "Bytes", "bits/sec"])
    },
    format("bonnie++'s table", &["Sequential Output", "Sequential Input"]),
    format("bonnie++'s CSV", &["1.98,1.98,"]),
    format("bonnie++'s CSV", &["1.97,1.97,"]),
    format("bonnie++'s CSV", &["2.00,2.00,"]),
    format("stress-ng's output", &["stress-ng: info:"]),
    Format {
        instead: Some("import the part of one of its programs: lat_mem_rd, bw_mem or stream"),
        ..format("lmbench's results file", &["[lmbench", " results for "])
    },
    format("BabelStream's output", &["BabelStream"]),
    format("BabelStream's CSV", &["function,num_times,n_elements,"]),
    format("GPU-STREAM's output", &["GPU-STREAM"]),
    format("HPCG's output", &["HPCG-Benchmark"]),
    format("Geekbench's output", &["Geekbench"]),
    format("hyperfine's text", &["Benchmark ", "Time (mean ±"]),
    format("hyperfine's JSON", &["\"results\"", "\"command\"", "\"exit_codes\""]),
    format("dd's output", &["records out", " copied"]),
    format("dd's output", &["records out", " bytes transferred in "]),
    format("dd's output", &["+0 ", " s, ", "B/s"]),
    format("DiskSpd's output", &["Total IO", "thread |"]),
    format("elbencho's table", &["OPERATION", "RESULT TYPE"]),
    format("IOR's output", &["IOR-", "bw(MiB/s)"]),
    format("mdtest's output", &["mdtest-", "SUMMARY rate"]),
    format("NTttcp's output", &["NTTTCP"]),
    format("ethr's output", &["Ethr", "Protocol"]),
    format("ping's output", &["ping statistics ---", " packet loss"]),
    format("ATTO's output", &["ATTO DISK BENCHMARK"]),
    format("PassMark's output", &["PassMark"]),
    format("y-cruncher's output", &["y-cruncher"]),
    format("RAMspeed's output", &["RAMspeed"]),
    format("netlib's LINPACK in C", &["LINPACK benchmark,", "KFLOPS"]),
    format("linpack_bench's output", &["LINPACK", "Cray-Ratio"]),
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
    format("OpenSSL's speed test", &["type  ", "16 bytes", "64 bytes"]),
    format("OpenSSL's speed test", &["sign/s verify/s"]),
    format("the OSU micro-benchmarks", &["# OSU "]),
    format("the Intel MPI benchmarks", &["MPI Benchmarks", "#bytes #repetitions"]),
    format("perftest's table", &["#bytes", "#iterations", "BW average[", "MsgRate["]),
    format("Vdbench's report", &["Vdbench", "resp"]),
    format("speedtest's output", &["Speedtest by Ookla"]),
    format("YABS' output", &["Yet-Another-Bench-Script"]),
    // An error may stand beside the output of a program that ran.
    Format { instead: FAILED, ..format("an error of fio", &["fio: failed to "]) },
    Format { instead: FAILED, ..format("an error of iperf3", &["iperf3: error - "]) },
    Format { instead: FAILED, ..format("an error of iperf3", &["iperf3: parameter error - "]) },
    Format { instead: FAILED, ..format("an error of a shell", &[": command not found"]) },
];

/// Names the format of an output that no reader reads, and the alternative.
pub fn unread(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("the file is empty; import what the tool printed".to_owned());
    }
    let terse = is_old_terse(text).then_some(&TERSE);
    let found = terse.or_else(|| FORMATS.iter().find(|f| f.is_in(text)))?;
    let other = || {
        let all: Vec<_> = crate::ALL.iter().map(|tool| tool.id()).collect();
        let all = all.join(", ");
        format!("proofmark audit checks a figure that you type (explain audit); import reads {all}")
    };
    let instead = found.instead.map_or_else(other, str::to_owned);
    Some(format!("this is {}, which is not read: {instead}", found.name))
}

/// Returns true for fio's second terse form, which does not name fio: `2;job;0;0;` and numbers.
fn is_old_terse(text: &str) -> bool {
    text.lines()
        .any(|line| line.starts_with("2;") && line.contains("%=") && line.split(';').count() > 40)
}

/// Returns true if a format's name names this tool, or a version of it: iperf3's text is not
/// iperf's.
fn is_of(name: &str, tool: &str) -> bool {
    let program = |word: &str| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase();
    name.split([' ', '\'', ',']).any(|word| program(word) == program(tool))
}

/// Names an unread format of another program in a text that this tool's reader read.
pub fn other_format(tool: &str, text: &str) -> Option<String> {
    let other = |f: &&Format| {
        ![Some(UNPACK), Some(TEXT), FAILED].contains(&f.instead) && !is_of(f.name, tool)
    };
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
        assert_eq!(other_format("iperf", others), None);
        for other in ["BabelStream", "GPU-STREAM"] {
            let said = other_format("stream", other);
            assert!(said.is_some_and(|said| said.starts_with(other)), "{other}");
        }
        // No captured output contains another format.
        for (folder, path) in crate::captured::folders() {
            for (name, text) in crate::captured::outputs(&path) {
                let Some((tool, Ok(_))) = crate::read(&text) else { continue };
                assert_eq!(other_format(tool.id(), &text), None, "{folder}/{name}");
            }
        }
    }

    const OLD_TERSE: &str = "2;a;0;0;35400;35364;8841;1001;0;0;0.0;0.0;33;12137;1;1;1;1;1;1;1;1;1;1;1;1;1;1;\
                             1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1%=3";

    #[test]
    fn known_formats_are_named_with_what_to_do_instead() {
        for (text, says) in [
            (
                "rand: (g=0)\nfio-3.33\nrand: (groupid=0, jobs=1): err= 0: pid=7",
                "--output-format=json",
            ),
            ("3;fio-3.33;rand;0;0;1024", "terse"),
            ("5;fio-3.33;rand;0;0;1024", "terse"),
            (OLD_TERSE, "terse"),
            ("fio: engine x not loadable\nfio: failed to load engine\n", "an error of fio"),
            (
                "iperf3: error - unable to connect to server: Connection refused\n",
                "measured nothing",
            ),
            (" \n\n", "the file is empty; import what the tool printed"),
            (
                "1024+0 Datensaetze aus\n1073741824 Bytes (1,1 GB) kopiert, 0,5 s, 2,1 GB/s",
                "import reads fio,",
            ),
            ("8+0 records out\n8388608 bytes transferred in 0.1 secs (83886080 bytes/sec)", "dd's"),
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
            ("              kB  reclen    write  rewrite    read", "all that IOzone prints"),
            ("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.001 ...... PASSED", "HPL prints"),
            ("bash: numactl: command not found\n8+0 records out\n1 B copied, 1 s", "dd's"),
            ("bash: stream: command not found\n", "measured nothing"),
            (
                "Connecting to host a, port 5201\n[ ID] Interval  Transfer\n\
                 iperf3: error - control socket has closed unexpectedly\n",
                "run iperf3 with -J",
            ),
            ("\u{1f}\u{8b}\u{8}\u{0}", "unpack it first"),
            ("{\"schema\":\"proofmark.run/2\",", "proofmark report"),
            ("<!DOCTYPE html><html lang=en>", "save the text"),
        ] {
            assert!(unread(text).is_some_and(|said| said.contains(says)), "{text}");
        }
        assert_eq!(unread("a photo"), None);
    }
}
