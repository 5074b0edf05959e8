//! The counters of each interface in /proc/net/dev (`net/core/net-procfs.c` of Linux).

use std::fs;

/// The text of a file; empty if it cannot be read. An interface's name may hold bytes that are not
/// UTF-8.
pub(crate) fn text_of(path: &str) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Bytes in and out of an interface, packets in and out, and packets dropped or damaged.
pub(crate) fn device(text: &str, name: &str) -> Option<[u64; 5]> {
    let named = |line: &&str| line.rsplit_once(':').is_some_and(|(n, _)| n.trim() == name);
    counts_of_line(text.lines().find(named)?)
}

/// Bytes in and out of an interface since the machine started.
pub(crate) fn bytes_of_interface(text: &str, name: &str) -> Option<u64> {
    let [received, sent, ..] = device(text, name)?;
    received.checked_add(sent)
}

/// Bytes in and out of all interfaces except the loopback. One that is made of others counts with
/// them.
pub(crate) fn all_devices(text: &str) -> Option<[u64; 2]> {
    let others = text.lines().filter(|line| !line.trim_start().starts_with("lo:"));
    let counts = others.filter_map(counts_of_line);
    counts
        .map(|c| [c[0], c[1]])
        .reduce(|a, b| [a[0].saturating_add(b[0]), a[1].saturating_add(b[1])])
}

fn counts_of_line(line: &str) -> Option<[u64; 5]> {
    let (_, values) = line.rsplit_once(':')?;
    let fields: Vec<u64> = values.split_ascii_whitespace().map_while(|f| f.parse().ok()).collect();
    // In: bytes packets errs drop fifo frame compressed multicast.
    // Out: bytes packets errs drop fifo colls carrier compressed.
    let [i, i_packets, i_errs, i_drop, _, _, _, _, o, o_packets, o_errs, o_drop, ..] = fields[..]
    else {
        return None;
    };
    let dropped = i_errs.checked_add(i_drop)?.checked_add(o_errs)?.checked_add(o_drop)?;
    Some([i, o, i_packets, o_packets, dropped])
}
