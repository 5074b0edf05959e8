//! The mounts of this process, from /proc/self/mountinfo.
//!
//! Source: proc_pid_mountinfo(5).

use crate::root::{Reason, Root};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The folder of the file system that is mounted.
    pub(crate) root: String,
    /// Where it is mounted.
    pub(crate) point: String,
    /// Type of the file system.
    pub(crate) kind: String,
    /// Device or name.
    pub(crate) source: String,
    /// Options of the file system; for cgroup v1, its controllers.
    pub(crate) options: Vec<String>,
}

/// Reads the mounts, in the order of mounting.
pub(crate) fn look(root: &Root) -> Result<Vec<Mount>, Reason> {
    Ok(parse(&root.read("/proc/self/mountinfo")?))
}

/// Lines of another form are skipped.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(line).collect()
}

/// `36 35 98:0 /root /point rw,noatime shared:1 - ext3 /dev/root rw,errors=continue`;
/// the number of fields before the dash varies.
fn line(line: &str) -> Option<Mount> {
    let (front, back) = line.split_once(" - ")?;
    let mut front = front.split(' ').skip(3);
    let mut back = back.split(' ');
    Some(Mount {
        root: unescape(front.next()?),
        point: unescape(front.next()?),
        kind: back.next()?.to_owned(),
        source: unescape(back.next()?),
        options: back.next().unwrap_or_default().split(',').map(str::to_owned).collect(),
    })
}

/// Blanks and backslashes are written in octal, as `\040`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) if code.is_ascii() => {
                out.push(char::from(code));
                rest = &after[3..];
            }
            _ => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn optional_fields_may_be_none_or_several() {
        let text = "33 24 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                    34 24 0:30 /a\\040b /m rw shared:1 master:2 - ext4 /dev/x rw\n\
                    broken line\n";
        let found = parse(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].options, ["rw", "cpu", "cpuacct"]);
        assert_eq!((found[1].root.as_str(), found[1].point.as_str()), ("/a b", "/m"));
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape("a\\040b\\134c"), "a b\\c");
        assert_eq!(unescape("\\9"), "\\9");
        assert_eq!(unescape("end\\"), "end\\");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}", near in "1 2 3:4 /[a\\\\0-9é]{0,8} / rw -? ?[a-z ,]{0,20}") {
            let _ = (parse(&text), parse(&near), unescape(&text), unescape(&near));
        }
    }
}
