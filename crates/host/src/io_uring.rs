//! Whether io_uring may be used: a ring is set up and closed again. The kernel may be
//! built without it, a switch may forbid it, and container managers' seccomp filters
//! refuse it.
//!
//! Sources: io_uring_setup(2); Linux `Documentation/admin-guide/sysctl/kernel.rst`
//! (io_uring_disabled).

use std::io;

use io_uring::IoUring;

/// 0: all may use it, 1: a group, 2: nobody. Since Linux 6.6.
pub(crate) const SWITCH: &str = "/proc/sys/kernel/io_uring_disabled";

pub(crate) fn set_up() -> io::Result<()> {
    IoUring::new(1).map(drop)
}

/// Why it may not be used, with the value of the switch.
pub(crate) fn refused(error: &io::Error, switch: Option<String>) -> String {
    let switch = switch.map(|value| format!("; {SWITCH} is {value}")).unwrap_or_default();
    format!("io_uring_setup: {error}{switch}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_error_and_the_switch() {
        let denied = io::Error::from(rustix::io::Errno::PERM);
        assert_eq!(
            refused(&denied, Some("2".to_owned())),
            "io_uring_setup: Operation not permitted (os error 1); \
             /proc/sys/kernel/io_uring_disabled is 2"
        );
        let absent = io::Error::from(rustix::io::Errno::NOSYS);
        assert!(refused(&absent, None).ends_with("(os error 38)"));
    }

    #[test]
    fn trying_leaves_no_descriptor_open() {
        let rings = || {
            let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
            let targets = open.filter_map(|fd| std::fs::read_link(fd.path()).ok());
            targets.filter(|to| to.to_string_lossy().contains("io_uring")).count()
        };
        let before = rings();
        if let Err(error) = set_up() {
            proofmark_testing::skip(refused(&error, None));
            return;
        }
        assert_eq!(rings(), before);
    }
}
