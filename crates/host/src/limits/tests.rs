//! Tests of planted quotas in every kind of cgroup tree, and of the order of CPUs.

use proptest::prelude::*;

use super::*;
use crate::testing::Machine;

pub(crate) fn machine(cgroup: &str, mountinfo: &str) -> Machine {
    Machine::new(&[("/proc/self/cgroup", cgroup), ("/proc/self/mountinfo", mountinfo)])
}

fn quota(m: &Machine) -> Result<(Option<f64>, String), Reason> {
    cpu_quota(&m.root()).map(|(q, source)| (q.cpus, source))
}

pub(crate) const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

#[test]
fn v2_the_tightest_on_the_way_up_counts() {
    let m = machine("0::/a/b\n", V2);
    m.put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
        .put("/sys/fs/cgroup/a/cpu.max", "50000 100000\n")
        .put("/sys/fs/cgroup/a/b/memory.max", "4096\n")
        .put("/sys/fs/cgroup/a/memory.max", "max\n");
    assert_eq!(quota(&m), Ok((Some(0.5), "/sys/fs/cgroup/a/cpu.max".to_owned())));
    assert_eq!(memory::detect(&m.root()).0.unwrap().0, Some(4096));
    m.put("/sys/fs/cgroup/a/b/cpu.max", "20000 100000\n");
    assert_eq!(quota(&m).unwrap().0, Some(0.2));
    m.put("/sys/fs/cgroup/a/b/cpu.stat", "").put("/sys/fs/cgroup/cpu.stat", "");
    assert_eq!(cpu_stat(&m.root()), ["/sys/fs/cgroup/a/b/cpu.stat", "/sys/fs/cgroup/cpu.stat"]);
}

#[test]
fn a_broken_file_is_missing_with_the_file() {
    for bad in ["fast 100000\n", "0 100000\n", "-5 100000\n", "1 0\n", "1 x\n"] {
        let m = machine("0::/\n", V2);
        m.put("/sys/fs/cgroup/cpu.max", bad);
        assert!(quota(&m).unwrap_err().starts_with("/sys/fs/cgroup/cpu.max: "), "{bad}");
    }
}

pub(crate) const V1: &str = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                  35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                  41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

