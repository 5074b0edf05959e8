//! The arguments of each run: those that the user typed, without those about several runs.

use std::ffi::OsString;

use anyhow::Result;

use crate::error::usage;

/// Options with a value that belong to all runs together.
const OF_ALL: [&str; 4] = ["--repeat", "--every", "--for", "--out"];

/// Returns the arguments after the command's name without [`OF_ALL`] and their values. They are kept in
/// a file, so they must be UTF-8.
pub(super) fn of_each_run(typed: impl IntoIterator<Item = OsString>) -> Result<Vec<String>> {
    let mut rest = Vec::new();
    let mut typed = typed.into_iter();
    while let Some(argument) = typed.next() {
        let argument = argument.into_string().map_err(|argument| {
            usage(format!("'{}' is not UTF-8, as --repeat needs", argument.to_string_lossy()))
        })?;
        if argument == "--" {
            rest.push(argument);
            for name in typed.by_ref() {
                let name = name.into_string();
                rest.push(name.map_err(|_| usage("a name is not UTF-8, as --repeat needs"))?);
            }
        } else if OF_ALL.contains(&argument.as_str()) {
            typed.next();
        } else if !OF_ALL.iter().any(|option| is_with_value(&argument, option)) {
            rest.push(argument);
        }
    }
    Ok(rest)
}

/// Returns true for `--option=value`.
fn is_with_value(argument: &str, option: &str) -> bool {
    argument.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(typed: &[&str]) -> Vec<String> {
        of_each_run(typed.iter().map(OsString::from)).unwrap()
    }

    #[test]
    fn the_options_of_all_runs_are_left_out_with_their_values() {
        let typed = ["cpu", "--repeat", "5", "--every=20m", "--quick", "--for", "2h", "--out", "d"];
        assert_eq!(of(&typed), ["cpu", "--quick"]);
        assert_eq!(of(&["--repeat=3", "disk", "--label=a b"]), ["disk", "--label=a b"]);
        // An option that only begins alike, and a name after the options.
        assert_eq!(of(&["--format", "x", "--", "--for"]), ["--format", "x", "--", "--for"]);
        assert_eq!(of(&[]), Vec::<String>::new());
    }

    #[test]
    fn an_argument_that_no_file_can_keep_is_refused() {
        use std::os::unix::ffi::OsStringExt as _;
        let bad = OsString::from_vec(b"--disk-path=\xff".to_vec());
        assert!(of_each_run([bad.clone()]).unwrap_err().to_string().contains("UTF-8"));
        assert!(of_each_run([OsString::from("--"), bad]).is_err());
    }
}
