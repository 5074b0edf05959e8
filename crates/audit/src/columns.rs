//! The columns of the table of figures.

/// A column of the table.
pub(crate) struct Column {
    pub name: &'static str,
    /// True if the column is required; an optional one that is missing counts as empty cells.
    pub required: bool,
    /// Description of its cells.
    pub about: &'static str,
}

/// Every column, in the order of the cells of a [`crate::row::Row`].
pub(crate) const COLUMNS: [Column; 12] = [
    required("subsystem", "cpu, memory, disk or network"),
    required("tool", "the program, as the report calls it"),
    required(
        "operation",
        "free text. Rules know rand, seq; read, write, rewrite; rw, both, bidir, duplex; udp; loopback; \
         flop; copy, scale, add, triad",
    ),
    required("metric", "see below"),
    optional("block_size_bytes", "bytes of one operation, or of a packet"),
    optional("threads", "threads or streams"),
    optional("trial", "see below"),
    required("value", "the number as printed; with semicolons it may have a decimal comma"),
    required("unit_as_written", "see below; a remark in brackets may follow"),
    optional("value_si", "the number in si_unit; if empty, it follows from value and unit"),
    optional("si_unit", "bytes/s, bits/s, ops/s, packets/s, requests/s or seconds"),
    optional("note", "free text"),
];

const fn required(name: &'static str, about: &'static str) -> Column {
    Column { name, required: true, about }
}

const fn optional(name: &'static str, about: &'static str) -> Column {
    Column { name, required: false, about }
}
