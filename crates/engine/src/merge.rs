//! Merges two consecutive trials into one: the parts of a sample, and neighbouring samples if there
//! are too many to keep.
//!
//! Work, seconds and counts are added. A state (a clock, a share of pages) becomes the mean
//! weighted by time; of temperatures the highest counts. A count that is unknown in one of the two
//! is unknown in both: half a count would look like a whole one. Where threads took turns, the time
//! of other processes is the difference of two sums: what single parts, with their ticks of 10 ms,
//! lack or exceed must cancel out.

use proofmark_model::{
    Conditions, Datagrams, DeviceTraffic, EndTraffic, FileState, HelperTrial, LoadingThreads,
    NetworkTraffic, RanOn, Touched, Trial, Unit,
};

/// Adds a later trial of the same configuration. The value becomes that of both together.
pub(crate) fn merge(unit: Unit, trial: &mut Trial, later: Trial) {
    let times = [trial.seconds, later.seconds];
    trial.ran_on = both(trial.ran_on.take(), later.ran_on, RanOn::plus);
    trial.conditions = conditions(&trial.conditions, &later.conditions, times);
    if trial.ran_on.as_ref().is_some_and(RanOn::took_turns) {
        trial.conditions.other_cpu_s = trial.conditions.busy_with_others_s();
    }
    trial.background = mean(trial.background, later.background, times);
    trial.loading = both(trial.loading, later.loading, |a, b| loading(a, b, times));
    trial.seconds += later.seconds;
    trial.work += later.work;
    trial.value = trial.derived_value(unit);
    trial.verified = both(trial.verified, later.verified, |a, b| a + b);
    trial.moved = both(trial.moved, later.moved, |a, b| a + b);
    trial.touched = both(trial.touched, later.touched, Touched::merged);
    trial.quota = match (trial.quota, later.quota) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (a, b) => a.or(b),
    };
    trial.device = both(trial.device.take(), later.device, device);
    trial.helper = both(trial.helper.take(), later.helper, |a, b| HelperTrial {
        wall_s: a.wall_s + b.wall_s,
        ..b
    });
    trial.file = file(trial.file.take(), later.file, times);
    trial.network = network(trial.network.take(), later.network);
    trial.solution = later.solution.or(trial.solution.take());
}

fn both<T>(a: Option<T>, b: Option<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    Some(join(a?, b?))
}

/// The mean weighted by time, of the known values.
fn mean(a: Option<f64>, b: Option<f64>, [a_s, b_s]: [f64; 2]) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) if a_s + b_s > 0.0 => Some((a * a_s + b * b_s) / (a_s + b_s)),
        (a, b) => a.or(b),
    }
}

fn loading(a: LoadingThreads, b: LoadingThreads, times: [f64; 2]) -> LoadingThreads {
    LoadingThreads {
        on_cpu: mean(a.on_cpu, b.on_cpu, times),
        in_gaps: mean(Some(a.in_gaps), Some(b.in_gaps), times).unwrap_or(a.in_gaps),
        target: mean(a.target, b.target, times),
    }
}

fn seconds(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    both(a, b, |a, b| a + b)
}

fn count(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    both(a, b, u64::saturating_add)
}

fn conditions(a: &Conditions, b: &Conditions, times: [f64; 2]) -> Conditions {
    let mean = |of: fn(&Conditions) -> Option<f64>| mean(of(a), of(b), times);
    let seconds = |of: fn(&Conditions) -> Option<f64>| seconds(of(a), of(b));
    let count = |of: fn(&Conditions) -> Option<u64>| count(of(a), of(b));
    Conditions {
        clock_hz: mean(|c| c.clock_hz),
        clock_spread: mean(|c| c.clock_spread),
        clock_disagreement: mean(|c| c.clock_disagreement),
        issue_width: mean(|c| c.issue_width),
        steal_s: seconds(|c| c.steal_s),
        throttled_s: seconds(|c| c.throttled_s),
        other_cpu_s: seconds(|c| c.other_cpu_s),
        elsewhere_cpu_s: seconds(|c| c.elsewhere_cpu_s),
        own_cpu_s: seconds(|c| c.own_cpu_s),
        busy_cpu_s: seconds(|c| c.busy_cpu_s),
        stopped_s: seconds(|c| c.stopped_s),
        traced_threads: both(a.traced_threads, b.traced_threads, u64::max),
        tracer: a.tracer.clone().or_else(|| b.tracer.clone()),
        involuntary_switches: count(|c| c.involuntary_switches),
        migrations: count(|c| c.migrations),
        minor_faults: count(|c| c.minor_faults),
        major_faults: count(|c| c.major_faults),
        swapped_pages: count(|c| c.swapped_pages),
        io_bytes: count(|c| c.io_bytes),
        paravirtual_io_bytes: count(|c| c.paravirtual_io_bytes),
        huge_pages: mean(|c| c.huge_pages),
        misplaced_pages: mean(|c| c.misplaced_pages),
        temperature_c: a.temperature_c.into_iter().chain(b.temperature_c).max_by(f64::total_cmp),
        thermal_throttles: count(|c| c.thermal_throttles),
    }
}

