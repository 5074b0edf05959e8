//! The rows of the published experiments, each of which the profiles must hold.

use std::collections::BTreeMap;

use proofmark_model::{ParameterKind, parse_size};
use proofmark_workloads::find;

use super::{BUILT_IN, Profile, Reference};

/// A row: every combination of its workloads and parameters is a point of its profile.
struct Row {
    name: &'static str,
    profile: &'static str,
    workloads: &'static [&'static str],
    parameters: &'static [(&'static str, &'static [&'static str])],
    take: Take,
    /// A tool that repeats each of its points.
    tool: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Take {
    Trials(u32),
    /// Seconds in all and from one sample to the next.
    Series(u64, u64),
}

const YEAR_2017: &str = "chameleon-2017";
const YEAR_2016: &str = "aws-2016";
const MIXES: &[&str] = &["cpu.mix.int", "cpu.mix.float"];
const PEAKS: &[&str] = &["cpu.flops", "cpu.iops"];
const STREAM: &[&str] = &["memory.copy", "memory.scale", "memory.add", "memory.triad"];
const MEMORY: &[&str] =
    &["memory.read_write", "memory.rand_read_write", "memory.seq_write", "memory.rand_write"];
const DISK: &[&str] =
    &["disk.read_write", "disk.seq_write", "disk.rand_write", "disk.seq_read", "disk.rand_read"];
const IOZONE: &[&str] = &["disk.seq_write", "disk.seq_read", "disk.rand_read", "disk.rand_write"];
const RECORDS: &[&str] =
    &["4KB", "8KB", "16KB", "32KB", "64KB", "128KB", "256KB", "512KB", "1MB", "2MB", "4MB", "8MB"];
const T4: &[&str] = &["1", "2", "4", "8"];
const T3: &[&str] = &["1", "2", "4"];
const T2: &[&str] = &["1", "2"];
const SIZES_2017: &[&str] = &["8B", "8KB", "8MB", "80MB"];
const SIZES_2016: &[&str] = &["1B", "1KB", "1MB"];
const THREE: Take = Take::Trials(3);

