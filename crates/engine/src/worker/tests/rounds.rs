//! Which trials have rounds, and how many.

use super::*;

#[test]
fn a_trial_of_a_load_that_can_be_cut_has_rounds() {
    for (amount, timing) in
        [(Amount::Calibrated, false), (Amount::Calibrated, true), (Amount::Total(1001), false)]
    {
        let fake = if timing { steady(amount).timing() } else { steady(amount) };
        let replies = talk(fake, 1, &[Request::Warm, Request::Trial, Request::Trial]);
        assert!(trial(&replies[0]).rounds.is_empty(), "a warm-up is none");
        for reply in &replies[1..] {
            let t = trial(reply);
            let [round] = &t.rounds[..] else { panic!("{amount:?}: {t:?}") };
            assert!((round.delivered / t.value - 1.0).abs() < 1e-6, "{t:?}");
            let (claimed, counted) = account(reply);
            // A time is of whole slices, of which those at its ends count in part.
            assert!(claimed == counted && t.work <= claimed * (1.0 + 1e-9), "{t:?}");
            assert!(t.work > 0.0 && t.seconds >= 0.9e-3, "{t:?}");
            // Two units a microsecond at the most.
            assert!(timing || t.value < 2.1e6, "{t:?}");
        }
    }
    let whole = Fake::counting(Amount::Whole);
    assert!(trial(&talk(whole, 1, &[Request::Trial])[0]).rounds.is_empty());
    let device = Fake::counting(FIXED).of_a_device();
    assert!(trial(&talk(device, 1, &[Request::Trial])[0]).rounds.is_empty());
}

#[test]
fn a_long_trial_is_one_round_unless_the_job_says_otherwise() {
    let rounds = |least| {
        let fake = steady(Amount::Calibrated).leak();
        let point = Point { workload: "test.fake".to_owned(), params: Params::default() };
        let orders = [Order::Begin(0, job(point, least)), Order::Take(0, Request::Trial)];
        let replies = converse(&|_| Some(fake), &orders);
        trial(&replies[1]).rounds.len()
    };
    assert_eq!(rounds(None), 1);
    // More where the machine held all back.
    assert!(rounds(Some(1)) >= 4);
    assert!(rounds(Some(8)) >= 8, "as many as an interval needs");
}
