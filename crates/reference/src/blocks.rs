//! Texts with a block of lines for each machine, below its name: of dshbak, clush -b, tail with
//! several files, Ansible, and loops of a shell.

use std::collections::BTreeMap;

use crate::parts::{PROGRAMS, Part, parts};

/// The fewest signs of a line above a name, and beside a name.
const ABOVE: usize = 8;
const BESIDE: usize = 2;

/// The maximum bytes of a name.
const LONGEST_NAME: usize = 256;

/// Returns a part for each name; the blocks of one name are one part. `None` unless there are
/// several names.
pub(crate) fn blocks(text: &str) -> Option<Vec<Part>> {
    let lines: Vec<&str> = text.lines().collect();
    let from = |i: usize| lines.get(i..).unwrap_or_default();
    let is_there = |head: &&Head| (0..lines.len()).any(|i| head(from(i)).is_some());
    let head = HEADS.iter().find(is_there)?;
    let (mut names, mut places) = (Vec::new(), BTreeMap::new());
    // The place in `names` of the name above each line; `None` for the heads themselves.
    let mut owners: Vec<Option<usize>> = Vec::with_capacity(lines.len());
    let mut open = None;
    while owners.len() < lines.len() {
        let Some((name, length)) = head(from(owners.len())) else {
            owners.push(open);
            continue;
        };
        let at = *places.entry(name).or_insert(names.len());
        if at == names.len() {
            names.push(name.to_owned());
        }
        open = Some(at);
        owners.extend(std::iter::repeat_n(None, length));
    }
    let mut texts = vec![String::new(); names.len()];
    let keep_lines = names.len() <= PROGRAMS;
    for (line, owner) in lines.iter().zip(owners) {
        if let Some(text) = owner.and_then(|at| texts.get_mut(at)) {
            text.push_str(line);
            text.push_str(if keep_lines { "" } else { "\n" });
        }
        texts.iter_mut().filter(|_| keep_lines).for_each(|text| text.push('\n'));
    }
    (names.len() > 1).then(|| parts(names.into_iter().zip(texts)))
}

/// Returns the name at the start of lines, and how many lines it takes.
type Head = for<'a> fn(&[&'a str]) -> Option<(&'a str, usize)>;

const HEADS: &[Head] = &[between_dashes, beside_signs, of_ansible];

/// Matches a name, or several with the same output, between two lines of dashes.
fn between_dashes<'a>(lines: &[&'a str]) -> Option<(&'a str, usize)> {
    let [above, name, below, ..] = lines else { return None };
    let are_dashes = above.len() >= ABOVE && above.bytes().all(|b| b == b'-');
    // clush adds how many nodes there are: `n[1-2] (2)`.
    let name = name.trim();
    let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
    (are_dashes && above == below && is_name(name)).then_some((name, 3))
}

/// Matches `==> node1.out <==` of tail, and `---- node1 ----`.
fn beside_signs<'a>(lines: &[&'a str]) -> Option<(&'a str, usize)> {
    let mut words = lines.first()?.split_whitespace();
    let (before, name, after) = (words.next()?, words.next()?, words.next()?);
    let are_signs =
        |word: &str| word.len() >= BESIDE && word.bytes().all(|b| b"-=#*<>".contains(&b));
    let is_head = are_signs(before) && are_signs(after) && words.next().is_none();
    (is_head && is_name(name)).then_some((name, 1))
}

/// Matches `node1 | CHANGED | rc=0 >>` of Ansible.
fn of_ansible<'a>(lines: &[&'a str]) -> Option<(&'a str, usize)> {
    let (name, rest) = lines.first()?.split_once(" | ")?;
    let is_head = rest.contains("| rc=") && rest.trim_end().ends_with(">>");
    (is_head && is_name(name)).then_some((name, 1))
}

fn is_name(name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || "-_.[],:/".contains(c);
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || "./".contains(c))
        && name.chars().all(of_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_below_each_name_are_a_part_and_keep_their_numbers() {
        let dashes = "-".repeat(16);
        let rule = |name: &str| format!("{dashes}\n{name}\n{dashes}");
        for [first, second] in [
            [rule("n1"), rule("n2")],
            [rule("n[1-3] (3)"), rule("n4")],
            ["==> n1.out <==".to_owned(), "==> n2.out <==".to_owned()],
            ["---- n1 ----".to_owned(), "---- n2 ----".to_owned()],
            ["n1 | CHANGED | rc=0 >>".to_owned(), "n2 | CHANGED | rc=0 >>".to_owned()],
        ] {
            let text = format!("noise\n{first}\na\nb\n{second}\nc\n{first}\nd\n");
            let found = blocks(&text).unwrap();
            let [one, other] = &found[..] else { panic!("{first}: {} parts", found.len()) };
            let lines = |part: &Part| -> Vec<(usize, String)> {
                let lines = part.text.lines().enumerate().filter(|(_, line)| !line.is_empty());
                lines.map(|(i, line)| (i, line.to_owned())).collect()
            };
            let at = |line: &str| text.lines().position(|l| l == line).unwrap();
            let expected = |of: &[&str]| -> Vec<(usize, String)> {
                of.iter().map(|line| (at(line), (*line).to_owned())).collect()
            };
            assert_eq!(lines(one), expected(&["a", "b", "d"]), "{first}");
            assert_eq!(lines(other), expected(&["c"]), "{first}");
            assert!(one.place.as_deref().is_some_and(|place| first.contains(place)), "{first}");
        }
        assert!(blocks(&format!("{}\na\n", rule("n1"))).is_none(), "one machine");
        assert!(blocks(&format!("{dashes}\nTwo words\n{dashes}\na\n")).is_none());
    }
}
