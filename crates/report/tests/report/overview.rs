//! Charts and tables over several workloads of unusual runs.

use proofmark_model::{Verdict, key};

use super::dump::Dump;
use super::fixture;
use super::reading::each;

#[test]
fn what_does_not_belong_is_in_no_line_and_no_cell() {
    let mut out = Dump::default();
    let mut run = fixture::published();
    for id in ["memory.rand_write", "memory.rand_read_write"] {
        each(&mut run, id).for_each(|m| m.verdict = Verdict::Invalid);
        out.says(&format!("{id} is invalid"), &run, &["part-memory lines"]);
    }
    let mut run = fixture::published();
    run.measurements.retain(|m| m.params.get(key::FILE_SIZE).is_none_or(|s| s == 1 << 30));
    out.says("one size of file", &run, &["part-disk overview"]);
    let mut run = fixture::published();
    each(&mut run, "disk.seq_read").for_each(|m| {
        m.params = m.params.clone().with(key::DIRECT, "off").with(key::CACHE, "warm")
    });
    out.says("reads from the page cache", &run, &["part-disk lines", "part-disk overview"]);
    let mut run = fixture::disk();
    run.measurements.retain(|m| m.workload == "disk.seq_read");
    out.says("8 B through the page cache", &run, &["part-disk lines"]);
    out.says("no tool ran", &fixture::alone(), &["* against"]);
    insta::assert_snapshot!(out.text);
}