fn device(a: DeviceTraffic, b: DeviceTraffic) -> DeviceTraffic {
    DeviceTraffic {
        read_bytes: a.read_bytes.saturating_add(b.read_bytes),
        written_bytes: a.written_bytes.saturating_add(b.written_bytes),
        reads: a.reads.saturating_add(b.reads),
        writes: a.writes.saturating_add(b.writes),
        flushes: count(a.flushes, b.flushes),
        busy_s: a.busy_s + b.busy_s,
        in_flight_s: a.in_flight_s + b.in_flight_s,
        own_read_bytes: count(a.own_read_bytes, b.own_read_bytes),
        own_written_bytes: count(a.own_written_bytes, b.own_written_bytes),
    }
}

/// The later state of the file, with all that was asked of it.
fn file(a: Option<FileState>, b: Option<FileState>, times: [f64; 2]) -> Option<FileState> {
    match (a, b) {
        (Some(a), Some(b)) => Some(FileState {
            asked_read_bytes: a.asked_read_bytes.saturating_add(b.asked_read_bytes),
            asked_written_bytes: a.asked_written_bytes.saturating_add(b.asked_written_bytes),
            in_flight: mean(a.in_flight, b.in_flight, times),
            ..b
        }),
        (a, b) => b.or(a),
    }
}

/// The traffic of both trials, as both ends report it. The state of the connections and the copy
/// rate are the later ones.
fn network(a: Option<NetworkTraffic>, b: Option<NetworkTraffic>) -> Option<NetworkTraffic> {
    let (Some(a), Some(b)) = (&a, &b) else { return b.or(a) };
    Some(NetworkTraffic {
        sent_bytes: a.sent_bytes.saturating_add(b.sent_bytes),
        received_bytes: a.received_bytes.saturating_add(b.received_bytes),
        datagrams: both(a.datagrams, b.datagrams, datagrams),
        streams: b.streams.clone(),
        ways_s: both(a.ways_s, b.ways_s, |a, b| [a[0] + b[0], a[1] + b[1]]),
        copy_bytes_per_s: b.copy_bytes_per_s.or(a.copy_bytes_per_s),
        client: end(&a.client, &b.client),
        server: end(&a.server, &b.server),
    })
}

fn datagrams(a: Datagrams, b: Datagrams) -> Datagrams {
    let weights = [a.received, b.received].map(|n| n as f64);
    Datagrams { jitter_s: mean(a.jitter_s, b.jitter_s, weights), ..a.plus(b) }
}

