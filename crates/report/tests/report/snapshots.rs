//! Every format of the shared fixture, word for word.

use proofmark_report::{Options, find, terminal};

use super::fixture;

fn text(format: &str, width: usize) -> String {
    let options = Options { width, color: false };
    find(format).unwrap().render(&fixture::run(), &options).unwrap()
}

fn memory(format: &str, width: usize) -> String {
    let options = Options { width, color: false };
    find(format).unwrap().render(&fixture::memory(), &options).unwrap()
}

fn disk(format: &str, width: usize) -> String {
    let options = Options { width, color: false };
    find(format).unwrap().render(&fixture::disk(), &options).unwrap()
}

#[test]
fn disk_80() {
    insta::assert_snapshot!(disk("terminal", 80));
}

#[test]
fn disk_40() {
    insta::assert_snapshot!(disk("terminal", 40));
}

#[test]
fn disk_markdown() {
    insta::assert_snapshot!(disk("markdown", 80));
}

#[test]
fn disk_host() {
    let options = Options { width: 80, color: false };
    insta::assert_snapshot!(terminal::host(&fixture::disk().host, &options));
}

fn linpack(format: &str, width: usize) -> String {
    let options = Options { width, color: false };
    find(format).unwrap().render(&fixture::linpack(), &options).unwrap()
}

#[test]
fn linpack_80() {
    insta::assert_snapshot!(linpack("terminal", 80));
}

#[test]
fn linpack_40() {
    insta::assert_snapshot!(linpack("terminal", 40));
}

#[test]
fn linpack_markdown() {
    insta::assert_snapshot!(linpack("markdown", 80));
}

#[test]
fn one_solve_80() {
    let options = Options { width: 80, color: false };
    let text = find("terminal").unwrap().render(&fixture::one_solve(), &options);
    insta::assert_snapshot!(text.unwrap());
}

fn network(format: &str, width: usize) -> String {
    let options = Options { width, color: false };
    find(format).unwrap().render(&fixture::network(), &options).unwrap()
}

#[test]
fn network_80() {
    insta::assert_snapshot!(network("terminal", 80));
}

#[test]
fn network_40() {
    insta::assert_snapshot!(network("terminal", 40));
}

#[test]
fn network_markdown() {
    insta::assert_snapshot!(network("markdown", 80));
}

#[test]
fn network_host() {
    let options = Options { width: 80, color: false };
    insta::assert_snapshot!(terminal::host(&fixture::network().host, &options));
}

#[test]
fn loopback_80() {
    let options = Options { width: 80, color: false };
    insta::assert_snapshot!(
        find("terminal").unwrap().render(&fixture::loopback(), &options).unwrap()
    );
}

fn beside(format: &str, width: usize) -> String {
    let options = Options { width, color: false };
    find(format).unwrap().render(&fixture::beside(), &options).unwrap()
}

#[test]
fn beside_80() {
    insta::assert_snapshot!(beside("terminal", 80));
}

#[test]
fn beside_40() {
    insta::assert_snapshot!(beside("terminal", 40));
}

#[test]
fn beside_markdown() {
    insta::assert_snapshot!(beside("markdown", 80));
}

#[test]
fn memory_80() {
    insta::assert_snapshot!(memory("terminal", 80));
}

#[test]
fn memory_host() {
    let options = Options { width: 80, color: false };
    insta::assert_snapshot!(terminal::host(&fixture::memory().host, &options));
}

#[test]
fn terminal_80() {
    insta::assert_snapshot!(text("terminal", 80));
}

#[test]
fn terminal_40() {
    insta::assert_snapshot!(text("terminal", 40));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(text("markdown", 80));
}

#[test]
fn csv() {
    insta::assert_snapshot!(text("csv", 80));
}

#[test]
fn host_80() {
    let options = Options { width: 80, color: false };
    insta::assert_snapshot!(terminal::host(&fixture::host(), &options));
}

#[test]
fn host_40() {
    let options = Options { width: 40, color: false };
    insta::assert_snapshot!(terminal::host(&fixture::host(), &options));
}

fn endured(format: &str, width: usize) -> String {
    let options = Options { width, color: false };
    find(format).unwrap().render(&fixture::endured(), &options).unwrap()
}

#[test]
fn endured_80() {
    insta::assert_snapshot!(endured("terminal", 80));
}

#[test]
fn endured_40() {
    insta::assert_snapshot!(endured("terminal", 40));
}

#[test]
fn endured_markdown() {
    insta::assert_snapshot!(endured("markdown", 80));
}

/// A published experiment, up to the workloads one by one.
#[test]
fn published_front() {
    let text = find("markdown").unwrap().render(&fixture::published(), &Options::default());
    let text = text.unwrap();
    insta::assert_snapshot!(text.split("\n## Findings").next().unwrap());
}

/// What it says of several workloads together.
#[test]
fn published_overviews() {
    let text = find("markdown").unwrap().render(&fixture::published(), &Options::default());
    let text = text.unwrap();
    let from = text.find("## Memory, over several workloads").unwrap();
    insta::assert_snapshot!(text[from..].split("\n## Roofline").next().unwrap());
}
