//! Tests of planted findings and of their list.

use proofmark_model::MemoryModule;

use super::*;

fn two_sockets() -> Host {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/skylake_two_sockets");
    crate::detect(&crate::Root::fixture(folder), "/srv")
}

#[test]
fn huge_pages_that_are_off_or_unknown() {
    let mut host = two_sockets();
    for (setting, says) in [
        (Some("always"), None),
        (Some("madvise"), None),
        (Some("never"), Some("set to `never`")),
        (None, Some("does not report")),
    ] {
        let missing = Probe::missing("test");
        let setting = setting.map_or(missing, |word| Probe::known(word.to_owned(), "test"));
        host.memory.transparent_huge_pages = setting;
        let found = huge_pages_off(&host).map(|f| f.message);
        assert_eq!(found.is_some(), says.is_some(), "{found:?}");
        assert!(found.unwrap_or_default().contains(says.unwrap_or_default()));
    }
}

#[test]
fn modules_whose_speed_nobody_tells() {
    let mut host = two_sockets();
    let modules = |transfers_per_s| {
        let one = proofmark_model::testing::memory_module("A1");
        Probe::known(vec![MemoryModule { transfers_per_s, ..one }], "test")
    };
    host.memory.modules = modules(Some(2666e6));
    assert_eq!(hidden_modules(&host), None);
    host.memory.modules = modules(None);
    assert!(hidden_modules(&host).unwrap().message.contains("is unknown"));
    host.os.virtualisation = Probe::known("kvm".to_owned(), "test");
    assert!(hidden_modules(&host).unwrap().message.contains("virtual machine hides"));
    host.memory.modules = Probe::missing("test");
    assert!(hidden_modules(&host).is_some());
}

#[test]
fn disks_that_are_virtual_or_memory() {
    let mut host = two_sockets();
    let mut storage = host.storage.get().unwrap().clone();
    let reported = |host: &Host| (virtual_disk(host).map(|f| f.message), memory_disk(host));
    assert_eq!(reported(&host), (None, None), "a disk of a real machine");

    for transport in ["virtio", "xen", "hyperv"] {
        let leaf = storage.devices.last_mut().unwrap();
        leaf.transport = Some(transport.to_owned());
        host.storage = Probe::known(storage.clone(), "test");
        let message = reported(&host).0.unwrap();
        assert!(message.starts_with("sdb is a virtual disk"), "{message}");
    }
    storage.devices.last_mut().unwrap().transport = Some("sata".to_owned());
    host.storage = Probe::known(storage.clone(), "test");
    host.os.virtualisation = Probe::known("kvm".to_owned(), "test");
    assert!(reported(&host).0.is_some(), "a hypervisor may play any disk");

    storage.kind = StorageKind::Memory;
    host.storage = Probe::known(storage, "test");
    let (none, memory) = reported(&host);
    assert_eq!(none, None);
    assert!(memory.unwrap().message.starts_with("/srv is in memory (ext4 at /srv)"));
}

#[test]
fn every_finding_is_explained() {
    for (id, title, about) in FINDINGS {
        assert!(id.starts_with("host.") && !title.ends_with('.'), "{id}: {title}");
        assert!(about.len() > 80 && about.ends_with('.') && !about.contains("  "), "{about}");
    }
}
