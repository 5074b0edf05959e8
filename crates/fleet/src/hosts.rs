//! Node names as users type them: `n1,n2`, `n[1-32,40]`, or a file with one name per line.

use std::collections::BTreeSet;

/// Maximum of nodes in a fleet.
const MAX_HOSTS: usize = 20_000;

/// Maximum size of a hosts file, in bytes.
pub const LARGEST_LIST: u64 = 4 << 20;

/// Returns the nodes of a list or of a hosts file, without repetitions, in their order. In a file,
/// only the first word of a line counts: MPI's files have slots after it.
pub fn named_hosts(text: &str, is_file: bool) -> Result<Vec<String>, String> {
    let parts = match is_file {
        false => split(text)?,
        true => {
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
            let words = lines.filter_map(|line| line.split_whitespace().next());
            let parts = words.map(split).collect::<Result<Vec<_>, _>>()?;
            parts.concat()
        }
    };
    let mut all = Vec::new();
    for part in parts {
        expand(&part, &mut all)?;
    }
    let mut seen = BTreeSet::new();
    all.retain(|host| seen.insert(host.clone()));
    match all.is_empty() {
        true => Err("no host is named".to_owned()),
        false => Ok(all),
    }
}

/// Splits a text at the commas outside brackets.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for letter in text.chars() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        match (letter, depth, parts.last_mut()) {
            (',', 0, _) => parts.push(String::new()),
            (_, 0 | 1, Some(part)) => part.push(letter),
            _ => {
                return Err(format!(
                    "'{text}': unbalanced brackets; write a list such as n[1-32,40]"
                ));
            }
        }
    }
    if depth != 0 {
        return Err(format!("'{text}': unbalanced brackets; write a list such as n[1-32,40]"));
    }
    Ok(parts.into_iter().map(|p| p.trim().to_owned()).filter(|p| !p.is_empty()).collect())
}

/// Adds the hosts of a part such as `rack[1-2]n[01-16]`.
fn expand(part: &str, all: &mut Vec<String>) -> Result<(), String> {
    let Some((head, rest)) = part.split_once('[') else {
        check(part)?;
        if all.len() >= MAX_HOSTS {
            return Err(format!("too many hosts: the maximum is {MAX_HOSTS}"));
        }
        all.push(part.to_owned());
        return Ok(());
    };
    let (ranges, tail) = rest.split_once(']').ok_or_else(|| format!("'{part}': missing ']'"))?;
    for range in ranges.split(',') {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| {
            let digits = text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u32>().ok().filter(|_| digits)
        };
        let (Some(first), Some(last)) = (number(from), number(to)) else {
            return Err(format!("'{part}': '{range}' is not a range such as 1-32"));
        };
        if last < first || (last - first) as usize >= MAX_HOSTS {
            return Err(format!("'{part}': '{range}' is not a range of at most {MAX_HOSTS} hosts"));
        }
        let width = if from.starts_with('0') { from.len() } else { 0 };
        for n in first..=last {
            expand(&format!("{head}{n:0width$}{tail}"), all)?;
        }
    }
    Ok(())
}

/// Refuses names that ssh would take as options, and names that break a line.
fn check(host: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "@.-_:%".contains(c);
    match host.len() <= 255 && !host.starts_with('-') && host.chars().all(fits) {
        true => Ok(()),
        false => Err(format!("'{}' is not a host name", proofmark_model::clean_excerpt(host, 60))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hosts_are_named_as_slurm_and_files_name_them() {
        let named = |text| named_hosts(text, false).map(|all| all.join(" "));
        assert_eq!(named("n1,n2").unwrap(), "n1 n2");
        assert_eq!(
            named("n[1-3,7],root@gpu-1.example.org").unwrap(),
            "n1 n2 n3 n7 root@gpu-1.example.org"
        );
        assert_eq!(named("r[1-2]n[08-10]").unwrap(), "r1n08 r1n09 r1n10 r2n08 r2n09 r2n10");
        assert_eq!(named("n1,n1, n[1-2]").unwrap(), "n1 n2");
        let file = "# rack 1\nn[1-2] slots=4\n\n  n9,n8 # spare\n";
        assert_eq!(named_hosts(file, true).unwrap().join(" "), "n1 n2 n9 n8");
        for (text, why) in [
            ("", "no host"),
            ("n[1-", "brackets"),
            ("n1]", "brackets"),
            ("n[[1]]", "brackets"),
            ("n[a-b]", "'a-b' is not a range"),
            ("n[3-1]", "not a range"),
            ("n[0-99999]", "at most"),
            ("-oProxyCommand=x", "not a host name"),
            ("n 1", "not a host name"),
            ("n[1-200]x[1-200]", "too many hosts"),
        ] {
            let error = named(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_list_panics_or_names_an_option(text in "[-n,0-9\\[\\] @]{0,40}", is_file: bool) {
            if let Ok(all) = named_hosts(&text, is_file) {
                prop_assert!(all.iter().all(|h| !h.starts_with('-') && !h.contains([',', ' ', '['])));
            }
        }
    }
}