const fn row(
    name: &'static str,
    profile: &'static str,
    workloads: &'static [&'static str],
    parameters: &'static [(&'static str, &'static [&'static str])],
) -> Row {
    Row { name, profile, workloads, parameters, take: THREE, tool: None }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("the mixes", YEAR_2017, MIXES, &[("threads", T4), ("mix", &["add16", "arith17"]), ("isa", &["scalar"]), ("iterations", &["1000000000"])]),
    row("the mixes", YEAR_2016, MIXES, &[("threads", T3), ("mix", &["add16", "arith17"]), ("isa", &["scalar"]), ("iterations", &["1000000000"])]),
    row("the mixes with AVX", YEAR_2017, MIXES, &[("threads", T4), ("mix", &["add16", "arith17"]), ("isa", &["avx2"]), ("iterations", &["1000000000"])]),
    row("the mixes with AVX", YEAR_2016, MIXES, &[("threads", T3), ("mix", &["add16", "arith17"]), ("isa", &["avx2"]), ("iterations", &["1000000000"])]),
    row("peak rates by instruction set", YEAR_2017, PEAKS, &[("threads", T4), ("isa", &["all"])]),
    row("peak rates by instruction set", YEAR_2016, PEAKS, &[("threads", T3), ("isa", &["all"])]),
    Row { take: Take::Series(600, 1), ..row("rates over 600 s", YEAR_2017, MIXES, &[("threads", &["4"])]) },
    Row { take: Take::Series(600, 1), ..row("rates over 600 s", YEAR_2016, MIXES, &[("threads", &["4"])]) },
    row("LINPACK", YEAR_2017, &["cpu.linpack"], &[("threads", &["all"]), ("n", &["1000", "2000", "5000", "10000", "15000", "18000", "20000"])]),
    row("LINPACK", YEAR_2016, &["cpu.linpack"], &[("threads", &["all"]), ("n", &["1000", "2000", "5000", "10000"])]),
    row("memory", YEAR_2017, MEMORY, &[("threads", T4), ("block_size", SIZES_2017), ("data_size", &["1GB"])]),
    row("memory", YEAR_2016, MEMORY, &[("threads", T2), ("block_size", SIZES_2016), ("data_size", &["1GB"])]),
    row("memory of other sizes", YEAR_2017, &["memory.read_write", "memory.seq_write"], &[("data_size", &["50MB", "1536MB"])]),
    row("latency of memory", YEAR_2017, &["memory.latency"], &[("working_set", &["1GB"]), ("order", &["local", "rand"])]),
    row("latency of memory", YEAR_2016, &["memory.latency"], &[("working_set", &["1GB"]), ("order", &["local", "rand"])]),
    Row { take: Take::Trials(10), ..row("STREAM", YEAR_2017, STREAM, &[("threads", &["1", "all"]), ("array_size", &["80000000B", "auto"])]) },
    Row { take: Take::Trials(10), tool: Some("stream"), ..row("STREAM itself", YEAR_2017, STREAM, &[("threads", &["1", "all"]), ("array_size", &["auto"])]) },
    Row { take: Take::Trials(10), ..row("STREAM", YEAR_2016, STREAM, &[("threads", &["1", "all"]), ("array_size", &["80000000B", "auto"])]) },
    Row { take: Take::Trials(10), tool: Some("stream"), ..row("STREAM itself", YEAR_2016, STREAM, &[("threads", &["1", "all"]), ("array_size", &["auto"])]) },
    row("disk", YEAR_2017, DISK, &[("threads", T4), ("block_size", SIZES_2017), ("queue_depth", &["1"]), ("file_size", &["auto"])]),
    row("disk", YEAR_2016, DISK, &[("threads", T2), ("block_size", SIZES_2016), ("queue_depth", &["1"]), ("file_size", &["auto"])]),
    row("disk, larger files", YEAR_2017, &["disk.seq_write", "disk.seq_read"], &[("file_size", &["8GB", "10GB"])]),
    row("IOzone, small files", YEAR_2017, IOZONE, &[("direct", &["auto"]), ("file_size", &["64KB", "128KB", "256KB", "512KB", "1MB", "2MB", "4MB", "8MB", "16MB"]), ("block_size", RECORDS)]),
    row("IOzone, large files", YEAR_2017, IOZONE, &[("direct", &["auto"]), ("file_size", &["32MB", "64MB", "128MB", "256MB", "512MB"]), ("block_size", &["64KB", "128KB", "256KB", "512KB", "1MB", "2MB", "4MB", "8MB"])]),
    row("IOzone, one file", YEAR_2017, IOZONE, &[("direct", &["auto"]), ("file_size", &["1GB"]), ("block_size", RECORDS)]),
    row("IOzone, one file", YEAR_2016, IOZONE, &[("direct", &["auto"]), ("file_size", &["1GB"]), ("block_size", RECORDS)]),
    row("IOzone's reread, small files", YEAR_2017, &["disk.seq_read"], &[("file_size", &["64KB", "128KB", "256KB", "512KB", "1MB", "2MB", "4MB", "8MB", "16MB"]), ("block_size", RECORDS), ("direct", &["off"]), ("cache", &["warm"])]),
    row("IOzone's reread, large files", YEAR_2017, &["disk.seq_read"], &[("file_size", &["32MB", "64MB", "128MB", "256MB", "512MB"]), ("block_size", &["64KB", "128KB", "256KB", "512KB", "1MB", "2MB", "4MB", "8MB"]), ("direct", &["off"]), ("cache", &["warm"])]),
    row("IOzone's reread, one file", YEAR_2017, &["disk.seq_read"], &[("file_size", &["1GB"]), ("block_size", RECORDS), ("direct", &["off"]), ("cache", &["warm"])]),
    row("IOzone's reread", YEAR_2016, &["disk.seq_read"], &[("file_size", &["1GB"]), ("block_size", RECORDS), ("direct", &["off"]), ("cache", &["warm"])]),
    Row { tool: Some("iozone"), ..row("IOzone itself", YEAR_2017, IOZONE, &[("direct", &["auto"]), ("file_size", &["1MB", "16MB", "128MB", "1GB"]), ("block_size", &["64KB", "256KB", "1MB"])]) },
    Row { tool: Some("iozone"), ..row("IOzone itself", YEAR_2016, IOZONE, &[("direct", &["auto"]), ("file_size", &["1GB"]), ("block_size", &["64KB", "256KB", "1MB", "8MB"])]) },
    Row { tool: Some("iozone"), ..row("IOzone itself", YEAR_2017, &["disk.seq_read"], &[("file_size", &["1MB", "16MB", "128MB", "1GB"]), ("cache", &["warm"])]) },
    Row { tool: Some("iozone"), ..row("IOzone itself", YEAR_2016, &["disk.seq_read"], &[("file_size", &["1GB"]), ("cache", &["warm"])]) },
    row("TCP throughput", YEAR_2017, &["network.tcp.stream"], &[("streams", T4), ("block_size", &["64KB"]), ("amount", &["1GB"])]),
    row("UDP throughput", YEAR_2017, &["network.udp.stream"], &[("streams", T4), ("block_size", &["65507B"]), ("amount", &["1GB"])]),
    row("TCP throughput", YEAR_2016, &["network.tcp.stream"], &[("streams", T2), ("block_size", &["1B", "1KB", "64KB"])]),
    row("UDP throughput", YEAR_2016, &["network.udp.stream"], &[("streams", T2), ("block_size", &["1B", "1KB", "65507B"])]),
    row("TCP round trip", YEAR_2017, &["network.tcp.rtt"], &[("streams", T4), ("block_size", &["1B", "1KB", "8KB", "64KB"])]),
    row("UDP round trip", YEAR_2017, &["network.udp.rtt"], &[("streams", T4), ("block_size", &["1B", "1KB", "8KB", "65507B"])]),
    row("TCP round trip", YEAR_2016, &["network.tcp.rtt"], &[("streams", T2), ("block_size", &["1B", "1KB", "64KB"])]),
    row("UDP round trip", YEAR_2016, &["network.udp.rtt"], &[("streams", T2), ("block_size", &["1B", "1KB", "65507B"])]),
    Row { tool: Some("iperf3"), ..row("iperf3", YEAR_2017, &["network.tcp.stream", "network.udp.stream"], &[("amount", &["auto"])]) },
    Row { tool: Some("iperf"), ..row("iperf", YEAR_2017, &["network.tcp.stream", "network.udp.stream"], &[("amount", &["auto"])]) },
    Row { tool: Some("iperf3"), ..row("iperf3", YEAR_2016, &["network.tcp.stream", "network.udp.stream"], &[("amount", &["auto"])]) },
    Row { tool: Some("iperf"), ..row("iperf", YEAR_2016, &["network.tcp.stream", "network.udp.stream"], &[("amount", &["auto"])]) },
];

