//! Properties of every format: unusual runs, extreme figures, untrusted text.

use proofmark_model::{Run, Unit, key};
use proofmark_report::{ALL, Options, find, terminal};

use super::fixture;
use super::reading::render;

const HOSTILE: &str =
    "<script>alert(1)</script>|a\u{1b}[31m\u{7}\u{202e}`*_[x](y)\n\"><img src=x onerror=1>&lt;";

fn all(run: &Run) -> Vec<(&'static str, String)> {
    let options = Options { width: 80, color: false };
    ALL.iter()
        .map(|f| (f.id, f.render(run, &options).unwrap_or_else(|e| panic!("{}: {e}", f.id))))
        .collect()
}

/// Runs that lack something, each with the text on its page.
fn lacking() -> [(Run, &'static str); 4] {
    let [mut killed, mut stopped, mut cut_short] = [(); 3].map(|()| fixture::run());
    (killed.ended, killed.interrupted) = (None, None);
    stopped.interrupted = Some("SIGTERM".into());
    cut_short.measurements.retain(|m| m.workload != "cpu.mix.float");
    [
        (killed, "This run has no recorded end"),
        (stopped, "SIGTERM stopped this run"),
        (cut_short, "4 planned configurations were not measured"),
        (fixture::empty(), "Nothing was measured"),
    ]
}

#[test]
fn formats_have_ids_of_their_own_and_files_beside_the_run() {
    for (at, format) in ALL.iter().enumerate() {
        assert!(!format.about.is_empty(), "{}", format.id);
        assert_eq!(ALL.iter().position(|f| f.id == format.id), Some(at));
    }
    assert!(find("no such format").is_none());
    let files: Vec<_> = ALL.iter().filter_map(|f| f.file).collect();
    assert_eq!(files, ["report.html", "report.md", "report.csv"]);
}

#[test]
fn a_thousand_measurements() {
    let mut run = fixture::run();
    run.measurements = (1..=1000)
        .map(|i| {
            let params =
                fixture::params(i % 64 + 1).with(key::ITERATIONS, i).with(key::MIX, "add16");
            fixture::good("cpu.mix.int", params, Unit::OpPerSecond, 1e9 * i as f64)
        })
        .collect();
    for (format, text) in all(&run) {
        assert!(text.len() < 20_000_000, "{format}: {} bytes", text.len());
    }
}

#[test]
fn what_a_run_lacks_is_said() {
    for (run, words) in lacking() {
        for (format, text) in all(&run) {
            assert!(text.ends_with('\n'), "{format}");
            if ["terminal", "html", "markdown"].contains(&format) {
                assert!(text.replace('\n', " ").contains(words), "{format}: {words}");
                assert!(!render(format, &fixture::run()).contains(words), "{format}: {words}");
            }
        }
    }
}

#[test]
fn hostile_text_opens_no_tag_breaks_no_table_and_moves_no_terminal() {
    for run in fixture::every().map(|run| fixture::hostile_of(run, HOSTILE)) {
        let html = render("html", &run);
        assert!(!html.contains("<script>alert") && html.contains("&lt;script&gt;alert"));
        assert_eq!(html.matches("<script>").count(), 1, "only the page's own");
        let markdown = render("markdown", &run);
        assert!(![html, markdown.clone()].iter().any(|text| text.contains("<img")));
        assert!(!markdown.contains("<script") && markdown.contains("\\`\\*\\_\\[x\\](y)"));
        keeps_its_tables(&markdown);
        let plain = |c: char| c == '\n' || (!c.is_control() && c != '\u{202e}');
        for (format, text) in all(&run) {
            // JSON escapes control characters, and keeps the rest.
            let unharmed = |c: char| plain(c) || format == "json" && c == '\u{202e}';
            assert!(text.chars().all(unharmed), "{format}");
        }
        assert!(terminal::host(&run.host, &Options::default()).chars().all(plain));
    }
}

/// Asserts that each row has as many columns as its table.
fn keeps_its_tables(markdown: &str) {
    let mut bars = None;
    for line in markdown.lines() {
        let count = line.replace("\\|", "").matches('|').count();
        bars = line.starts_with('|').then(|| bars.unwrap_or(count));
        assert!(bars.is_none_or(|bars| bars == count), "{line}");
    }
}

#[test]
fn hostile_text_is_no_formula_in_a_spreadsheet() {
    for formula in ["=cmd|' /C calc'!A0", "+1", "-cmd", "@SUM(A1)", "\t=1", " =1"] {
        let text = render("csv", &fixture::hostile_of(fixture::run(), formula));
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        for row in reader.records().map(Result::unwrap) {
            for cell in row.iter().filter(|cell| cell.parse::<f64>().is_err() || *cell == formula) {
                assert!(!cell.trim_start().starts_with(['=', '+', '-', '@']), "{cell}");
            }
        }
    }
}

#[test]
fn the_terminal_keeps_to_its_width() {
    for run in fixture::every_and_hostile(HOSTILE) {
        for width in [20, 40, 80, 200] {
            let options = Options { width, color: false };
            let report = find("terminal").unwrap().render(&run, &options).unwrap();
            for line in report.lines().chain(terminal::host(&run.host, &options).lines()) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn colours_carry_no_meaning_alone() {
    let run = fixture::run();
    let plain = render("terminal", &run);
    let painted =
        find("terminal").unwrap().render(&run, &Options { width: 80, color: true }).unwrap();
    let unpainted = |part: &str| part.split_once('m').unwrap().1.to_owned();
    let (first, rest) = painted.split_once('\u{1b}').unwrap();
    let stripped = first.to_owned() + &rest.split('\u{1b}').map(unpainted).collect::<String>();
    let words = |t: &str| t.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&stripped), words(&plain));
}

#[test]
fn json_gives_the_run_back() {
    let run = fixture::run();
    let back = proofmark_model::read_run(&render("json", &run)).unwrap();
    assert!(back == run, "every bit of every number");
}

/// Programs compare names and units byte by byte: their spaces are the plain one.
#[test]
fn spaces_for_programs_are_plain() {
    const ODD: [char; 2] = ['\u{202f}', '\u{a0}'];
    for run in fixture::every_and_hostile("n 20\u{202f}000, 5\u{a0}s") {
        for format in ["csv", "jsonl", "openmetrics", "bmf", "junit"] {
            let text = find(format).unwrap().render(&run, &Options::default()).unwrap();
            let odd = text.lines().find(|line| line.contains(ODD));
            assert_eq!(odd, None, "{format}");
        }
    }
}
