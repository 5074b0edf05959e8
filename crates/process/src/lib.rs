//! Child processes: one type ([`ChildProcess`]) for workers, the loopback server, reference tools and
//! the launchers of fleets.
//!
//! The parent never blocks on a child. Each read has a deadline and a bound. Each end has a grace,
//! after which the child is killed. Both output streams are read while the child runs, so that it
//! never waits for a full pipe.

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
pub use descendants::end_descendants;
pub use exit::{Ended, Exit, last_line};
pub use lines::{BoundedLines, Line, Lines};
pub use parent::end_with_parent;
pub use spawn::{OWN_VARIABLES, raise_open_files};
