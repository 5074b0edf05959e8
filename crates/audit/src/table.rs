//! Reader of the table of figures: CSV as people and spreadsheets write it.

use std::borrow::Cow;

use proofmark_model::did_you_mean;

use crate::InputError;
use crate::columns::COLUMNS;
use crate::figure::Figure;
use crate::row::{Row, shown};

/// Maximum of rows read: some thousand times the largest known report.
const MAX_ROWS: usize = 4_000_000;

/// Reads figures from CSV, whose header has the module's `COLUMNS` in any order. Cells are
/// separated by commas, tabs or semicolons; with the last two, numbers may have a decimal comma.
///
/// # Errors
///
/// Returns the first wrong line and what is wrong there.
pub fn read_figures(text: &str) -> Result<Vec<Figure>, InputError> {
    read_at_most(text, MAX_ROWS)
}

fn read_at_most(text: &str, most: usize) -> Result<Vec<Figure>, InputError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Unify line breaks, so that lines are counted as editors count them.
    let text = match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(text),
    };
    let (text, first_line, delimiter) = separator(&text);
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .delimiter(delimiter)
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut places = None;
    let mut figures = Vec::new();
    let mut record = csv::StringRecord::new();
    loop {
        // The reader consumes empty lines together with the next record.
        let rest = text.as_bytes().get(reader.position().byte() as usize..).unwrap_or_default();
        let empty = rest.iter().take_while(|b| **b == b'\n').count() as u64;
        let line = first_line + reader.position().line() - 1 + empty;
        let wrong = |why: String| InputError(format!("line {line}: {why}"));
        if !reader.read_record(&mut record).map_err(|e| wrong(e.to_string()))? {
            break;
        }
        let Some((places, cells)) = places else {
            places = Some((header(&record).map_err(wrong)?, record.len()));
            continue;
        };
        // Spreadsheets also write the empty rows below a table.
        if record.iter().all(str::is_empty) {
            continue;
        }
        if record.len() != cells {
            return Err(wrong(format!("{} cells, but the header has {cells}", record.len())));
        }
        if figures.len() >= most {
            return Err(wrong(format!("more than {most} figures; split the table")));
        }
        let cells = places.map(|place| place.map_or("", |place| &record[place]));
        let row = Row { line, cells, comma: delimiter == b';' };
        figures.push(row.figure(figures.len())?);
    }
    match figures.is_empty() {
        true => Err(InputError("no figures after the header".to_owned())),
        false => Ok(figures),
    }
}

/// Splits off what a spreadsheet may write before the table ("sep=;"). Returns the table, its first
/// line, and its separator: the stated one, else the most frequent one in its first line.
fn separator(text: &str) -> (&str, u64, u8) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let declared = first.trim_matches('"').strip_prefix("sep=").map(str::as_bytes);
    if let Some(&[delimiter @ (b',' | b';' | b'\t')]) = declared {
        return (rest, 2, delimiter);
    }
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let count = |delimiter: &u8| header.bytes().filter(|b| b == delimiter).count();
    // `max_by_key` returns the last of equals: a comma if there is no separator.
    (text, 1, [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b','))
}

/// Returns the index of each column; `None` for an optional one that is missing.
fn header(names: &csv::StringRecord) -> Result<[Option<usize>; COLUMNS.len()], String> {
    let mut places = [None; COLUMNS.len()];
    for (place, name) in names.iter().enumerate() {
        let known = COLUMNS.iter().position(|column| column.name.eq_ignore_ascii_case(name));
        let Some(known) = known else {
            let near = did_you_mean(&name.to_ascii_lowercase(), COLUMNS.map(|column| column.name));
            let near = near.filter(|_| !name.is_empty()).unwrap_or_else(columns);
            let name = shown(name);
            return Err(format!("column '{name}' is unknown; {near} 'note' takes free text"));
        };
        if places[known].replace(place).is_some() {
            return Err(format!("column '{}' appears twice", COLUMNS[known].name));
        }
    }
    let missing = places.iter().zip(&COLUMNS).find(|(p, column)| p.is_none() && column.required);
    match missing {
        Some((_, column)) => Err(format!("column '{}' is missing; {}", column.name, columns())),
        None => Ok(places),
    }
}

