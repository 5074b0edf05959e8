//! A reader of metrics that takes only what both Prometheus's text form and OpenMetrics allow, and
//! what node_exporter's textfile collector accepts: no timestamps, no types that only one has, no
//! series twice. It also has the rules of `promtool check metrics` for names.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use proofmark_testing::{join, skip, wait, wait_until};

/// Words that promtool refuses in a name: units that are no base units, and their abbreviations.
const NO_BASE_UNITS: &str = "minutes hours days weeks kelvins fahrenheit rankine inches yards miles bits \
    calories pounds ounces s ms us ns sec b kb mb gb tb pb m h d";
/// Prefixes that it refuses before a base unit.
const PREFIXES: &str = "pico nano micro milli centi deci deca hecto kilo kibi mega mibi giga gibi tera \
    tebi peta pebi";
const BASE_UNITS: &str =
    "amperes bytes celsius grams joules kelvin meters metres moles seconds volts";
/// Types, which no name may have, and endings of other types than gauges.
const TYPES: &str = "counter gauge histogram summary untyped";
const ENDINGS: [&str; 4] = ["_total", "_count", "_sum", "_bucket"];

/// Returns what promtool says about the name of a gauge.
fn lint(name: &str) -> Result<(), String> {
    let words: Vec<&str> = name.split('_').collect();
    let has = |list: &str| words.iter().any(|word| list.split_whitespace().any(|w| w == *word));
    let scaled = |word: &&str| {
        let mut prefixes = PREFIXES.split_whitespace().filter_map(|p| word.strip_prefix(p));
        prefixes.any(|rest| BASE_UNITS.split_whitespace().any(|unit| unit == rest))
    };
    match () {
        () if name != name.to_lowercase() => Err("no lower case".to_owned()),
        () if has(NO_BASE_UNITS) || words.iter().any(scaled) => Err("no base unit".to_owned()),
        () if has(TYPES) => Err("a type in the name".to_owned()),
        () if ENDINGS.iter().any(|e| name.ends_with(e)) => {
            Err("the ending of a counter".to_owned())
        }
        () => Ok(()),
    }
}

/// Lets promtool check texts, where it is installed.
pub fn promtool(texts: &[String]) {
    for text in texts {
        let mut command = Command::new("promtool");
        command.args(["check", "metrics"]).stdin(Stdio::piped());
        let Ok(mut child) = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
            return skip("promtool is not installed");
        };
        let (mut stdin, bytes) = (child.stdin.take().unwrap(), text.clone().into_bytes());
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let out = child.stderr.take().unwrap();
        let reader = std::thread::spawn(move || std::io::read_to_string(out).unwrap());
        let status = wait("promtool", &mut child);
        let _ = join("promtool to read", writer);
        let said = join("what promtool says", reader);
        assert!(status.success() && said.is_empty(), "{said}\n{text}");
    }
}

/// One sample.
#[derive(Debug)]
pub struct Series {
    pub name: String,
    pub labels: BTreeSet<(String, String)>,
    pub value: f64,
}

/// Returns what node_exporter's textfile collector makes of these files; `None` where it is not
/// installed.
pub fn collected(texts: &[String]) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("textfile");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    for (at, text) in texts.iter().enumerate() {
        fs::write(folder.join(format!("{at}.prom")), text).unwrap();
    }
    // Free a moment ago; if another process takes it, the answer is not the collector's.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = Command::new("prometheus-node-exporter");
    command.args(["--collector.disable-defaults", "--collector.textfile"]);
    command.arg(format!("--collector.textfile.directory={}", folder.display()));
    command.arg(format!("--web.listen-address={address}"));
    let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        skip("prometheus-node-exporter is not installed");
        return None;
    };
    let answer = wait_until("the collector's answer", || {
        let mut stream = TcpStream::connect(address).ok()?;
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").ok()?;
        std::io::read_to_string(stream).ok().filter(|text| text.starts_with("HTTP/1.0 200"))
    });
    child.kill().unwrap();
    wait("node_exporter", &mut child);
    Some(answer)
}

/// Every sample, or what is wrong with which line.
pub fn parse(text: &str) -> Result<Vec<Series>, String> {
    let body = text.strip_suffix("# EOF\n").ok_or("it does not end in # EOF")?;
    let mut all: Vec<Series> = Vec::new();
    let (mut families, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut family = String::new();
    let mut lines = body.lines().peekable();
    while let Some(line) = lines.next() {
        let wrong = |why: &str| format!("{why}: {line}");
        if let Some(help) = line.strip_prefix("# HELP ") {
            family = help.split(' ').next().unwrap_or_default().to_owned();
            if help.split_once(' ').is_none_or(|(_, text)| text.is_empty()) {
                return Err(wrong("no help"));
            }
            lint(&family).map_err(|why| wrong(&why))?;
            if !families.insert(family.clone()) {
                return Err(wrong("the family is there twice"));
            }
            if lines.next() != Some(&format!("# TYPE {family} gauge")) {
                return Err(wrong("no TYPE that both forms have"));
            }
            if let Some(unit) = lines.next_if(|l| l.starts_with("# UNIT ")) {
                let unit = unit.strip_prefix(&format!("# UNIT {family} ")).ok_or(wrong("UNIT"))?;
                if !family.ends_with(&format!("_{unit}")) {
                    return Err(wrong("the name does not end in its unit"));
                }
            }
            continue;
        }
        let series = sample(line).map_err(|e| wrong(&e))?;
        if series.name != family {
            return Err(wrong("a sample outside its family"));
        }
        if !seen.insert((series.name.clone(), series.labels.clone())) {
            return Err(wrong("the series is there twice"));
        }
        all.push(series);
    }
    Ok(all)
}

fn sample(line: &str) -> Result<Series, String> {
    let end = line.find(['{', ' ']).ok_or("no value")?;
    let name = line[..end].to_owned();
    if !is_name(&name) {
        return Err("no name of a metric".into());
    }
    let mut rest = &line[end..];
    let mut labels = BTreeSet::new();
    let mut names = BTreeSet::new();
    if let Some(mut inner) = rest.strip_prefix('{') {
        while !inner.starts_with('}') {
            let (label, after) = inner.split_once("=\"").ok_or("no label")?;
            if ["le", "quantile"].contains(&label) {
                return Err("a label of a histogram".into());
            }
            if !is_name(label) || label.starts_with("__") || !names.insert(label.to_owned()) {
                return Err(format!("label '{label}'"));
            }
            let (value, after) = quoted(after)?;
            labels.insert((label.to_owned(), value));
            inner = match after.strip_prefix(',') {
                Some(more) if !more.starts_with('}') => more,
                Some(_) => return Err("a comma before }".into()),
                None => after,
            };
        }
        rest = &inner[1..];
    }
    let value = rest.strip_prefix(' ').ok_or("no space before the value")?;
    let number: f64 = value.parse().map_err(|_| "more or less than one number".to_owned())?;
    if !number.is_finite() {
        return Err("not finite".into());
    }
    Ok(Series { name, labels, value: number })
}

fn is_name(text: &str) -> bool {
    let first = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    first && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Text up to the closing quote, and what follows. JSON has the same escapes, and more.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let inside = format!("\"{text}");
    let mut strings = serde_json::Deserializer::from_str(&inside).into_iter::<String>();
    let value = strings.next().ok_or("no text")?.map_err(|e| e.to_string())?;
    let (raw, after) = text.split_at(strings.byte_offset() - 1);
    let plain = raw.replace("\\\\", "").replace("\\n", "").replace("\\\"", "");
    if plain.contains('\\') { Err("an escape of JSON alone".into()) } else { Ok((value, after)) }
}
