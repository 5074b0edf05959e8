//! The formats of /proc/net, and counters that were replaced.

use std::net::UdpSocket;

use proofmark_model::CpuQuota;
use proptest::prelude::*;

use super::*;

const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:   44566     477    0    0    0     0          0         0    44566     477    0    0    0     0       0          0
veth0:1 2 3 4 9 9 9 9 5 6 7 8 9 9 9 9
  eth0: 373216496   16669    1    2    0     0          0         0   999181   10873    4    8    0     0       0          0
";
const SNMP: &str = "\
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens RetransSegs InErrs
Tcp: 1 200 120000 -1 211 17 0
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
Udp: 1976 5 9 1980 7 1 0 0 2
UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors
UdpLite: 1 1 1 1 1
";
const SNMP6: &str = "\
Ip6InReceives                   \t4
UdpLite6InDatagrams             \t99
Udp6InDatagrams                 \t20
Udp6NoPorts                     \t0
Udp6OutDatagrams                \t30
Udp6RcvbufErrors                \t3
Udp6MemErrors                   \t1
";
const SOFTNET: &str = "\
00000170 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
0000418a 0000001f 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
";
const STAT: &str = "\
cpu  7000 6000 5000 9000 900 800 700 90 0 0
cpu0 1000 20 300 5000 400 5 60 70 8 9
cpu1 5000 5000 4000 2000 200 500 300 10 0 0
cpu10 100 1 10 2000 100 2 20 10 0 0
intr 5
";
/// The CPUs that this end may use.
const MASK: &[u32] = &[0, 10];

const HALF: CpuQuota = CpuQuota { cpus: Some(0.5), period_s: Some(0.1), burst_s: None };

/// Counters of an interface as these texts report them.
fn reported(interface: &str) -> EndCounters {
    EndCounters {
        at_s: Some(3.0),
        interface: device(DEV, interface),
        all_interfaces: all_devices(DEV),
        retransmits: retransmits(SNMP),
        udp: udp(|name| snmp_value(SNMP, "Udp", name)),
        udp6: udp6(SNMP6),
        cpu_dropped: softnet_dropped(SOFTNET),
        busy_ticks: ticks(STAT, MASK, 0),
        own_ns: Some([2_500_000_000]),
        cpus: Some(2),
        stolen_ticks: ticks(STAT, MASK, 1),
        waiting_ns: Some([1_500_000_000]),
        groups: vec![Group { throttled_s: Some(0.25), quota: Some(HALF), ..Group::default() }],
        stopped_ns: Some([2_000_000_000]),
        tracer: Tracer::By("strace".to_owned()),
    }
}

fn zero() -> EndCounters {
    EndCounters {
        at_s: Some(0.5),
        interface: Some([0; 5]),
        all_interfaces: Some([0; 2]),
        retransmits: Some([0]),
        udp: Some([0; 3]),
        udp6: Some([0; 3]),
        cpu_dropped: Some([(0, 0), (1, 0)].into()),
        busy_ticks: Some(MASK.iter().map(|cpu| (*cpu, 0)).collect()),
        own_ns: Some([0]),
        cpus: Some(2),
        stolen_ticks: Some(MASK.iter().map(|cpu| (*cpu, 0)).collect()),
        waiting_ns: Some([0]),
        groups: vec![Group { throttled_s: Some(0.0), quota: Some(HALF), ..Group::default() }],
        stopped_ns: Some([0]),
        tracer: Tracer::None,
    }
}

#[test]
fn every_counter_has_its_place() {
    let tick = (rustix::param::clock_ticks_per_second() as f64).recip();
    let expected = EndTraffic {
        counted_s: Some(2.5),
        in_bytes: Some(373_216_496),
        out_bytes: Some(999_181),
        all_in_bytes: Some(373_216_496 + 1),
        all_out_bytes: Some(999_181 + 5),
        in_packets: Some(16_669),
        out_packets: Some(10_873),
        dropped: Some(1 + 2 + 4 + 8),
        retransmits: Some(17),
        in_datagrams: Some(1976 + 20),
        out_datagrams: Some(1980 + 30),
        full_buffers: Some(7 + 2 + 3 + 1),
        cpu_dropped: Some(1 + 0x1f),
        own_cpu_s: Some(2.5),
        busy_s: Some(f64::from(1385 + 133) * tick),
        cpus: Some(2),
        steal_s: Some(f64::from(70 + 10) * tick),
        waiting_s: Some(1.5),
        throttled_s: Some(0.25),
        quota: Some(HALF),
        stopped_s: Some(2.0 - f64::from(70 + 10) * tick - 0.25),
        tracer: Some("strace".to_owned()),
    };
    assert_eq!(reported("eth0").since(&zero()), expected);
}