/// Points beyond the rows: the first workload of `[[points]]` that no row needs.
const BEYOND: &[&str] = &["cpu.clock"];

/// A point as the profile's text has it, on any machine.
struct Cell {
    workload: String,
    parameters: BTreeMap<String, String>,
    take: Take,
    tools: Vec<String>,
}

/// A value as it is compared: sizes in bytes.
fn plain(workload: &str, parameter: &str, text: &str) -> String {
    let kind = find(workload).unwrap().spec().parameter(parameter).map(|k| k.kind.clone());
    match (kind, parse_size(text)) {
        (Some(ParameterKind::Size { .. }), Ok(bytes)) => bytes.to_string(),
        _ => text.to_owned(),
    }
}

/// Every combination of the values of a workload's parameters.
fn combinations(
    workload: &str,
    parameters: impl Iterator<Item = (String, Vec<String>)>,
) -> Vec<BTreeMap<String, String>> {
    parameters.fold(vec![BTreeMap::new()], |made, (name, values)| {
        let values: Vec<_> = values.iter().map(|text| plain(workload, &name, text)).collect();
        let with = |of: &BTreeMap<String, String>, value: &String| {
            let mut of = of.clone();
            of.insert(name.clone(), value.clone());
            of
        };
        made.iter().flat_map(|of| values.iter().map(move |v| with(of, v))).collect()
    })
}