fn end(a: &EndTraffic, b: &EndTraffic) -> EndTraffic {
    let count = |of: fn(&EndTraffic) -> Option<u64>| count(of(a), of(b));
    EndTraffic {
        counted_s: seconds(a.counted_s, b.counted_s),
        in_bytes: count(|e| e.in_bytes),
        out_bytes: count(|e| e.out_bytes),
        all_in_bytes: count(|e| e.all_in_bytes),
        all_out_bytes: count(|e| e.all_out_bytes),
        in_packets: count(|e| e.in_packets),
        out_packets: count(|e| e.out_packets),
        dropped: count(|e| e.dropped),
        retransmits: count(|e| e.retransmits),
        in_datagrams: count(|e| e.in_datagrams),
        out_datagrams: count(|e| e.out_datagrams),
        full_buffers: count(|e| e.full_buffers),
        cpu_dropped: count(|e| e.cpu_dropped),
        own_cpu_s: seconds(a.own_cpu_s, b.own_cpu_s),
        busy_s: seconds(a.busy_s, b.busy_s),
        cpus: b.cpus.or(a.cpus),
        steal_s: seconds(a.steal_s, b.steal_s),
        waiting_s: seconds(a.waiting_s, b.waiting_s),
        throttled_s: seconds(a.throttled_s, b.throttled_s),
        quota: b.quota.or(a.quota),
        stopped_s: seconds(a.stopped_s, b.stopped_s),
        tracer: a.tracer.clone().or_else(|| b.tracer.clone()),
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Account;
    use proofmark_model::testing;

    use super::*;

    fn trial(work: f64, seconds: f64, conditions: Conditions) -> Trial {
        Trial {
            moved: Some(work),
            verified: Some(Account { claimed: work, counted: 2.0 * work }),
            conditions,
            device: Some(DeviceTraffic { read_bytes: 5, busy_s: 0.5, ..Default::default() }),
            file: Some(FileState { asked_read_bytes: 4, size_bytes: 9, ..Default::default() }),
            network: Some(NetworkTraffic {
                received_bytes: 7,
                datagrams: Some(Datagrams { sent: 3, received: 2, ..Default::default() }),
                client: EndTraffic { in_bytes: Some(1), cpus: Some(2), ..Default::default() },
                ..Default::default()
            }),
            ..testing::trial(work / seconds, seconds)
        }
    }

    #[test]
    fn a_clock_is_its_reading_however_few_cycles_a_neighbour_left() {
        let of =
            |work, hz| trial(work, 1.0, Conditions { clock_hz: Some(hz), ..Conditions::default() });
        let mut both = of(4e9, 4e9);
        merge(Unit::Hertz, &mut both, of(1e9, 3e9));
        assert_eq!((both.value, both.work), (3.5e9, 5e9));
    }

    #[test]
    fn two_trials_are_the_work_and_the_time_of_both() {
        let cold = Conditions {
            clock_hz: Some(4e9),
            steal_s: Some(0.25),
            involuntary_switches: Some(3),
            temperature_c: Some(60.0),
            throttled_s: None,
            ..Default::default()
        };
        let hot = Conditions {
            clock_hz: Some(3e9),
            temperature_c: Some(80.0),
            throttled_s: Some(1.0),
            ..cold.clone()
        };
        let mut all = trial(100.0, 1.0, cold);
        merge(Unit::OpPerSecond, &mut all, trial(20.0, 3.0, hot));
        assert_eq!((all.work, all.seconds, all.value), (120.0, 4.0, 30.0));
        assert_eq!(all.verified, Some(Account { claimed: 120.0, counted: 240.0 }));
        let c = &all.conditions;
        assert_eq!((c.clock_hz, c.steal_s), (Some(3.25e9), Some(0.5)));
        assert_eq!(c.involuntary_switches, Some(6));
        assert_eq!((c.temperature_c, c.throttled_s), (Some(80.0), None), "half a count is none");
        assert_eq!(all.device.as_ref().map(|d| (d.read_bytes, d.busy_s)), Some((10, 1.0)));
        assert_eq!(all.file.as_ref().map(|f| (f.asked_read_bytes, f.size_bytes)), Some((8, 9)));
        let network = all.network.unwrap();
        assert_eq!((network.received_bytes, network.client.in_bytes), (14, Some(2)));
        assert_eq!((network.datagrams.unwrap().lost(), network.client.cpus), (2, Some(2)));
    }

    #[test]
    fn the_time_of_loading_threads_is_weighted_by_that_of_the_trials() {
        let of = |seconds, on_cpu, in_gaps, target| Trial {
            loading: Some(LoadingThreads { on_cpu: Some(on_cpu), in_gaps, target: Some(target) }),
            ..trial(1.0, seconds, Conditions::default())
        };
        let mut all = of(1.0, 1.0, 0.0, 4e9);
        merge(Unit::OpPerSecond, &mut all, of(3.0, 0.5, 0.4, 8e9));
        let LoadingThreads { on_cpu, in_gaps, target } = all.loading.unwrap();
        assert_eq!((on_cpu, target), (Some(0.625), Some(7e9)));
        assert!((in_gaps - 0.3).abs() < 1e-12, "{in_gaps}");
        merge(Unit::OpPerSecond, &mut all, trial(1.0, 1.0, Conditions::default()));
        assert_eq!(all.loading, None);
    }

    #[test]
    fn ticks_of_parts_in_which_threads_took_turns_cancel_out() {
        let part = |most_on_one, busy_s| {
            let ran_on = RanOn { most_on_one, ..RanOn::default() };
            let mut conditions = Conditions {
                busy_cpu_s: Some(busy_s),
                own_cpu_s: Some(0.019),
                ..Conditions::default()
            };
            conditions.other_cpu_s = conditions.busy_with_others_s();
            Trial { ran_on: Some(ran_on), ..trial(1.0, 0.02, conditions) }
        };
        let others_s = |most_on_one| {
            let mut all = part(most_on_one, 0.01);
            merge(Unit::OpPerSecond, &mut all, part(most_on_one, 0.03));
            all.conditions.other_cpu_s.unwrap()
        };
        assert!((others_s(2) - 0.002).abs() < 1e-9, "{}", others_s(2));
        // Threads with a CPU each count their waits for it.
        assert!((others_s(1) - 0.011).abs() < 1e-9, "{}", others_s(1));
    }

    #[test]
    fn a_time_stays_seconds_for_each_unit_of_work() {
        let mut all = trial(10.0, 1.0, Conditions::default());
        merge(Unit::Second, &mut all, trial(10.0, 3.0, Conditions::default()));
        assert_eq!(all.value, 0.2);
    }

    #[test]
    fn a_clock_that_one_slice_read_is_that_of_the_sample() {
        let hz = |hz| Conditions { clock_hz: hz, ..Default::default() };
        assert_eq!(conditions(&hz(Some(3e9)), &hz(None), [1.0, 9.0]).clock_hz, Some(3e9));
        assert_eq!(conditions(&hz(None), &hz(None), [0.0, 0.0]).clock_hz, None);
    }
}
