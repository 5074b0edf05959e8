//! The version and mode of a document, checked before its structure is read.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::text::numbers;
use crate::{Malformed, documents};

/// The first version of fio that counts bytes and nanoseconds. Before, sizes are in KiB or bytes,
/// and times in microseconds, depending on the version.
const FIRST_READ: u32 = 3;

/// The start of every document of fio, with fields that only some have.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "fio version")]
    version: Option<String>,
    jobs: Option<IgnoredAny>,
    /// Replaces `jobs` where fio ran as the client of servers.
    client_stats: Option<IgnoredAny>,
}

/// Returns the version of a document without its prefix: `3.33`, `3.3-dirty`, `3.36-13-g5a7a`.
pub(super) fn bare(version: &str) -> &str {
    let version = version.trim();
    version.strip_prefix("fio").map_or(version, |rest| rest.trim_start_matches(['-', ' ', 'v']))
}

/// Returns true if this version omits `numjobs` of the global section.
pub(super) fn hides_processes(version: &str) -> bool {
    numbers(bare(version)).is_some_and(|version| version <= (3, 3))
}

/// Checks all documents of fio in this text. Fails if one has a version or mode that is not read.
pub(super) fn check(text: &str) -> Result<(), Malformed> {
    let heads = documents::documents::<Head>(text)?;
    let mut of_fio = heads.iter().filter_map(|d| Some((d, d.value.version.as_deref()?))).peekable();
    if of_fio.peek().is_none() {
        return Err(Malformed::at(1, "no JSON in the text has fio's version"));
    }
    of_fio.try_for_each(|(document, version)| match refused(&document.value, version) {
        Some(why) => Err(Malformed::at(document.line, why)),
        None => Ok(()),
    })
}

/// Returns the reason why a document is not read.
fn refused(head: &Head, version: &str) -> Option<String> {
    let shown = Malformed::excerpt(bare(version));
    let Some((major, _)) = numbers(bare(version)) else {
        return Some(format!(
            "fio version \"{shown}\" is not known: run fio 3 and import its JSON"
        ));
    };
    if major < FIRST_READ {
        return Some(format!(
            "this is JSON of fio {shown}, whose sizes and times have other units by version: run \
             fio 3.0 or newer with --output-format=json"
        ));
    }
    if head.client_stats.is_some() {
        return Some(
            "this is the output of fio --client, whose clients ran at the same time: run fio on \
             each machine with --output-format=json, and import each file"
                .to_owned(),
        );
    }
    head.jobs.is_none().then(|| {
        format!("fio {shown} reports no jobs here: run fio with --output-format=json to its end")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        check(text).unwrap_err().to_string()
    }

    #[test]
    fn version_and_mode_are_found_before_the_structure() {
        for version in ["fio-3.0", "fio-3.12-dirty", "fio-3.36-13-g5a7a", "3.41", "fio 3.7"] {
            let text = format!(r#"{{"fio version": "{version}", "jobs": [{{"any": 1}}]}}"#);
            assert_eq!(check(&text), Ok(()), "{version}");
        }
        for (version, says) in [
            ("fio-2.0.8", "line 1: this is JSON of fio 2.0.8, .. run fio 3.0 or newer"),
            ("fio-2.2.10", "of fio 2.2.10,"),
            ("fio-1.59", "of fio 1.59,"),
            ("fio-2.99-14-gb2b0", "of fio 2.99-14-gb2b0,"),
            ("fio-gdeadbee", "\"gdeadbee\" is not known"),
            ("", "\"\" is not known"),
        ] {
            let text = format!(r#"{{"fio version": "{version}", "jobs": "another"}}"#);
            assert!(says.split(" .. ").all(|part| why(&text).contains(part)), "{}", why(&text));
        }
        let client = "<node1> fio\n{\"fio version\": \"fio-3.28\", \"client_stats\": [{}]}";
        assert!(why(client).starts_with("line 2: this is the output of fio --client"));
        assert!(why(r#"{"fio version": "fio-3.28"}"#).contains("no jobs"));
        assert!(why(r#"{"another": 1}"#).contains("fio's version"));
    }

    #[test]
    fn numjobs_is_hidden_up_to_3_3() {
        let hides = ["fio-3.1", "fio-3.3-dirty", "fio-3.4", "fio-3.33"].map(hides_processes);
        assert_eq!(hides, [true, true, false, false]);
    }
}