#[test]
fn interfaces_by_their_whole_name() {
    assert_eq!(device(DEV, "veth0"), Some([1, 5, 2, 6, 3 + 4 + 7 + 8]), "no space after the colon");
    for name in ["eth", "th0", "face", "", "eth1"] {
        assert_eq!(device(DEV, name), None, "{name}");
    }
    assert_eq!(device("eth0: 1 2 3 4 5 6 7 8 9 10 11\n", "eth0"), None, "cut off");
}

#[test]
fn what_a_kernel_does_not_report_is_missing_alone() {
    let old = SNMP.replace(" MemErrors", "").replace(" 0 0 2\n", " 0 0\n");
    assert_eq!(udp(|name| snmp_value(&old, "Udp", name)), Some([1976, 1980, 7]));
    assert_eq!(snmp_value(SNMP, "Tcp", "MaxConn"), None, "-1 is no count");
    assert_eq!(snmp_value(SNMP, "Sctp", "InDatagrams"), None);
    assert_eq!(udp6("Ip6InReceives 4\n"), None);
    assert_eq!((softnet_dropped(""), softnet_dropped("0 zz\n")), (None, None));
    assert_eq!(ticks("cpu0 1 2 3\n", &[0], 0), None);
    assert_eq!(ticks("cpu  1 2 3 4 5 6 7 8\n", &[0], 0), None, "the sum is no CPU's");
    assert_eq!((ticks(STAT, &[0, 2], 0), ticks(STAT, &[], 0)), (None, None));
}

#[test]
fn sums_that_do_not_fit_are_none() {
    const MAX: u64 = u64::MAX;
    assert_eq!(ticks(&format!("cpu0 {MAX} 1 0 0 0 0 0 0\n"), &[0], 0), None);
    assert_eq!(device(&format!("a: 0 0 {MAX} 1 0 0 0 0 0 0 0 0\n"), "a"), None);
}

#[test]
fn counters_that_vanished_or_went_backwards_show_nothing() {
    // Limits and tracers are states, no counters.
    let counters = |all: EndCounters| {
        let (groups, tracer) = (vec![], Tracer::None);
        EndCounters { at_s: None, groups, tracer, ..all }
    };
    let (here, gone) = (counters(reported("eth0")), EndCounters::default());
    assert_eq!(gone.since(&here), EndTraffic::default());
    let cpus = EndTraffic { cpus: Some(2), ..EndTraffic::default() };
    assert_eq!([here.since(&gone), counters(zero()).since(&here)], [cpus.clone(), cpus]);
    // An interface was removed and created again meanwhile: its difference is no growth.
    let made_again = Some([373_216_495, 1 << 40, 1 << 40, 1 << 40, 15]);
    let again = EndCounters { interface: made_again, ..reported("eth0") }.since(&here);
    assert_eq!([again.in_bytes, again.out_packets, again.dropped], [None; 3]);
    assert_eq!(again.retransmits, Some(0), "the others still report");
}

#[test]
fn datagrams_of_both_versions_or_none() {
    let without = |c: EndCounters| EndCounters { udp6: None, ..c };
    let v4 = without(reported("eth0")).since(&without(zero()));
    assert_eq!((v4.in_datagrams, v4.out_datagrams), (Some(1976), Some(1980)));
    assert_eq!(v4.full_buffers, Some(9));
    for (later, earlier) in
        [(reported("eth0"), without(zero())), (without(reported("eth0")), zero())]
    {
        let half = later.since(&earlier);
        assert_eq!((half.in_datagrams, half.full_buffers), (None, None), "IPv6 came or went");
    }
}

#[test]
fn a_cpu_that_came_or_went_hides_the_drops() {
    let one = EndCounters { cpu_dropped: Some([(0, 0)].into()), ..zero() };
    assert_eq!(reported("eth0").since(&one).cpu_dropped, None);
    // One CPU's count fell while another's rose by more.
    let swapped = EndCounters { cpu_dropped: Some([(0, 0), (1, 100)].into()), ..zero() };
    assert_eq!(swapped.since(&reported("eth0")).cpu_dropped, None);
}

