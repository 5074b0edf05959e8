//! Parameters that more than one crate knows, each declared here once: its name, the type of its
//! value and its meaning. Workloads declare their parameters through these keys. The judge, the
//! reports and the reference tools read them through the same. A parameter that only one workload
//! or tool knows has its key there.
//!
//! Names that users typed and those in files are text: see [`Params::named`](crate::Params::named).
//! A key compares with such a name by `==`.

use std::fmt;
use std::marker::PhantomData;

use crate::Param;

/// The name of a parameter, with the type of its value.
pub struct Key<T> {
    name: &'static str,
    value: PhantomData<T>,
}

/// A whole number of things.
pub enum Count {}

/// A size in bytes.
pub enum Bytes {}

/// One of several words.
pub enum Choice {}

/// The type of a parameter's value: [`Count`], [`Bytes`] or [`Choice`].
pub trait Kind {
    /// The type in code.
    type Value<'a>: Into<Param>;

    /// Returns the value, if it has this type.
    fn read(param: &Param) -> Option<Self::Value<'_>>;
}

/// The types whose values are whole numbers.
trait Number {}
impl Number for Count {}
impl Number for Bytes {}

impl<T: Number> Kind for T {
    type Value<'a> = u64;

    fn read(param: &Param) -> Option<u64> {
        param.int()
    }
}

impl Kind for Choice {
    type Value<'a> = &'a str;

    fn read(param: &Param) -> Option<&str> {
        param.text()
    }
}

impl<T> Key<T> {
    /// Makes the key of the parameter of that name.
    pub const fn new(name: &'static str) -> Self {
        Self { name, value: PhantomData }
    }

    /// Returns the name, as in `params` of a run file and in `--set WORKLOAD.NAME=VALUE`.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

// Derived implementations would require the same of `T`.
impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

/// Compares with a name that a file or a user gave.
impl<T> PartialEq<str> for Key<T> {
    fn eq(&self, name: &str) -> bool {
        self.name == name
    }
}

impl<T> PartialEq<&str> for Key<T> {
    fn eq(&self, name: &&str) -> bool {
        self.name == *name
    }
}

impl<T> AsRef<str> for Key<T> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl<T> fmt::Display for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Declares the keys, and [`ALL`] with their names.
macro_rules! keys {
    ($($(#[doc = $doc:literal])+ $key:ident: $kind:ident = $name:literal;)+) => {
        $($(#[doc = $doc])+ pub const $key: Key<$kind> = Key::new($name);)+

        /// The names of all keys of this file.
        pub const ALL: &[&str] = &[$($name),+];
    };
}

keys! {
    /// Threads that do the work.
    THREADS: Count = "threads";
    /// Parallel connections of a network workload, each with a thread at both ends.
    STREAMS: Count = "streams";
    /// Bytes of one block, message or I/O.
    BLOCK_SIZE: Bytes = "block_size";
    /// I/Os that each thread keeps in flight.
    QUEUE_DEPTH: Count = "queue_depth";
    /// Bytes of a disk workload's file, over all threads.
    FILE_SIZE: Bytes = "file_size";
    /// Bytes of each array of a memory workload, over all threads.
    ARRAY_SIZE: Bytes = "array_size";
    /// Bytes of the blocks of a memory workload, over all threads.
    DATA_SIZE: Bytes = "data_size";
    /// Bytes that one thread touches again and again, over all its arrays.
    WORKING_SET: Bytes = "working_set";
    /// Bytes that one trial moves, where they are fixed.
    AMOUNT: Bytes = "amount";
    /// Iterations of a loop that does fixed work, over all threads.
    ITERATIONS: Count = "iterations";
    /// Rows of the square matrices of a problem that is solved as a whole.
    MATRIX_SIZE: Count = "n";
    /// Rows or columns that a dense solver takes at a time, as NB in HPL.
    MATRIX_BLOCK: Count = "nb";
    /// Instruction set of the loop.
    ISA: Choice = "isa";
    /// Type of the numbers that a loop computes with, such as `f64`.
    NUMBER_TYPE: Choice = "type";
    /// Mix of operations of one iteration.
    MIX: Choice = "mix";
    /// Operation on a working set: read, write or copy.
    OPERATION: Choice = "op";
    /// Page size of the memory: huge or base pages.
    PAGES: Choice = "pages";
    /// Ordinary or non-temporal stores.
    STORES: Choice = "stores";
    /// Order in which a pointer chase visits its lines.
    ORDER: Choice = "order";
    /// Bytes of the numbers that a tool's loop moves.
    WORD: Bytes = "word";
    /// System interface that performs the I/O, such as `io_uring`.
    ENGINE: Choice = "engine";
    /// Direct or buffered I/O.
    DIRECT: Choice = "direct";
    /// State of the file in the page cache before each trial.
    CACHE: Choice = "cache";
    /// Place of the flush to the device: in the timed part of a write or not.
    FLUSH: Choice = "flush";
    /// Percentage of the I/Os that read.
    READS: Count = "reads";
    /// Mode of operation: the write of a disk commit, or the wait of a network thread.
    MODE: Choice = "mode";
    /// System call or flag that makes a write durable.
    METHOD: Choice = "method";
    /// Place of a network workload's server: this machine or another.
    PATH: Choice = "path";
    /// Direction of the payload: from the client, from the server, or both.
    DIRECTION: Choice = "direction";
    /// Placement of client and server: by the scheduler, or on separate halves of the CPUs.
    PLACEMENT: Choice = "placement";
    /// Bytes of each socket's send and receive buffer.
    SOCKET_BUFFER: Bytes = "socket_buffer";
    /// Bytes of the TCP window that a tool asked for.
    WINDOW: Bytes = "window";
    /// TCP congestion control, by its Linux name.
    CONGESTION: Choice = "congestion";
    /// Immediate sending of small segments (TCP_NODELAY).
    NO_DELAY: Choice = "no_delay";
    /// Maximum payload in bits per second of all streams together.
    RATE: Count = "rate";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{AUTO, Params};

    #[test]
    fn each_parameter_is_declared_once() {
        assert_eq!(ALL.iter().collect::<BTreeSet<_>>().len(), ALL.len());
    }

    #[test]
    fn a_key_is_equal_to_its_name_alone() {
        let names: [&str; 2] = ["threads", "streams"];
        assert_eq!(names.map(|name| THREADS == name), [true, false]);
        assert!(STREAMS == *names[1] && STREAMS != *"stream");
    }

    #[test]
    fn a_value_of_another_type_is_none() {
        let params = Params::default().with(THREADS, 2).with_auto(FILE_SIZE).with_named("isa", 7);
        assert_eq!((params.get(THREADS), params.get(STREAMS)), (Some(2), None));
        assert_eq!((params.get(FILE_SIZE), params.get(ISA)), (None, None));
        assert!(params.has(FILE_SIZE) && params.is_auto(FILE_SIZE) && !params.is_auto(THREADS));
        assert_eq!((params.word("file_size"), params.number("isa")), (Some(AUTO), Some(7)));
    }
}
