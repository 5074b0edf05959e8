//! The table of figures: CSV with the columns of [`COLUMNS`], as people and spreadsheets write it.

use proofmark_model::did_you_mean;

use crate::InputError;
use crate::figure::Figure;
use crate::lines::Lines;
use crate::row::{Row, shown};

/// Most rows that are read: some thousand times the largest report known.
const MOST_ROWS: usize = 4_000_000;
/// Columns that must be there, once, in any order.
pub(crate) const COLUMNS: [&str; 11] = [
    "subsystem",
    "tool",
    "operation",
    "metric",
    "block_size_bytes",
    "threads",
    "trial",
    "value",
    "unit_as_written",
    "value_si",
    "si_unit",
];
/// A column that may be there, for text that no rule reads.
pub(crate) const NOTE: &str = "note";
/// What a spreadsheet may write first, and before what separates cells.
const SEPARATOR: &str = "sep=";

/// Reads figures from CSV with the header that the module's `COLUMNS` list, in any order; else the
/// first line that is not as it must be, and why. Cells may be separated by commas, by tabs, or
/// by semicolons, with which numbers may have a decimal comma.
pub fn read_figures(text: &str) -> Result<Vec<Figure>, InputError> {
    read_at_most(text, MOST_ROWS)
}

fn read_at_most(text: &str, most: usize) -> Result<Vec<Figure>, InputError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = Lines::new(text);
    let (start, delimiter) = separator(text);
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .delimiter(delimiter)
        .has_headers(false)
        .from_reader(text.as_bytes().get(start..).unwrap_or_default());
    let mut places = None;
    let mut figures = Vec::new();
    let mut record = csv::StringRecord::new();
    loop {
        let line = lines.of(start + reader.position().byte() as usize);
        let error = |e: csv::Error| InputError(format!("line {line}: {e}"));
        if !reader.read_record(&mut record).map_err(error)? {
            break;
        }
        let Some((places, cells)) = places else {
            places = Some((header(&record, line)?, record.len()));
            continue;
        };
        // A spreadsheet writes the empty rows below a table, too.
        if record.iter().all(str::is_empty) {
            continue;
        }
        if record.len() != cells {
            let why = format!("line {line}: {} cells, but the header has {cells}", record.len());
            return Err(InputError(why));
        }
        if figures.len() >= most {
            return Err(InputError(format!("line {line}: more than {most} figures")));
        }
        let row = Row { line, cells: places.map(|p| &record[p]), comma: delimiter == b';' };
        figures.push(row.figure(figures.len())?);
    }
    match figures.is_empty() {
        true => Err(InputError("no figures after the header".to_owned())),
        false => Ok(figures),
    }
}

/// Where the table begins, in bytes, and what separates its cells: what its first line holds most
/// of, unless a spreadsheet says it.
fn separator(text: &str) -> (usize, u8) {
    let mut lines = text.split(['\r', '\n']);
    let first = lines.next().unwrap_or_default();
    let declared = first.trim_matches('"').strip_prefix(SEPARATOR).map(str::as_bytes);
    if let Some(&[delimiter @ (b',' | b';' | b'\t')]) = declared {
        return (first.len(), delimiter);
    }
    let header =
        if first.trim().is_empty() { lines.find(|line| !line.trim().is_empty()) } else { None };
    let header = header.unwrap_or(first);
    let count = |delimiter: &u8| header.bytes().filter(|b| b == delimiter).count();
    // The last of equals: a comma where there is none of them.
    (0, [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b','))
}