#[test]
fn v1_and_hybrid_read_the_controllers_own_mount() {
    let m = machine("4:memory:/x\n1:cpu:/x\n0::/\n", V1);
    m.put("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "150000\n")
        .put("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n")
        .put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
        .put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
        .put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n")
        .put("/sys/fs/cgroup/unified/cpu.max", "1000 100000\n");
    assert_eq!(quota(&m).unwrap().0, Some(1.5));
    assert_eq!(memory::detect(&m.root()).0.unwrap().0, None, "the v1 word for no limit");
}

#[test]
fn periods_and_bursts_of_both_versions() {
    const MS: f64 = 1e-3;
    for (quota_us, period_us, burst_us, cpus, period_s, burst_s) in [
        (50_000, 100_000, Some(0), 0.5, 100.0 * MS, Some(0.0)),
        (5_000, 10_000, None, 0.5, 10.0 * MS, None),
        (250_000, 1_000_000, Some(100_000), 0.25, 1.0, Some(100.0 * MS)),
        (20_000, 10_000, Some(5_000), 2.0, 10.0 * MS, Some(5.0 * MS)),
    ] {
        let (v1, v2) = (machine("1:cpu:/x\n", V1), machine("0::/x\n", V2));
        v1.put("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", format!("{quota_us}\n"))
            .put("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", format!("{period_us}\n"));
        v2.put("/sys/fs/cgroup/x/cpu.max", format!("{quota_us} {period_us}\n"));
        if let Some(burst) = burst_us {
            v1.put("/sys/fs/cgroup/cpu/x/cpu.cfs_burst_us", format!("{burst}\n"));
            v2.put("/sys/fs/cgroup/x/cpu.max.burst", format!("{burst}\n"));
        }
        for m in [v1, v2] {
            let quota = cpu_quota(&m.root()).unwrap().0;
            let near = |found: Option<f64>, is: Option<f64>| match (found, is) {
                (Some(found), Some(is)) => (found - is).abs() < 1e-12,
                (found, is) => found == is,
            };
            let as_set = quota.cpus == Some(cpus)
                && near(quota.period_s, Some(period_s))
                && near(quota.burst_s, burst_s);
            assert!(as_set, "{quota:?} of {quota_us} us per {period_us} us, burst {burst_us:?}");
        }
    }
    let m = machine("0::/\n", V2);
    m.put("/sys/fs/cgroup/cpu.max", "50000 100000\n").put("/sys/fs/cgroup/cpu.max.burst", "x\n");
    assert!(quota(&m).unwrap_err().starts_with("/sys/fs/cgroup/cpu.max.burst: "));
}

#[test]
fn a_container_that_sees_only_its_part() {
    let part = "9 8 0:29 /docker/12 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n";
    for path in ["/docker/12", "/"] {
        let m = machine(&format!("2:cpu,cpuacct:{path}\n"), part);
        m.put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n")
            .put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
        let (quota, source) = quota(&m).unwrap();
        assert_eq!(quota, Some(0.5), "{path}");
        assert!(source.ends_with("are not visible"), "{source}");
    }
}

/// A container with its own cgroup namespace, whose cgroup and mount are both `/`: a limit above it
/// is not visible, and its own is not the machine's. Only the top of a v1 hierarchy has a
/// release_agent.
#[test]
fn the_top_of_a_v1_tree_has_a_release_agent() {
    let m = machine("4:memory:/\n1:cpu:/\n", V1);
    m.put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
        .put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
        .put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
    let unseen = "; limits above this container are not visible";
    let none = "no cpu.cfs_quota_us from /sys/fs/cgroup/cpu upwards sets one";
    let of_memory = || memory::detect(&m.root()).0.unwrap();
    let topology = Topology { online: Probe::known(vec![0], "test"), cpus: Probe::missing("test") };
    let no_quota = || detect(&m.root(), &topology, &mut Vec::new()).has_no_cpu_quota();
    let limit = "/sys/fs/cgroup/memory/memory.limit_in_bytes";
    assert_eq!(quota(&m), Ok((None, format!("{none}{unseen}"))));
    assert_eq!(of_memory(), (Some(4096), format!("{limit}{unseen}")));
    assert!(!no_quota(), "a quota above may exist");
    m.put("/sys/fs/cgroup/cpu/release_agent", "\n");
    assert_eq!(quota(&m), Ok((None, none.to_owned())));
    assert!(no_quota());
    assert!(of_memory().1.ends_with(unseen), "each hierarchy by itself");
    m.put("/sys/fs/cgroup/memory/release_agent", "\n");
    assert_eq!(of_memory(), (Some(4096), limit.to_owned()));
}

#[test]
fn the_top_of_a_v2_tree_has_no_limits_so_one_that_has_is_a_container() {
    let m = machine("0::/\n", V2);
    m.put("/sys/fs/cgroup/cpu.stat", "");
    let none = "no cpu.max from /sys/fs/cgroup upwards sets one".to_owned();
    assert_eq!(quota(&m), Ok((None, none.clone())), "known, and not missing");
    m.put("/sys/fs/cgroup/cpu.max", "max 100000\n");
    let unseen = "; limits above this container are not visible";
    assert_eq!(quota(&m), Ok((None, none + unseen)));
}

#[test]
fn of_two_mounts_the_one_that_shows_the_own_cgroup_is_read() {
    let both = format!("{V2}50 23 0:26 /other /mnt/other rw - cgroup2 cgroup2 rw\n");
    let m = machine("0::/own\n", &both);
    m.put("/sys/fs/cgroup/own/cpu.max", "70000 100000\n")
        .put("/mnt/other/cpu.max", "10000 100000\n");
    assert_eq!(quota(&m).unwrap().0, Some(0.7));
}

#[test]
fn what_is_not_there_is_named() {
    for (cgroup, mounts, reason) in [
        ("0::/\n", "", "no cgroup file system is mounted for cpu"),
        ("1:name=systemd:/\n", V1, "no cgroup for cpu"),
        ("0::/gone\n", V2, "cannot be read"),
    ] {
        let found = quota(&machine(cgroup, mounts)).unwrap_err();
        assert!(found.contains(reason), "{found}");
    }
}

#[test]
fn the_cpuset_of_the_nearest_cgroup_that_has_one() {
    let m = machine("0::/a/b\n", V2);
    m.put("/sys/fs/cgroup/a/cpuset.cpus.effective", "2-3\n")
        .put("/sys/fs/cgroup/cpuset.cpus.effective", "0-7\n");
    assert_eq!(cpuset(&m.root()).unwrap().0, [2, 3]);
    m.put("/sys/fs/cgroup/a/b/cpuset.cpus.effective", "2-x\n");
    assert!(cpuset(&m.root()).is_err());
}

fn place(cpu: u32, siblings: &[u32]) -> LogicalCpu {
    LogicalCpu { cpu, core: siblings[0], socket: 0, siblings: siblings.to_vec() }
}

#[test]
fn cores_come_before_siblings() {
    let near: Vec<_> = (0..4).map(|c| place(c, &[c / 2 * 2, c / 2 * 2 + 1])).collect();
    assert_eq!(in_order(&[0, 1, 2, 3], &near), [0, 2, 1, 3]);
    assert_eq!(in_order(&[1, 2, 3], &near), [1, 2, 3]);
    assert_eq!(cores_among(&[1, 2, 3], &near), 2);
    let far: Vec<_> = (0..4).map(|c| place(c, &[c % 2, c % 2 + 2])).collect();
    assert_eq!(in_order(&[0, 1, 2, 3], &far), [0, 1, 2, 3]);
    assert_eq!(in_order(&[0, 2, 3], &far), [0, 3, 2]);
    assert_eq!(in_order(&[5, 6], &[]), [5, 6], "without places each CPU is a core");
    assert_eq!(cores_among(&[5, 6], &[]), 2);
}

#[test]
fn usable_is_what_all_three_allow_or_a_guess_with_a_finding() {
    let probe = |cpus: Option<&[u32]>| {
        cpus.map_or(Probe::missing(""), |cpus| Probe::known(cpus.to_vec(), "test"))
    };
    // Affinity mask, cpuset and online CPUs; some are unknown.
    for (lists, expected, doubt) in [
        ([Some(&[0, 1, 2, 9][..]), Some(&[1, 2, 3, 9]), Some(&[0, 1, 2])], &[1, 2][..], false),
        ([None, Some(&[1]), Some(&[0, 1])], &[1], false),
        ([Some(&[4]), None, Some(&[0])], &[4], true),
        ([None, None, None], &[0], true),
    ] {
        let [affinity, cpuset, online] = lists.map(probe);
        let topology = Topology { online, cpus: Probe::missing("test") };
        let mut findings = Vec::new();
        let found = usable(&affinity, &cpuset, &topology, &mut findings);
        assert_eq!(found, expected, "{lists:?}");
        assert_eq!(findings.len(), usize::from(doubt), "{lists:?}");
        assert!(findings.iter().all(|f| f.check == "host.usable_cpus"));
    }
}

proptest! {
    #[test]
    fn every_usable_cpu_comes_once(cpus in proptest::collection::btree_set(0_u32..64, 0..64), threads in 1_u32..5) {
        let cpus: Vec<u32> = cpus.into_iter().collect();
        let places: Vec<_> = (0..64).map(|c| {
            let first = c / threads * threads;
            LogicalCpu { cpu: c, core: first, socket: 0, siblings: (first..first + threads).collect() }
        }).collect();
        let order = in_order(&cpus, &places);
        let cores = cores_among(&cpus, &places) as usize;
        prop_assert_eq!(cores_among(&order[..cores], &places) as usize, cores);
        let mut sorted = order;
        sorted.sort_unstable();
        prop_assert_eq!(sorted, cpus);
    }
}
