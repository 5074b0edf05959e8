//! Parts of made-up machines.

use crate::{
    BlockDevice, Cache, CacheKind, Interface, MemoryModule, Network, NetworkPath, Probe, ServerEnd,
    Storage, StorageKind,
};

/// A data cache on level 1, a unified one on others.
pub fn cache(level: u32, size_bytes: u64, shared_by: &[u32], instances: u32) -> Cache {
    Cache {
        level,
        kind: if level == 1 { CacheKind::Data } else { CacheKind::Unified },
        size_bytes,
        line_bytes: Some(64),
        ways: None,
        shared_by: shared_by.to_vec(),
        instances,
    }
}

/// 16 GiB of DDR4-2133 at that place.
pub fn memory_module(locator: &str) -> MemoryModule {
    MemoryModule {
        locator: locator.to_owned(),
        kind: "DDR4".to_owned(),
        size_bytes: 16 << 30,
        transfers_per_s: Some(2133e6),
        data_bits: Some(64),
    }
}

/// A virtual disk with a volatile cache.
pub fn block_device(name: &str, number: &str) -> BlockDevice {
    BlockDevice {
        name: name.to_owned(),
        number: number.to_owned(),
        kind: "disk".to_owned(),
        over: Vec::new(),
        model: None,
        size_bytes: Some(256 << 30),
        logical_sector_bytes: Some(512),
        physical_sector_bytes: Some(4096),
        request_bytes: Some(1 << 20),
        rotational: Some(true),
        volatile_cache: Some(true),
        fua: Some(false),
        scheduler: Some("none".to_owned()),
        transport: Some("virtio".to_owned()),
        link: None,
        backing: None,
        cached_backing: false,
        flushes_withheld: false,
    }
}

/// A file system on these devices.
pub fn storage(devices: Vec<BlockDevice>) -> Storage {
    Storage {
        path: "/work".to_owned(),
        file_system: "ext4".to_owned(),
        kind: StorageKind::Block,
        mount_point: "/".to_owned(),
        mount_options: "rw,relatime".to_owned(),
        total_bytes: 256 << 30,
        free_bytes: 128 << 30,
        devices,
    }
}

/// The loopback interface `lo`, or Ethernet of 1 Gbit/s.
pub fn interface(name: &str) -> Interface {
    let loopback = name == "lo";
    Interface {
        name: name.to_owned(),
        kind: if loopback { "loopback" } else { "ethernet" }.to_owned(),
        mtu: if loopback { 65_536 } else { 1500 },
        bits_per_s: (!loopback).then_some(1e9),
        driver: None,
    }
}

/// A path from two CPUs to the same two, or to four of another machine.
pub fn network(path: NetworkPath) -> Network {
    let loopback = path == NetworkPath::Loopback;
    let interface = interface(if loopback { "lo" } else { "eth0" });
    Network {
        path,
        address: if loopback { "127.0.0.1:5277" } else { "192.0.2.2:5277" }.to_owned(),
        clocks_ns: Some([1_000, 9_000_000_000, 2_000]),
        server: ServerEnd {
            name: "far".to_owned(),
            boot_id: Some(if loopback { "here" } else { "there" }.to_owned()),
            cpu: None,
            cpus: if loopback { vec![0, 1] } else { vec![0, 1, 2, 3] },
            os: "Linux".to_owned(),
            version: "0.1.0".to_owned(),
        },
        boot_id: Some("here".to_owned()),
        server_interface: Some(interface.clone()),
        interface: Probe::known(interface, "test"),
        copy_bytes_per_s: loopback.then_some(10e9),
    }
}
