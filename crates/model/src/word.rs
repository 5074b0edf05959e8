//! Words of parameters that are a choice, where more than one crate matches them. The workloads
//! whose parameter has a word declare it.

/// [`DIRECT`](crate::key::DIRECT) and other switches: on.
pub const ON: &str = "on";
/// [`DIRECT`](crate::key::DIRECT) and other switches: off.
pub const OFF: &str = "off";

/// [`CACHE`](crate::key::CACHE): the file is evicted before each trial.
pub const COLD: &str = "cold";
/// [`CACHE`](crate::key::CACHE): the file is fully cached before each trial.
pub const WARM: &str = "warm";
/// [`CACHE`](crate::key::CACHE): bypassed; [`FLUSH`](crate::key::FLUSH): not timed.
pub const NONE: &str = "none";
/// [`FLUSH`](crate::key::FLUSH): at the end of a trial, in the timed part.
pub const END: &str = "end";

/// [`MODE`](crate::key::MODE) of a commit: the file grows.
pub const APPEND: &str = "append";
/// [`MODE`](crate::key::MODE) of a commit: blocks are written in place.
pub const OVERWRITE: &str = "overwrite";
/// [`METHOD`](crate::key::METHOD): fdatasync(2) after each write.
pub const FDATASYNC: &str = "fdatasync";
/// [`METHOD`](crate::key::METHOD): a file that is open with O_DSYNC.
pub const O_DSYNC: &str = "o_dsync";
/// [`ENGINE`](crate::key::ENGINE): one system call at a time.
pub const PSYNC: &str = "psync";

/// [`MODE`](crate::key::MODE) of a round trip: a thread sleeps until its block arrives.
pub const BLOCK: &str = "block";
/// [`MODE`](crate::key::MODE) of a round trip: a thread polls until its block arrives.
pub const POLL: &str = "poll";
/// [`PLACEMENT`](crate::key::PLACEMENT): client and server on separate halves of the CPUs.
pub const APART: &str = "apart";
/// [`PLACEMENT`](crate::key::PLACEMENT): by the scheduler.
pub const FREE: &str = "free";
/// [`PATH`](crate::key::PATH): the server is this machine.
pub const LOOPBACK: &str = "loopback";
/// [`PATH`](crate::key::PATH): the server is another machine.
pub const PEER: &str = "peer";

/// [`PAGES`](crate::key::PAGES): huge pages.
pub const HUGE: &str = "huge";
/// [`PAGES`](crate::key::PAGES): base pages.
pub const SMALL: &str = "small";
/// [`ORDER`](crate::key::ORDER): anywhere.
pub const RAND: &str = "rand";
/// [`ORDER`](crate::key::ORDER): within 2 MiB, then the next.
pub const LOCAL: &str = "local";
/// [`STORES`](crate::key::STORES): the line is read before it is written.
pub const TEMPORAL: &str = "temporal";
/// [`STORES`](crate::key::STORES): the line is not read.
pub const NONTEMPORAL: &str = "nontemporal";
/// [`OPERATION`](crate::key::OPERATION): the set is read.
pub const READ: &str = "read";
/// [`OPERATION`](crate::key::OPERATION): the set is written.
pub const WRITE: &str = "write";
/// [`OPERATION`](crate::key::OPERATION): half of the set is copied to the other.
pub const COPY: &str = "copy";

/// [`MIX`](crate::key::MIX): 16 additions.
pub const ADD16: &str = "add16";
/// [`MIX`](crate::key::MIX): 17 operations, two of them divisions.
pub const ARITH17: &str = "arith17";
/// [`NUMBER_TYPE`](crate::key::NUMBER_TYPE): numbers of 64 bits.
pub const F64: &str = "f64";
