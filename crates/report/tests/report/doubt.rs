//! A conclusion from results that are not valid names their verdict.

use proofmark_model::{Run, Verdict, key};

use super::fixture;
use super::reading::{each, render};

/// Starts or parts of sentences that conclude from results.
const CONCLUDES: [&str; 5] =
    ["Compared with ", " within L1d", "The rate fell (", "From the page cache", "Over loopback, "];
const SATURATED: [&str; 3] = ["saturates at n", "is saturated at", "may not have saturated"];

/// The sentences of a run that conclude from results.
fn sentences(run: &Run) -> Vec<String> {
    let text = render("markdown", run);
    let concludes = |line: &&str| {
        let is_sentence = !line.starts_with(['|', '-', '*', '#', '1', '2']);
        is_sentence && CONCLUDES.iter().chain(&SATURATED).any(|word| line.contains(word))
    };
    text.lines().filter(concludes).map(str::to_owned).collect()
}

#[test]
fn each_conclusion_names_the_verdict_of_doubtful_results() {
    let mut found = 0;
    for (verdict, word) in [
        (Verdict::Suspect, "suspect"),
        (Verdict::Coarse, "coarse"),
        (Verdict::NoInterval, "no interval"),
    ] {
        for mut run in fixture::every() {
            let all = run.measurements.iter_mut().filter(|m| m.verdict.is_usable());
            all.for_each(|m| m.verdict = verdict);
            for sentence in sentences(&run) {
                assert!(sentence.contains(word), "{verdict:?}: {sentence}");
                found += 1;
            }
        }
    }
    assert!(found > 30, "{found} sentences");
}

/// Only the result in doubt is marked.
#[test]
fn a_factor_is_marked_where_its_result_is_suspect() {
    let mut run = fixture::run();
    let suspect = |threads: u64, run: &mut Run| {
        let of = each(run, "cpu.mix.int").filter(|m| m.params.threads() == threads);
        of.for_each(|m| m.verdict = Verdict::Suspect);
    };
    let said = |run: &mut Run| {
        run.measurements.retain(|m| m.workload == "cpu.mix.int");
        let all = sentences(run);
        all.into_iter().find(|s| s.starts_with("Compared with")).unwrap()
    };
    let plain =
        "Compared with 1 thread: 2.00 times with 2, 4.00 times with 4 and 4.00 times with 8.";
    assert_eq!(said(&mut run), plain);
    suspect(4, &mut run);
    assert_eq!(said(&mut run), plain.replace("with 4", "with 4 (suspect)"));
    suspect(1, &mut run);
    let both = plain.replace("with 4", "with 4 (suspect)");
    assert_eq!(said(&mut run), both.replace("1 thread", "1 thread (suspect)"));
    assert!(run.measurements.iter().all(|m| m.params.has(key::MIX)));
}