/// The place of each column.
fn header(names: &csv::StringRecord, line: u64) -> Result<[usize; COLUMNS.len()], InputError> {
    let named = |column: &str, nth: usize| -> Option<usize> {
        let matches = |(_, name): &(usize, &str)| name.eq_ignore_ascii_case(column);
        names.iter().enumerate().filter(matches).map(|(place, _)| place).nth(nth)
    };
    let known = || COLUMNS.iter().copied().chain([NOTE]);
    let is_known = |name: &&str| known().any(|column| column.eq_ignore_ascii_case(name));
    let end = || format!("the header must name {}, and may name {NOTE}", COLUMNS.join(","));
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        let hint = match did_you_mean(&name.to_ascii_lowercase(), known()) {
            Some(hint) if !name.is_empty() => hint,
            _ => end(),
        };
        let why = format!("line {line}: column '{}' is unknown; {hint}", shown(name));
        return Err(InputError(why));
    }
    if let Some(twice) = known().find(|column| named(column, 1).is_some()) {
        return Err(InputError(format!("line {line}: column '{twice}' is there twice")));
    }
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let missing =
            || InputError(format!("line {line}: column '{column}' is missing; {}", end()));
        *place = named(column, 0).ok_or_else(missing)?;
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, Statistic};

    const HEADER: &str = "subsystem,tool,operation,metric,block_size_bytes,threads,trial,value,unit_as_written,value_si,si_unit\n";

    fn error(rows: &str) -> String {
        read_figures(&format!("{HEADER}{rows}")).unwrap_err().to_string()
    }

    #[test]
    fn a_row_becomes_a_figure() {
        let rows = " Disk ,fio,SEQ_READ,throughput, 4096,,std dev, 1.5,MB/s,,bytes/s\n";
        let all = read_figures(&format!("{HEADER}{rows}")).unwrap();
        let [f] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((f.line, f.block, f.threads, f.si), (2, Some(4096), None, None));
        assert_eq!((f.operation.as_str(), f.statistic), ("seq_read", Statistic::Deviation));
        assert_eq!(f.metric, Metric::Throughput);
    }

    #[test]
    fn errors_name_line_column_and_what_is_wanted() {
        let good = "disk,fio,seq_read,throughput,4096,1,1,1.5,MB/s,1.5e6,bytes/s\n";
        let long = format!("disk,{},r,rate,,,,1,MB/s,1,bytes/s\n", "t".repeat(1001));
        for (row, says) in [
            ("tape,fio,r,rate,,,,1,MB/s,1,bytes/s\n", "line 3: column 'subsystem' holds 'tape'"),
            (
                "disk,fio,r,throughput,-1,,,1,MB/s,1,bytes/s\n",
                "line 3: column 'block_size_bytes' holds '-1'",
            ),
            ("disk,fio,r,throughput,,0,,1,MB/s,1,bytes/s\n", "line 3: column 'threads' holds '0'"),
            ("disk,fio,r,rate,,,,NaN,IOPS,1,ops/s\n", "line 3: column 'value' holds 'NaN'"),
            ("disk,fio,r,rate,,,,-3,IOPS,1,ops/s\n", "line 3: column 'value' holds '-3'"),
            ("disk,fio,r,rate,,,,,IOPS,1,ops/s\n", "line 3: column 'value' holds ''"),
            ("disk,fio,r,rate,,,,1,,inf,ops/s\n", "line 3: column 'value_si' holds 'inf'"),
            ("disk,fio,r,rate,,,,1\n", "line 3: 8 cells, but the header has 11"),
            (&long, "line 3: column 'tool'"),
        ] {
            let text = error(&format!("{good}{row}"));
            assert!(text.starts_with(says), "{text}");
        }
        let bad = format!("disk,f,r,rate,,,,\u{1b}[2J{},IOPS,1,ops/s\n", "9".repeat(60));
        let text = error(&bad);
        assert!(!text.contains('\u{1b}') && text.contains("...") && text.len() < 180, "{text}");
        let three = format!("{HEADER}{}", good.repeat(3));
        assert_eq!(read_at_most(&three, 3).unwrap().len(), 3);
        let text = read_at_most(&three, 2).unwrap_err().to_string();
        assert_eq!(text, "line 4: more than 2 figures");
    }

    #[test]
    fn a_file_without_figures_is_refused() {
        let text = |table: &str| read_figures(table).unwrap_err().to_string();
        assert_eq!(text(HEADER), "no figures after the header");
        assert_eq!(text(&format!("{HEADER},,,,,,,,,,\n \n")), "no figures after the header");
        let missing = text("subsystem,tool\n");
        assert!(missing.starts_with("line 1: column 'operation' is missing"), "{missing}");
        let twice = text(&format!("tool,{HEADER}"));
        assert!(twice.starts_with("line 1: column 'tool' is there twice"), "{twice}");
    }

    #[test]
    fn an_unknown_column_is_refused_with_the_nearest() {
        for (from, to, hint) in [
            ("trial", "trail", "column 'trail' is unknown; did you mean 'trial'?"),
            ("si_unit", "SI unit", "column 'SI unit' is unknown; did you mean 'si_unit'?"),
            ("tool", "note,tool,tools", "column 'tools' is unknown; did you mean 'tool'?"),
            (
                "tool",
                "tool,zzzzzzzzzzzzzzzzzzzzz",
                "'zzzzzzzzzzzzzzzzzzzzz' is unknown; the header must",
            ),
            ("tool", "tool,", "column '' is unknown; the header must name subsystem,tool,"),
        ] {
            let header = HEADER.replace(from, to);
            let error = read_figures(&format!("\n{header}")).unwrap_err().to_string();
            assert!(error.starts_with("line 2: ") && error.contains(hint), "{error}");
        }
        let noted = format!("Note,{}x,disk,f,r,latency,,,,1,us,1e-6,s\n", HEADER.to_uppercase());
        assert_eq!(read_figures(&noted).unwrap().len(), 1);
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_nearest() {
        for (cells, says) in [
            (
                "dsik,f,r,rate,,,1,1,IOPS,1,ops/s",
                "'dsik'; expected one of cpu, memory, disk, network; did you mean 'disk'?",
            ),
            (
                "disk,f,r,thruput,,,1,1,MB/s,1e6,bytes/s",
                "'thruput'; expected one of rate, iops, pps,",
            ),
            ("disk,f,r,Latncy,,,1,1,us,1e-6,seconds", "did you mean 'latency'?"),
            ("disk,f,r,rate,,,maen,1,IOPS,1,ops/s", "did you mean 'mean'?"),
            (
                "disk,f,r,latency,,,1,1,usce,1e-6,seconds",
                "no known unit of the metric latency; did you mean 'usec'?",
            ),
            (
                "disk,f,r,throughput,,,1,1,MBs,1e6,bytes/s",
                "no known unit of the metric throughput; did you mean 'MB/s'?",
            ),
            ("cpu,f,r,rate,,,1,1,GFLPOS,1e9,ops/s", "did you mean 'GFLOPS'?"),
            (
                "disk,f,r,throughput,,,1,1,us,1e6,bytes/s",
                "which is a unit of the metric latency, not of throughput",
            ),
            (
                "disk,f,r,rate,,,1,1,MB/s,1e6,bytes/s",
                "which is a unit of the metric throughput, not of rate",
            ),
            (
                "disk,f,r,rate,,,1,1,,1e6,bytes/s",
                "a unit of the metric throughput; of rate it is one of ops/s,",
            ),
            (
                "disk,f,r,throughput,,,1,1,MB/s,1e6,byts/s",
                "column 'si_unit' holds 'byts/s'; did you mean 'byte",
            ),
            (
                "disk,f,r,throughput,,,1,1,MB/s,1e6,b/s",
                "column 'si_unit' holds 'b/s'; did you mean 'B/s'?",
            ),
            (
                "disk,f,r,throughput,,,1,1,MB/s,1e6,",
                "column 'si_unit' holds ''; expected, of the metric throughput, one of bytes/s",
            ),
            ("disk,f,r,throughput,,,1,\"1,024\",MB/s,1e6,bytes/s", "no separator of thousands"),
        ] {
            let text = error(&format!("{cells}\n"));
            assert!(text.starts_with("line 2: column '") && text.contains(says), "{text}");
            assert_eq!(text.lines().count(), 1);
        }
    }

    #[test]
    fn a_table_of_a_spreadsheet_is_read_and_its_lines_are_counted() {
        let row = "network;\"i;f\";tcp;throughput;;1;1;0,985;Gbits/sec;985000000;bits/s";
        let header = HEADER.trim_end().replace(',', ";");
        let semicolons = [header.as_str(), row, ";;;;;;;;;;", row, ""];
        let plain = semicolons.map(|line| line.replace(',', ".").replace(';', "\t"));
        let plain = plain.map(|line| line.replace("i\tf", "i;f"));
        for line_break in ["\n", "\r\n", "\r"] {
            for (before, lines) in [
                ("", semicolons.join(line_break)),
                ("\u{feff}", semicolons.join(line_break)),
                ("sep=;", format!("{line_break}{}", semicolons.join(line_break))),
                ("", plain.join(line_break)),
            ] {
                let text = format!("{before}{lines}");
                let figures = read_figures(&text).unwrap();
                let at = if before.starts_with("sep") { 3 } else { 2 };
                assert_eq!(figures.iter().map(|f| f.line).collect::<Vec<_>>(), [at, at + 2]);
                assert_eq!((figures[0].tool.as_str(), figures[1].value), ("i;f", 0.985));
            }
        }
        let two = format!("{HEADER}disk,\"a\nb\",r,latency,,,,1,us,1e-6,s\n\ndisk,f,r,x\n");
        assert_eq!(
            read_figures(&two).unwrap_err().to_string(),
            "line 5: 4 cells, but the header has 11"
        );
    }
}
