//! The view of each fixture, and each format of one of them, in full.

use proofmark_model::{Change, Probe, Run};
use proofmark_report::view::View;
use proofmark_report::{Options, find, terminal};

use super::dump::dump;
use super::fixture;
use super::reading::workloads;

fn render(format: &str, run: &Run, width: usize) -> String {
    find(format).unwrap().render(run, &Options { width, color: false }).unwrap()
}

#[test]
fn views() {
    for (name, run) in [
        ("run", fixture::run()),
        ("memory", fixture::memory()),
        ("disk", fixture::disk()),
        ("network", fixture::network()),
        ("loopback", fixture::loopback()),
        ("linpack", fixture::linpack()),
        ("one_solve", fixture::one_solve()),
        ("beside", fixture::beside()),
        ("endured", fixture::endured()),
    ] {
        insta::assert_snapshot!(format!("{name}_view"), dump(&View::from_run(&run).document));
    }
}

/// The workloads of this fixture are those of the others.
#[test]
fn published() {
    let mut parts = workloads(&fixture::published());
    parts.retain(|w| w.code.ends_with(" over time"));
    insta::assert_snapshot!("published_view", dump(&parts));
}

#[test]
fn formats() {
    let run = fixture::sample();
    for format in ["markdown", "csv", "summary"] {
        insta::assert_snapshot!(format, render(format, &run, 80));
    }
    for width in [40, 80] {
        insta::assert_snapshot!(format!("terminal_{width}"), render("terminal", &run, width));
    }
    insta::assert_snapshot!(
        "host_40",
        terminal::host(&run.host, &Options { width: 40, color: false })
    );
    insta::assert_snapshot!("host_80", terminal::host(&run.host, &Options::default()));
    let mut odd = run.host.clone();
    (odd.limits.usable_cpus, odd.limits.usable_cores) = (vec![8, 3, 0, 1, 2, 8], 0);
    odd.limits.affinity = Probe::known(vec![], "fixture");
    odd.cpu.clock.tsc_hz = Probe::known(f64::NAN, "fixture");
    insta::assert_snapshot!("host_odd", terminal::host(&odd, &Options::default()));
    let page = render("html", &run, 80);
    let (head, body) = page.split_once("<style>").unwrap();
    let (_, body) = body.split_once("</style>").unwrap();
    let (body, _) = body.split_once("<script>").unwrap();
    let lines = format!("{head}{body}").replace("</td>\n", "</td>").replace("</th>\n", "</th>");
    let lines: Vec<&str> = lines.lines().filter(|l| !l.trim().is_empty()).collect();
    insta::assert_snapshot!("html", lines.join("\n"));
}

/// Charts that the sample lacks: cache levels, sizes that saturate, samples of a long series with
/// close changes, and bars that are cut off.
#[test]
fn figures() {
    let mut endured = fixture::endured();
    let series = endured.measurements[0].series.as_mut().unwrap();
    series.changes.insert(1, Change { at_s: 203.0, ..series.changes[0].clone() });
    let mut out = String::new();
    for (run, wanted) in [
        (fixture::memory(), "Load latency: latency by working set"),
        (fixture::linpack(), "LINPACK: rate by n"),
        (fixture::beside(), "compared with reference tools (1 of 2)"),
        (endured, "every sample"),
    ] {
        let page = render("html", &run, 80);
        for figure in page.split("<figure>").skip(1) {
            let (title, _) = figure.split_once("</figcaption>").unwrap();
            if title.contains(wanted) {
                out += figure.split("</figure>").next().unwrap();
            }
        }
    }
    insta::assert_snapshot!(out);
}
