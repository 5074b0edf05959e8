//! A finding over several results reports for each what its own message states, and no more.

use proofmark_model::{Finding, Run, Severity};
use proofmark_report::view::View;

use super::fixture;
use super::reading::{found, render};

/// A run with one check's messages at these workloads, in order.
fn planted(messages: &[(&str, &str, Severity)]) -> Run {
    let mut run = fixture::alone();
    for m in &mut run.measurements {
        m.findings.clear();
        for (workload, message, severity) in messages {
            if m.workload == *workload {
                let finding =
                    Finding::new("other_cpu", *severity, (*message).to_owned(), "stop it");
                m.findings.push(finding);
            }
        }
    }
    run.findings.clear();
    run.host.findings.clear();
    run
}

#[test]
fn a_clause_of_one_result_is_in_no_other_s_mouth() {
    let severity = Severity::Suspect;
    let run = planted(&[
        (
            "cpu.linpack",
            "others took 12.5 % of the time; the figure leaves that time out",
            severity,
        ),
        ("disk.fsync", "others took 76.5 % of the time", severity),
        (
            "memory.triad",
            "others took 3.1 % of the time; the figure leaves that time out",
            severity,
        ),
    ]);
    let groups = found(&run);
    let said: Vec<(&str, &str)> =
        groups.iter().map(|g| (g.place.as_str(), g.sentence.as_str())).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    for (places, sentence) in said {
        let fsync = places.contains("Commits");
        assert_eq!(fsync, !sentence.contains("leaves that time out"), "{places}: {sentence}");
        let range = if fsync { "took 76.5 % of" } else { "took 3.1 % to 12.5 % of" };
        assert!(sentence.contains(range), "{sentence}");
        assert_eq!(fsync, !places.contains("LINPACK"), "{places}");
    }
    // A cause of the first screen counts the results of its own group alone.
    for format in ["terminal", "markdown", "html"] {
        let text = render(format, &run).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("3.1 % to 12.5 %"), "{format}");
        assert!(!text.contains("others differ") && !text.contains("76.5 % of the time; the"));
    }
    let first = View::from_run(&run).summary.first;
    let commits = first.causes.iter().find(|c| c.sentence.contains("76.5 %")).unwrap();
    assert!(
        !commits.place.contains("LINPACK") && !commits.place.contains("triad"),
        "{}",
        commits.place
    );
}

#[test]
fn names_are_no_numbers() {
    let run = planted(&[
        ("cpu.linpack", "CPU 3 was taken 12 times", Severity::Note),
        ("disk.fsync", "CPU 4 was taken 700 times", Severity::Note),
        ("memory.triad", "CPU 4 was taken 9 times", Severity::Note),
    ]);
    let said: Vec<String> = found(&run).into_iter().map(|g| g.sentence).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.contains(&"CPU 3 was taken 12 times.".to_owned()), "{said:?}");
    assert!(said.contains(&"CPU 4 was taken 9 to 700 times.".to_owned()), "{said:?}");
}
