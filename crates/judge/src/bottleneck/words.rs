//! Explanations of the resources that a result may name as its bottleneck.

/// The name, or its part before the brackets that name an end or limit, and the explanation.
pub const WORDS: &[(&str, &str)] = &[
    ("execution ports", "The loop keeps the core's execution ports busy in every cycle."),
    (
        "divider unit",
        "The core divides one pair of numbers after another: its divider limits the rate.",
    ),
    ("clock", "The core runs at the clock that it reports as its maximum."),
    ("physical cores", "More threads share the cores: they add no execution ports."),
    ("CPU quota", "The cgroup's CPU quota stops the threads."),
    ("problem size", "A larger problem reaches a higher rate: this one is too small."),
    ("load latency", "Each load waits for the one before it."),
    ("memory bus", "The memory channels carry as much as they can."),
    (
        "path to memory",
        "More threads gain nothing, on cores of their own: they share a full part of the path, such as \
         the memory channels, the link of a group of cores, or a limit of the hypervisor.",
    ),
    ("queue depth", "More I/Os in flight reach a higher rate."),
    ("threads", "More threads reach a higher rate."),
    ("device", "More I/Os in flight or more threads gain nothing: the disk is the limit."),
    ("link", "The link carries as much as its rate allows."),
    ("streams", "More streams reach a higher rate."),
    ("pacing", "The requested rate (parameter rate) is the limit."),
    (
        "core",
        "Each thread gains all that another core adds: the limit is in each core. Which part of it, such as its ports or its requests to memory, is not measured.",
    ),
    ("shared cache", "More threads gain nothing: the cache that they share is the limit."),
    ("competing processes", "Other processes used the CPUs."),
    ("steal time", "The hypervisor gave the CPUs to others."),
    ("memory (swapping)", "The system moved pages between memory and swap."),
    ("CPUs of both ends", "More streams gain nothing over loopback: both ends share the CPUs."),
    (
        "path between the ends",
        "More streams gain nothing: the path between client and server is full.",
    ),
    ("limit", "A limit of the cgroup or of --limit is reached."),
    ("receiver", "The receiver dropped datagrams that did not fit into its socket's buffer."),
    ("CPU", "The CPUs of the client, of the server or of this machine are busy."),
    ("CPU (copying)", "Over loopback the CPU copies every byte twice."),
    ("wake-ups of both ends", "Each round trip waits until both ends are scheduled again."),
    (
        "system calls and path",
        "Each round trip takes its system calls and the path of its packets.",
    ),
    ("packet loss on the path", "TCP lowers its rate after each lost packet."),
    ("window (bandwidth x delay)", "The socket buffer holds less than the path has in flight."),
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::WORDS;

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
        entries.flat_map(|p| if p.is_dir() { sources(&p) } else { vec![p] }).collect()
    }

    /// The name after each `Bottleneck::new(` of this crate, if it is a literal.
    fn named() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let others = sources(&folder).into_iter().filter(|p| !p.ends_with("words.rs"));
        let texts = others.map(|p| fs::read_to_string(p).unwrap());
        let names = |text: String| -> Vec<String> {
            let calls = text.split("Bottleneck::new(").skip(1);
            let starts = calls.map(|c| c.trim_start().trim_start_matches("format!(").trim_start());
            let quoted = starts.filter_map(|c| c.strip_prefix('"')?.split('"').next());
            quoted.map(str::to_owned).collect()
        };
        texts.flat_map(names).collect()
    }

    #[test]
    fn each_bottleneck_is_explained() {
        let named = named();
        assert!(named.len() > 15, "{named:?}");
        for name in named {
            let short = name.split(" ({").next().unwrap();
            assert!(WORDS.iter().any(|(word, _)| *word == short), "{name}");
        }
    }
}
