//! Tests on machines with 512 CPUs, numbered up to 2047, and with 2048. They are generated: as
//! fixtures they would be thousands of files.

use crate::detect;
use crate::testing::Machine;

/// Iterates over the online CPUs; some are offline, as on a machine with empty sockets.
fn online() -> impl Iterator<Item = u32> {
    (0..256).chain(1792..2048)
}

const ONLINE: &str = "0-255,1792-2047\n";

/// Creates a machine with two sockets of 128 cores and two threads per core: CPUs n and n + 1792
/// are one core. Each 8 cores share an L3 cache; each socket is a node.
fn machine() -> Machine {
    let m = Machine::new(&[]);
    m.put("/arch", "x86_64\n");
    m.put("/proc/thread-self/status", format!("Name:\tx\nCpus_allowed_list:\t{ONLINE}"));
    m.put("/sys/devices/system/cpu/online", ONLINE);
    for cpu in online() {
        let core = cpu % 256;
        let place = format!("sys/devices/system/cpu/cpu{cpu}");
        let topology = |name: &str, text: String| {
            m.put(&format!("/{place}/topology/{name}"), format!("{text}\n"));
        };
        topology("core_cpus_list", format!("{core},{}", core + 1792));
        topology("core_id", format!("{}", core % 128));
        topology("physical_package_id", format!("{}", core / 128));
        let group = core / 8 * 8;
        let third = [group, group + 1792].map(|first| format!("{first}-{}", first + 7)).join(",");
        let caches = [(1, "48K", format!("{core},{}", core + 1792)), (3, "32M", third)];
        for (index, (level, size, shared)) in caches.into_iter().enumerate() {
            let cache = |name: &str, text: &str| {
                m.put(&format!("/{place}/cache/index{index}/{name}"), format!("{text}\n"));
            };
            cache("shared_cpu_list", &shared);
            if cpu == 0 {
                cache("level", &level.to_string());
                cache("size", size);
                cache("type", if level == 1 { "Data" } else { "Unified" });
            }
        }
    }
    for (node, cpus) in ["0-127,1792-1919\n", "128-255,1920-2047\n"].into_iter().enumerate() {
        m.put(&format!("/sys/devices/system/node/node{node}/cpulist"), cpus);
    }
    m
}

#[test]
fn a_machine_of_512_cpus_numbered_up_to_2047() {
    let host = detect(&machine().root(), "/");
    let cpu = &host.cpu;
    assert_eq!((cpu.logical_cpus.get(), cpu.cores.get()), (Some(&512), Some(&256)));
    assert_eq!((cpu.sockets.get(), cpu.threads_per_core.get()), (Some(&2), Some(&2)));
    let mut usable = host.limits.usable_cpus.clone();
    assert!(usable[..256].iter().all(|cpu| *cpu < 256), "each core's first thread comes first");
    usable.sort_unstable();
    assert_eq!(usable, online().collect::<Vec<_>>());
    assert_eq!(host.limits.usable_cores, 256);
    let caches: Vec<_> = cpu
        .caches
        .get()
        .unwrap()
        .iter()
        .map(|c| (c.level, c.instances, c.shared_by.len()))
        .collect();
    assert_eq!(caches, [(1, 256, 2), (3, 32, 16)]);
    let nodes = cpu.numa_nodes.get().unwrap();
    assert_eq!(nodes.iter().map(|n| n.cpus.len()).collect::<Vec<_>>(), [256, 256]);
    assert!(nodes[1].cpus.contains(&2047));
}

#[test]
fn a_machine_of_2048_cpus_without_sys() {
    let m = Machine::new(&[]);
    let flags = "flag ".repeat(300);
    let block = |cpu: u32| {
        format!(
            "processor\t: {cpu}\nphysical id\t: {}\ncore id\t: {}\nflags\t: {flags}\n\n",
            cpu / 1024,
            cpu % 1024
        )
    };
    m.put("/arch", "x86_64\n");
    m.put("/proc/cpuinfo", (0..2048).map(block).collect::<String>());
    let root = m.root().with_affinity(Some((0..2048).collect()));
    let host = detect(&root, "/");
    assert_eq!(host.cpu.logical_cpus.get(), Some(&2048), "{:?}", host.cpu.logical_cpus);
    assert_eq!(host.cpu.sockets.get(), Some(&2));
    assert_eq!(host.limits.usable_cpus.len(), 2048);
    assert_eq!(host.limits.affinity.get().unwrap().last(), Some(&2047));
}
