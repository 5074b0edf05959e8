//! Tests of `proofmark noise`.

use super::Folder;

#[test]
fn it_looks_for_as_long_as_is_asked_and_prints_where_the_time_went() {
    let folder = Folder::new();
    let ended = folder.run(&["noise", "--for", "1s", "--out", "noise"]).with(0);
    assert!(ended.stdout.contains("Where the time went, over "), "{}", ended.stdout);
    let page = folder.text("noise/report.html");
    assert!(page.contains("Where the time went"));
    folder.refuses(&["noise", "--for", "0.5s"], "--for must be at least 1s");
}
