//! Node names as users type them: `n1,n2`, `n[1-32,40]`, or a file with one name per line.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;

use proofmark_model::clean_excerpt;

/// Maximum of nodes in a fleet.
const MAX_HOSTS: usize = 20_000;

/// Maximum size of a hosts file, in bytes.
pub const LARGEST_LIST: u64 = 4 << 20;

/// Mark that some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the nodes of a list or of a hosts file, without repetitions, in their order. In a file,
/// a host may have slots after it, as in those of MPI.
pub fn named_hosts(text: &str, is_file: bool) -> Result<Vec<String>, String> {
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
    let mut all = Vec::new();
    match is_file {
        false => add(text, &mut all)?,
        true => {
            for (at, line) in text.lines().enumerate() {
                let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
                let Some(word) = words.next() else { continue };
                let host = words.find(|word| !is_slots(word)).map_or(Ok(()), |other| {
                    let other = clean_excerpt(other, 60);
                    Err(format!("'{other}' comes after a host; write one host per line"))
                });
                host.and_then(|()| add(word, &mut all))
                    .map_err(|why| format!("line {}: {why}", at + 1))?;
            }
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|host| seen.insert(host.clone()));
    match all.is_empty() {
        true => Err("no host is named".to_owned()),
        false => Ok(all),
    }
}

/// Returns true for a word after a host in a file of MPI: `slots=4`, `4`.
fn is_slots(word: &str) -> bool {
    word.contains('=') || word.bytes().all(|b| b.is_ascii_digit())
}

/// Adds the hosts of a list.
fn add(list: &str, all: &mut Vec<String>) -> Result<(), String> {
    if list.contains("://") {
        return Err(format!("'{}' is a URL; name the host alone", clean_excerpt(list, 60)));
    }
    split(list)?.iter().try_for_each(|part| expand(part, all))
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
    let plain = address(part)?;
    let Some((head, rest)) = part.split_once('[').filter(|_| plain.is_none()) else {
        let host = plain.unwrap_or_else(|| part.to_owned());
        check(&host)?;
        if all.len() >= MAX_HOSTS {
            return Err(format!("too many hosts: the maximum is {MAX_HOSTS}"));
        }
        all.push(host);
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
            return Err(not_a_range(part, head, range, tail));
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

/// Explains brackets without a range.
fn not_a_range(part: &str, head: &str, range: &str, tail: &str) -> String {
    let part = clean_excerpt(part, 60);
    match (head, tail) {
        ("", "") => format!("'{part}' is a group of an inventory, not a host; name its hosts"),
        _ => format!("'{part}': '{}' is not a range such as 1-32", clean_excerpt(range, 60)),
    }
}

/// Splits `root@n1` into the user with the `@`, and the host.
fn user_and_host(host: &str) -> (&str, &str) {
    host.split_at(host.rfind('@').map_or(0, |at| at + 1))
}

/// True for an IPv6 address, perhaps of an interface: `fe80::1%eth0`.
fn is_ipv6(text: &str) -> bool {
    text.split('%').next().unwrap_or(text).parse::<Ipv6Addr>().is_ok()
}

/// Returns an IPv6 address without its brackets; `None` for another host. Refuses ports, which
/// ssh does not take with a name.
fn address(part: &str) -> Result<Option<String>, String> {
    let (user, host) = user_and_host(part);
    if is_ipv6(host) {
        return Ok(Some(part.to_owned()));
    }
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((inner, tail)) = bracketed.filter(|(inner, _)| is_ipv6(inner)) {
        return match tail.strip_prefix(':') {
            None if tail.is_empty() => Ok(Some(format!("{user}{inner}"))),
            Some(port) => Err(with_port(part, inner, port)),
            None => Err(format!("'{}' is not a host name", clean_excerpt(part, 60))),
        };
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains([':', '[']) => Err(with_port(part, name, port)),
        _ => Ok(None),
    }
}

/// Explains that a host comes without a port.
fn with_port(part: &str, host: &str, port: &str) -> String {
    let [part, host, port] = [part, host, port].map(|text| clean_excerpt(text, 60));
    format!(
        "'{part}': name the host alone; a port belongs in your ssh configuration (Host {host}, \
         Port {port}) or in --ssh-command 'ssh -p {port}', and slots of MPI are left out"
    )
}

/// Refuses names that ssh would take as options, and names that break a line.
fn check(host: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "@.-_:%".contains(c);
    let (_, name) = user_and_host(host);
    let is_sound = !name.is_empty() && (!name.contains(':') || is_ipv6(name));
    let is_option = host.starts_with('-') || name.starts_with('-');
    match host.len() <= 255 && !is_option && is_sound && host.chars().all(fits) {
        true => Ok(()),
        false => {
            let spaces = host.contains(char::is_whitespace);
            let hint = if spaces { "; put commas between hosts" } else { "" };
            Err(format!("'{}' is not a host name{hint}", clean_excerpt(host, 60)))
        }
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
        let windows = "\u{feff}n1\r\n\tn2\tslots=2\r\n\r\n# n3\r\nn4";
        assert_eq!(named_hosts(windows, true).unwrap().join(" "), "n1 n2 n4");
        let slots = "n1 4\nn2 slots=4 max_slots=8\n";
        assert_eq!(named_hosts(slots, true).unwrap().join(" "), "n1 n2");
        for line in ["n1 n2 n3", "10.0.0.1 n1 n1.example.org", "n1 ssh-ed25519 AAAA"] {
            let why = named_hosts(&format!("n9\n{line}\n"), true).unwrap_err();
            assert!(why.starts_with("line 2: ") && why.contains("one host per line"), "{why}");
        }
        let why = named_hosts("n1\n\nn2:22\n", true).unwrap_err();
        assert!(why.starts_with("line 3: 'n2:22': name the host alone"), "{why}");
        assert_eq!(
            named("2001:db8::1,[2001:db8::2],root@[fe80::1%eth0],::1").unwrap(),
            "2001:db8::1 2001:db8::2 root@fe80::1%eth0 ::1"
        );
        for (text, why) in [
            ("", "no host"),
            ("n[1-", "brackets"),
            ("n1]", "brackets"),
            ("n[[1]]", "brackets"),
            ("n[a-b]", "'a-b' is not a range"),
            ("n[3-1]", "not a range"),
            ("n[0-99999]", "at most"),
            ("-oProxyCommand=x", "not a host name"),
            ("n 1", "not a host name; put commas between hosts"),
            ("n1:2222", "Host n1, Port 2222"),
            ("root@n1:4,n2", "Host n1, Port 4"),
            ("[2001:db8::1]:2222", "Host 2001:db8::1, Port 2222"),
            ("n[1-2]:22", "'n1:22': name the host alone"),
            ("n1:", "name the host alone"),
            ("a:b:c", "not a host name"),
            ("[2001:db8::1]x", "not a host name"),
            ("root@", "not a host name"),
            ("root@-x", "not a host name"),
            ("ssh://n1", "is a URL"),
            ("[web]", "group of an inventory"),
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
