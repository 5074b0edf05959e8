//! Several runs, each compared with the first.

use super::*;

#[test]
fn each_run_of_several_has_a_paragraph() {
    let other = |letter: char, name: &str| {
        let mut c = comparison();
        c.sentence = format!("{letter} delivers 0.50 of A's CPU.");
        (c.b.letter, c.b.name) = (letter, name.into());
        c.b.machine = "another machine".into();
        c.differences[0].what = "CPU".into();
        c
    };
    let mut shares = shares();
    shares.differences.clear();
    (shares.b.letter, shares.sentence) = ('D', "D delivers 0.50 of A's CPU.".into());
    let all = [other('B', "new"), other('C', "third"), shares];
    let text = several(&all, &wide(400));
    insta::assert_snapshot!("several", text);
    let paragraph = |letter: char| {
        text.lines().find(|line| line.starts_with(&format!("{letter}: "))).unwrap().to_owned()
    };
    for letter in ['B', 'C', 'D'] {
        let said = paragraph(letter);
        assert!(said.contains(&format!("). {letter} delivers 0.50 of A's CPU.")), "{said}");
        for other in ['B', 'C', 'D'].into_iter().filter(|l| *l != letter) {
            let words = [format!(" {other} "), format!(" {other}:"), format!(" {other}.")];
            assert!(words.iter().all(|w| !said.contains(w)), "{other} in {said}");
        }
    }
    assert!(text.contains("? 1.20[1]"), "{text}");
    let pairs = "[1] the median over all pairs of rounds or trials is 0.849 (0.840–0.860)";
    assert!(text.contains(pairs), "{text}");
    for width in [20, 40, 60, 80, 100] {
        let text = several(&all, &wide(width));
        for line in text.lines() {
            assert!(textwrap::core::display_width(line) <= width, "{width}: {line}");
        }
    }
    let markdown = comparison::markdown(&all);
    for part in ["| B / A |", "| C / A |", "| D / A |", "## C compared with A"] {
        assert!(markdown.contains(part), "{part}: {markdown}");
    }
    let page = comparison::html(&all).unwrap();
    for part in ["D delivers 0.50", "run-B", "run-C", "C &#x2f; A"] {
        assert!(page.contains(part), "{part}");
    }
}
