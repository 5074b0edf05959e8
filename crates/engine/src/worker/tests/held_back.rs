//! Others hold the worker back while it calibrates: what it measures afterwards is the same.

use super::*;

/// Loads whose iterations take a microsecond, but so many times as long until the first trial begins.
fn slow_at_first(amount: Amount, times: f64) -> Fake {
    let begun = AtomicUsize::new(0);
    Fake::new(amount, move |_, call| {
        match call {
            Call::Begin => begun.store(1, Ordering::SeqCst),
            Call::Run(iterations) => {
                let slow = begun.load(Ordering::SeqCst) == 0;
                let each_s = if slow { 1e-6 * times } else { 1e-6 };
                // A pause of minutes would tell no more than one of a tenth of a second.
                let end = raw_seconds() + (iterations as f64 * each_s).min(0.1);
                while raw_seconds() < end {
                    std::hint::spin_loop();
                }
            }
            _ => {}
        }
        count(call)
    })
}

#[test]
fn pauses_in_a_calibration_make_no_trial_short() {
    for times in [10.0, 1e3, 1e6] {
        for held in 1..=3 {
            for from in 0..24 {
                let mut call = 0;
                let fills = filling(0.1, |iterations| {
                    call += 1;
                    let slow = (from + 1..=from + held).contains(&call);
                    Ok(iterations as f64 * 1e-6 * if slow { times } else { 1.0 })
                });
                let seconds = fills.unwrap() as f64 * 1e-6;
                let what = format!("{held} calls from {from} on held up {times} times");
                assert!((0.1..0.2).contains(&seconds), "{seconds} s: {what}");
            }
        }
    }
}

#[test]
fn a_short_trial_is_taken_again_longer() {
    for times in [10.0, 1e3, 1e5] {
        let disk = slow_at_first(Amount::Calibrated, times).of_a_device();
        let reply = talk(disk, 1, &[Request::Trial]).remove(0);
        assert!(trial(&reply).seconds >= 1e-4, "{times}: {:?}", trial(&reply));
        assert_eq!(account(&reply).0, account(&reply).1);
        let sample = slow_at_first(Amount::Calibrated, times).of_a_device();
        let reply = talk(sample, 1, &[span(4000)]).remove(0);
        // In parts of 2 ms. Of parts a thousand times as short there would be little work.
        assert!(trial(&reply).work > 100.0, "{times}: {:?}", trial(&reply));
    }
    // What is taken again leaves no latencies behind.
    let file = Some(FileState::default());
    let disk = Fake { file, ..slow_at_first(Amount::Calibrated, 1e4).of_a_device() };
    let reply = talk(disk, 1, &[Request::Trial]).remove(0);
    let counted = taken(&reply).latency.as_ref().unwrap().count;
    assert_eq!(counted as f64 * 2.0, trial(&reply).work);
    // A fixed amount is short where the work is.
    let fixed = slow_at_first(Amount::Total(3), 1e3).of_a_device();
    assert_eq!(trial(&talk(fixed, 1, &[Request::Trial]).remove(0)).work, 6.0);
}

/// A disk of which others took a part during the warm-up, or that paused once in the first trial.
#[test]
fn trials_have_their_length_and_the_same_work_though_the_warm_up_was_slow() {
    let works = |each_s: [f64; 2], pause_at: usize| {
        let begun = AtomicUsize::new(0);
        let disk = Fake::new(Amount::Calibrated, move |_, call| {
            match call {
                Call::Begin => _ = begun.fetch_add(1, Ordering::SeqCst),
                Call::Run(iterations) => {
                    let begun = begun.load(Ordering::SeqCst);
                    let each_s = each_s[usize::from(begun > 4)];
                    let pause_s = if begun == pause_at { 0.2 } else { 0.0 };
                    let seconds = iterations as f64 * each_s + pause_s;
                    std::thread::sleep(Duration::from_secs_f64(seconds));
                }
                _ => {}
            }
            count(call)
        });
        let disk = disk.of_a_device().leak();
        let point = Point { workload: "test.fake".to_owned(), params: Params::default() };
        let job = Job { trial_s: 0.05, ..job(point, None) };
        let requests = [[Request::Warm; 4], [Request::Trial; 4]].concat();
        let orders = requests.into_iter().map(|request| Order::Take(0, request));
        let orders: Vec<Order> = [Order::Begin(0, job)].into_iter().chain(orders).collect();
        let replies = converse(&|_| Some(disk), &orders);
        replies[5..].iter().map(|reply| trial(reply).work).collect::<Vec<f64>>()
    };
    // 0.05 s at 1e-5 s are 5,000 iterations of two units; sleeps are somewhat longer.
    let is_planned = |work: f64| (4_000.0..14_000.0).contains(&work);
    for (each_s, pause_at) in [([8e-5, 1e-5], 0), ([1e-5, 1e-5], 5), ([1e-5, 1e-5], 4)] {
        let all = works(each_s, pause_at);
        assert!(all.iter().all(|work| *work == all[0]), "{each_s:?} {pause_at}: {all:?}");
        assert!(is_planned(all[0]), "{each_s:?} {pause_at}: {all:?}");
    }
    // Slower trials are longer, and as large as they were.
    let slower = works([1e-5, 8e-5], 0);
    assert!(slower.iter().all(|work| *work == slower[0]) && is_planned(slower[0]), "{slower:?}");
}

/// A rate of two units a microsecond, however long slices were thought to be.
#[test]
fn slices_follow_what_is_seen_whatever_was_calibrated() {
    for (amount, times) in [
        (Amount::Calibrated, 1e2),
        (Amount::Calibrated, 1e5),
        (Amount::Total(400_000), 1e2),
        (Amount::Total(400_000), 1e6),
    ] {
        wait_until("clean windows", || {
            let fake = slow_at_first(amount, times).leak();
            let point = Point { workload: "test.fake".to_owned(), params: Params::default() };
            let orders = [Order::Begin(0, job(point, None)), Order::Take(0, Request::Trial)];
            let replies = converse(&|_| Some(fake), &orders);
            let t = trial(&replies[1]);
            let [round] = &t.rounds[..] else { panic!("{t:?}") };
            let Some(typical) = round.typical else { return Err("none".to_owned()) };
            // Windows of a quarter of a millisecond: many, of a busy machine a few.
            let is_so = (1.7e6..2.1e6).contains(&typical) && round.clean_s > 0.01;
            if is_so { Ok(()) } else { Err(format!("{amount:?} {times}: {round:?}")) }
        });
    }
}

#[test]
fn untimed_slices_are_bounded_however_long_an_estimate_says() {
    // By a calibration, 100 iterations ahead take hours.
    let ahead = [1e-6, 1e-3, 1.0, 1e6].map(|each_s| untimed_s(100, each_s));
    assert_eq!(ahead, [SLICED_AHEAD_S, 0.1, MAX_AHEAD_S, MAX_AHEAD_S]);
}
