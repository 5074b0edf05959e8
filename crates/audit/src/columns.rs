//! The columns of the table of figures.

/// A column of the table.
pub(crate) struct Column {
    pub name: &'static str,
    /// Whether it must be there; another that is not is as if its cells were empty.
    pub required: bool,
    /// What its cells hold.
    pub about: &'static str,
}

/// Every column, in the order of the cells of a [`crate::row::Row`].
pub(crate) const COLUMNS: [Column; 12] = [
    required("subsystem", "cpu, memory, disk or network"),
    required("tool", "the program, as the report calls it"),
    required(
        "operation",
        "free text. Rules know rand, seq; read, write, rewrite; rw, both, bidir, duplex; udp; \
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
