//! Child processes: one type ([`ChildProcess`]) for workers, the loopback server, reference tools and
//! the launchers of fleets.
//!
//! Whatever a child does, its parent goes on: each read has a deadline and a bound, each end a grace
//! after which the child is killed, and both output streams are read while it runs, so that no child
//! waits for a full pipe.

mod ask;
mod capture;
mod child;
mod descendants;
mod exit;
mod lines;
mod parent;
mod spawn;

pub use ask::{Answer, ask};
pub use capture::Capture;
pub use child::{ChildProcess, Input, Origin, StartError, StartOptions, Stream};
pub use descendants::end_all as end_descendants;
pub use exit::{Ended, Exit, last_line};
pub use lines::{BoundedLines, Line, Lines};
pub use parent::end_with_parent;
pub use spawn::{OWN_VARIABLES, raise_open_files};