fn cells(profile: &Profile) -> Vec<Cell> {
    let policy = profile.policy(&Default::default());
    let mut all = Vec::new();
    for text in &profile.points {
        let workload = &text.workload;
        let (least, most) = policy.trials_for(workload);
        assert_eq!(least, most, "the number of trials is published");
        let take = text
            .series
            .map_or(Take::Trials(least), |s| Take::Series(s.length.as_secs(), s.every.as_secs()));
        let tools = match &text.reference {
            Reference::First(_) => Vec::new(),
            Reference::Named(names) => names.all().to_vec(),
        };
        let values = find(workload).unwrap().spec().parameters.iter().map(|parameter| {
            let texts = text.parameters.get(&*parameter.name).map(|v| v.texts());
            let texts = texts.unwrap_or_else(|| vec![parameter.default.to_string()]);
            (parameter.name.to_string(), texts)
        });
        let of = |parameters| Cell {
            workload: workload.clone(),
            parameters,
            take,
            tools: tools.clone(),
        };
        all.extend(combinations(workload, values).into_iter().map(of));
    }
    all
}

fn missing(row: &Row, cells: &[Cell]) -> Vec<String> {
    let mut lacks = Vec::new();
    for workload in row.workloads {
        let values = row.parameters.iter().map(|(parameter, values)| {
            ((*parameter).to_owned(), values.iter().map(|v| (*v).to_owned()).collect())
        });
        let mut wanted = combinations(workload, values);
        // A record is no larger than its file.
        let number = |w: &BTreeMap<String, String>, of| w.get(of)?.parse::<u64>().ok();
        wanted.retain(|w| {
            number(w, "block_size").zip(number(w, "file_size")).is_none_or(|(b, f)| b <= f)
        });
        for wanted in wanted {
            let is_it = |cell: &&Cell| {
                cell.workload == **workload
                    && cell.take == row.take
                    && row.tool.is_none_or(|tool| cell.tools.iter().any(|t| t == tool))
                    && wanted
                        .iter()
                        .all(|(parameter, value)| cell.parameters.get(parameter) == Some(value))
            };
            if !cells.iter().any(|cell| is_it(&cell)) {
                lacks.push(format!("{} of {}: {workload} {wanted:?}", row.name, row.profile));
            }
        }
    }
    lacks
}

fn built_in(name: &str) -> Profile {
    let text = BUILT_IN.iter().find(|(n, _)| *n == name).unwrap().1;
    Profile::parse(text).unwrap()
}

#[test]
fn every_row_of_the_published_experiments_is_in_its_profile() {
    for name in [YEAR_2016, YEAR_2017] {
        let cells = cells(&built_in(name));
        let rows = ROWS.iter().filter(|row| row.profile == name);
        let lacks: Vec<_> = rows.flat_map(|row| missing(row, &cells)).collect();
        assert!(lacks.is_empty(), "{lacks:#?}");
    }
}

#[test]
fn each_of_their_points_is_there_for_a_row() {
    for name in [YEAR_2016, YEAR_2017] {
        let profile = built_in(name);
        for at in 0..profile.points.len() {
            let mut without = profile.clone();
            let gone = without.points.remove(at);
            let cells = cells(&without);
            let mut rows = ROWS.iter().filter(|row| row.profile == name);
            let needed = rows.any(|row| !missing(row, &cells).is_empty());
            // Reads of memory, and sizes of the latency that show its levels, come in addition.
            let is_extra = ["memory.seq_read", "memory.rand_read"].contains(&&*gone.workload);
            assert!(
                needed || is_extra || BEYOND.contains(&&*gone.workload),
                "{name}: nothing misses {} {:?}",
                gone.workload,
                gone.parameters
            );
        }
    }
}