#[test]
fn busy_is_what_the_cpus_of_the_mask_were() {
    let alone = |cpus: &[u32], text: &str| EndCounters {
        busy_ticks: ticks(text, cpus, 0),
        ..EndCounters::default()
    };
    // Another CPU of the machine works all the time.
    let later = STAT.replace("cpu1 5000", "cpu1 9000").replace("cpu10 100", "cpu10 150");
    let tick = (rustix::param::clock_ticks_per_second() as f64).recip();
    let busy = |cpus: &[u32]| alone(cpus, &later).since(&alone(cpus, STAT)).busy_s;
    assert_eq!(busy(MASK), Some(50.0 * tick));
    assert_eq!(busy(&[1]), Some(4000.0 * tick));
    let moved = alone(&[1], &later).since(&alone(&[0], STAT));
    assert_eq!(moved.busy_s, None, "the mask has changed");
}

#[test]
fn this_end_counts_what_goes_over_loopback() {
    let before = EndCounters::read(Some("lo"), &[], None);
    if before.interface.is_none() || before.udp.is_none() {
        proofmark_testing::skip("/proc/net does not report lo here");
        return;
    }
    // To a socket that is not read: 16 MB exceed its buffer by any usual default.
    let [sink, source] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    for _ in 0..400 {
        source.send_to(&[0; 40_000], sink.local_addr().unwrap()).unwrap();
    }
    let traffic = EndCounters::read(Some("lo"), &[], None).since(&before);
    let at_least = |value: Option<u64>, least| value.is_some_and(|v| v >= least);
    assert!(at_least(traffic.out_bytes, 400 * 40_000), "{traffic:?}");
    assert!(at_least(traffic.in_packets, 400), "{traffic:?}");
    assert!(at_least(traffic.out_datagrams, 400), "{traffic:?}");
    assert!(at_least(traffic.full_buffers, 1), "{traffic:?}");
    assert!(traffic.own_cpu_s.is_some_and(|s| s > 0.0 && s < 60.0), "{traffic:?}");
    for none in [Some("no such"), Some(""), None] {
        assert_eq!(EndCounters::read(none, &[], None).interface, None, "{none:?}");
    }
}

#[test]
fn a_busy_thread_is_this_process_and_this_system() {
    let before = EndCounters::read(Some("lo"), &[], None);
    // Until it had 0.1 s of a CPU, whatever other processes need.
    let had = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let busy =
        std::thread::spawn(move || while had().tv_sec == 0 && had().tv_nsec < 100_000_000 {});
    proofmark_testing::join("a thread that uses 0.1 s of a CPU", busy);
    let traffic = EndCounters::read(Some("lo"), &[], None).since(&before);
    // In ticks of 10 ms.
    assert!(traffic.own_cpu_s.is_some_and(|s| s > 0.09), "{traffic:?}");
    assert!(traffic.busy_s.is_none_or(|s| s > 0.02), "{traffic:?}");
    assert!(traffic.cpus.is_none_or(|n| n >= 1), "{traffic:?}");
}

proptest! {
    #[test]
    fn no_text_panics(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        near in "((cpu|cpu0|cpu1|Udp|Udp6RcvbufErrors|Tcp|eth0)[: ]{1,2}((RetransSegs|InDatagrams|[0-9]{1,20}|ff) ){0,16}\n){0,4}",
    ) {
        for text in [&*String::from_utf8_lossy(&bytes), &near] {
            let _ = (device(text, "eth0"), retransmits(text), udp6(text));
            let _ = (ticks(text, &[0, 1], 0), softnet_dropped(text));
            let _ = udp(|name| snmp_value(text, "Udp", name));
        }
    }

    #[test]
    fn growth_is_exact_or_nothing(later: [u64; 3], earlier: [u64; 3]) {
        let expected = (0..3).all(|i| later[i] >= earlier[i]);
        let found = grown(Some(later), Some(earlier));
        prop_assert_eq!(found.is_some(), expected);
        for (i, growth) in found.into_iter().flatten().enumerate() {
            prop_assert_eq!(earlier[i] + growth, later[i]);
        }
    }
}
