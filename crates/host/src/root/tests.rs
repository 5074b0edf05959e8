use super::*;
use crate::mounts;
use crate::testing::Machine;

#[test]
fn reasons_name_the_machines_path_and_not_the_captured_folder() {
    let machine = Machine::new(&[("/empty", "\n"), ("/word", "12x\n")]);
    let root = machine.root();
    assert_eq!(root.read("/proc/none").unwrap_err(), "/proc/none: no such file");
    assert_eq!(root.line("/empty").unwrap_err(), "/empty: is empty");
    assert_eq!(root.number::<u32>("/word").unwrap_err(), "/word: '12x' is not a number");
}

#[test]
fn what_is_asked_for_is_recorded() {
    let root = Root::recording();
    let _ = (root.read("/proc/stat"), root.exists("/no/such"), root.names("/proc/self", "stat"));
    let asked = Vec::from_iter(root.requested_paths());
    let names = ["stat", "statm", "status"].map(|name| format!("/proc/self/{name}"));
    assert_eq!(asked, [&["/no/such".to_owned()], &names[..], &["/proc/stat".to_owned()]].concat());
}

#[test]
fn links_are_followed_within_the_machine() {
    let machine = Machine::new(&[("/sys/devices/x/file", "")]);
    let root = machine.root();
    std::os::unix::fs::symlink("devices/x", machine.at("/sys/near")).unwrap();
    std::os::unix::fs::symlink("/", machine.at("/sys/out")).unwrap();
    assert_eq!(root.real("/sys/near"), Ok("/sys/devices/x".to_owned()));
    assert!(root.real("/sys/out").unwrap_err().contains("leads out"));
    assert_eq!(root.real("/sys/none").unwrap_err(), "/sys/none: no such file");
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::live();
    let here = folder.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    let last = &here[here.rfind('/').unwrap()..];
    assert_eq!(root.folder(&format!("{here}/../{last}")), Ok(here.clone()));
    let none = format!("{here}/none");
    assert_eq!(root.folder(&none).unwrap_err(), format!("folder {none} does not exist"));
    let file = format!("{here}/file");
    std::fs::write(&file, "").unwrap();
    assert_eq!(root.folder(&file).unwrap_err(), format!("{file} is not a folder"));
    assert_eq!(root.writable(&here), Ok(()));
    let (all, free) = root.space(&here).unwrap();
    assert!(free <= all && all > 0, "{free} of {all}");
}

#[test]
fn a_folder_that_may_not_be_written_in_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_str().unwrap();
    std::fs::set_permissions(here, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(folder.path().join("file"), "").is_ok() {
        proofmark_testing::skip("this user may write anywhere");
        return;
    }
    let reason = Root::live().writable(here).unwrap_err();
    assert_eq!(reason, format!("no permission to write in {here}"));
}

#[test]
fn a_live_read_only_file_system_is_known() {
    let mounts = mounts::detect(&Root::live()).unwrap_or_default();
    let shown = |m: &&mounts::Mount| mounts::holding(&mounts, &m.point) == Some(*m);
    let closed = mounts.iter().filter(shown).find(|m| m.read_only() && m.kind == "tmpfs");
    let Some(mount) = closed else {
        proofmark_testing::skip("no tmpfs is mounted read-only here");
        return;
    };
    let reason = Root::live().writable(&mount.point).unwrap_err();
    assert_eq!(reason, format!("{} is on a read-only file system", mount.point));
}

#[test]
fn the_space_of_a_captured_machine_is_captured() {
    let space = |files: &[(&str, &str)]| Machine::new(files).root().space("/srv");
    assert_eq!(space(&[]).unwrap_err(), "/space: no such file");
    assert_eq!(space(&[("/space", "1000 400\n")]), Ok((1000, 400)));
    for bad in ["1000", "1 2 3", "a b", "-1 2"] {
        assert!(space(&[("/space", bad)]).is_err(), "{bad}");
    }
}

#[test]
fn bytes_that_are_no_text_do_not_stop_a_probe() {
    let machine = Machine::new(&[]);
    let root = machine.put("/odd", b"a\xffb").root();
    assert_eq!(root.line("/odd").unwrap(), "a\u{fffd}b");
    assert_eq!(root.bytes("/odd", 100).unwrap(), b"a\xffb");
    assert_eq!(root.bytes("/odd", 2).unwrap(), b"a\xff", "no more than asked for");
    assert_eq!(root.bytes("/none", 2).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn the_mask_comes_from_the_status_file() {
    assert_eq!(allowed_list("p", "Name:\tx\nCpus_allowed_list:\t0,2-3\n"), Ok(vec![0, 2, 3]));
    assert!(allowed_list("p", "Name:\tx\n").unwrap_err().contains("no Cpus_allowed_list"));
}

#[test]
fn without_proc_the_mask_is_that_of_the_system_call() {
    let machine = Machine::new(&[]);
    assert!(machine.root().affinity().is_err());
    let reported = machine.root().with_affinity(Some(vec![0, 2047]));
    assert_eq!(reported.affinity(), Ok((vec![0, 2047], "sched_getaffinity")));
    machine.put("/proc/self/status", "Cpus_allowed_list:\t1-2\n");
    assert_eq!(reported.affinity(), Ok((vec![1, 2], "/proc/self/status")), "/proc comes first");
}

#[test]
fn a_refused_io_uring_names_the_error_and_the_switch() {
    let denied = refused(&rustix::io::Errno::PERM.into(), Some("2".to_owned()));
    assert_eq!(
        denied,
        "io_uring_setup: Operation not permitted (os error 1); \
         /proc/sys/kernel/io_uring_disabled is 2"
    );
    assert!(refused(&rustix::io::Errno::NOSYS.into(), None).ends_with("(os error 38)"));
}