fn columns() -> String {
    let names = |required: bool| {
        let columns = COLUMNS.iter().filter(|column| column.required == required);
        columns.map(|column| column.name).collect::<Vec<_>>().join(",")
    };
    format!("the header must name {}, and may name {}.", names(true), names(false))
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
        assert_eq!((f.line, f.block, f.threads, f.si), (2, Some(4096), None, Some(1.5e6)));
        assert_eq!((f.operation.as_str(), f.statistic), ("seq_read", Statistic::Deviation));
        assert_eq!(f.metric, Metric::Throughput);
    }

    #[test]
    fn a_number_need_not_be_written_twice() {
        let header = "subsystem,tool,operation,metric,value,unit_as_written,si_unit\n";
        for (cells, si, si_unit) in [
            ("disk,f,r,throughput,541,MB/s,", Some(541e6), "bytes/s"),
            ("disk,f,r,throughput,541,MiB/s,", Some(541.0 * 1_048_576.0), "bytes/s"),
            ("network,f,tcp,throughput,9.4,Gbits/sec,", Some(9.4e9), "bits/s"),
            ("network,f,tcp,throughput,10,MB/s,bits/s", Some(80e6), "bits/s"),
            ("disk,f,r,rate,88,kIOPS,", Some(88e3), "ops/s"),
            ("network,f,r,pps,1.2,Mpps,", Some(1.2e6), "packets/s"),
            ("memory,f,r,latency,81,ns per access,", Some(81e-9), "seconds"),
            // Units that are no time of an operation, or that need a clock.
            ("memory,f,r,latency,81,ns/byte,", None, ""),
            ("memory,f,r,latency,200,cycles,", None, ""),
            ("cpu,f,r,rate,200,,", None, ""),
            ("network,f,udp,loss,0.5,%,", None, ""),
        ] {
            let figure = read_figures(&format!("{header}{cells}\n")).unwrap().swap_remove(0);
            assert_eq!(figure.si_unit, si_unit, "{cells}");
            let near = figure.si.zip(si).is_some_and(|(a, b)| (a / b - 1.0_f64).abs() < 1e-9);
            assert!(near || figure.si == si, "{cells}: {:?}", figure.si);
        }
        for unit in ["MBPS", "mb/s"] {
            let cells = format!("{header}disk,f,r,throughput,541,{unit},\n");
            let error = read_figures(&cells).unwrap_err().to_string();
            assert!(error.ends_with("it may mean bits or bytes; write MB/s or Mbit/s"), "{error}");
        }
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
        assert_eq!(text, "line 4: more than 2 figures; split the table");
    }

    #[test]
    fn a_file_without_figures_is_refused() {
        let text = |table: &str| read_figures(table).unwrap_err().to_string();
        assert_eq!(text(HEADER), "no figures after the header");
        assert_eq!(text(&format!("{HEADER},,,,,,,,,,\n \n")), "no figures after the header");
        let missing = text("subsystem,tool\n");
        assert!(missing.starts_with("line 1: column 'operation' is missing"), "{missing}");
        let twice = text(&format!("tool,{HEADER}"));
        assert!(twice.starts_with("line 1: column 'tool' appears twice"), "{twice}");
    }

    #[test]
    fn an_unknown_column_is_refused_with_the_nearest() {
        for (from, to, hint) in [
            (
                "trial",
                "trail",
                "column 'trail' is unknown; did you mean 'trial'? 'note' takes free text",
            ),
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
                "not a known unit of the metric latency; did you mean 'usec'?",
            ),
            (
                "disk,f,r,throughput,,,1,1,MBs,1e6,bytes/s",
                "not a known unit of the metric throughput; did you mean 'MB/s'?",
            ),
            ("cpu,f,r,rate,,,1,1,GFLPOS,1e9,ops/s", "did you mean 'GFLOPS'?"),
            (
                "disk,f,r,throughput,,,1,1,us,1e6,bytes/s",
                "it is a unit of the metric latency, not of throughput",
            ),
            (
                "disk,f,r,rate,,,1,1,MB/s,1e6,bytes/s",
                "it is a unit of the metric throughput, not of rate",
            ),
            (
                "disk,f,r,rate,,,1,1,,1e6,bytes/s",
                "holds 'bytes/s'; for the metric rate expected one of ops/s, packets/s, requests/s",
            ),
            (
                "disk,f,r,throughput,,,1,1,MB/s,1e6,byts/s",
                "column 'si_unit' holds 'byts/s'; for the metric throughput expected one of \
                 bytes/s, bits/s; did you mean 'bytes/s'?",
            ),
            (
                "disk,f,r,throughput,,,1,1,MB/s,1e6,b/s",
                "column 'si_unit' holds 'b/s'; for the metric throughput expected one of bytes/s,",
            ),
            (
                "disk,f,r,throughput,,,1,1,MB/s,1e6,",
                "column 'si_unit' holds ''; for the metric throughput expected one of bytes/s",
            ),
            (
                "disk,f,r,throughput,,,1,\"1,024\",MB/s,1e6,bytes/s",
                "without a unit or thousands separators",
            ),
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
