//! Every format of the shared fixture, word for word.

use proofmark_model::Run;
use proofmark_report::{Options, find, terminal};

use super::fixture;

fn render(format: &str, run: &Run, width: usize) -> String {
    find(format).unwrap().render(run, &Options { width, color: false }).unwrap()
}

#[test]
fn the_shared_run() {
    for (name, format, width) in [
        ("terminal_80", "terminal", 80),
        ("terminal_40", "terminal", 40),
        ("markdown", "markdown", 80),
        ("csv", "csv", 80),
    ] {
        insta::assert_snapshot!(name, render(format, &fixture::run(), width));
    }
}

#[test]
fn reports() {
    for (name, run) in [
        ("disk", fixture::disk()),
        ("linpack", fixture::linpack()),
        ("network", fixture::network()),
        ("beside", fixture::beside()),
        ("endured", fixture::endured()),
    ] {
        insta::assert_snapshot!(format!("{name}_80"), render("terminal", &run, 80));
        insta::assert_snapshot!(format!("{name}_40"), render("terminal", &run, 40));
        insta::assert_snapshot!(format!("{name}_markdown"), render("markdown", &run, 80));
    }
    for (name, run) in [
        ("memory_80", fixture::memory()),
        ("one_solve_80", fixture::one_solve()),
        ("loopback_80", fixture::loopback()),
    ] {
        insta::assert_snapshot!(name, render("terminal", &run, 80));
    }
}

#[test]
fn hosts() {
    for (name, host, width) in [
        ("host_80", fixture::host(), 80),
        ("host_40", fixture::host(), 40),
        ("disk_host", fixture::disk().host, 80),
        ("network_host", fixture::network().host, 80),
        ("memory_host", fixture::memory().host, 80),
    ] {
        insta::assert_snapshot!(name, terminal::host(&host, &Options { width, color: false }));
    }
}

/// A published experiment, up to the workloads one by one.
#[test]
fn published_front() {
    let text = render("markdown", &fixture::published(), Options::default().width);
    insta::assert_snapshot!(text.split("\n## Findings").next().unwrap());
}

/// What it says of several workloads together.
#[test]
fn published_overviews() {
    let text = render("markdown", &fixture::published(), Options::default().width);
    let from = text.find("## Memory, over several workloads").unwrap();
    insta::assert_snapshot!(text[from..].split("\n## Roofline").next().unwrap());
}
