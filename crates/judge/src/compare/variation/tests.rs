use proofmark_model::{MISSES, Successive};

use super::super::side_runs::Earlier;
use super::*;
use crate::testing::{normal, xorshift};

const ONE: Prior = Prior { same_machine: true, are_physical: false };
const TWO: Prior = Prior { same_machine: false, are_physical: false };
const HOUR: f64 = 3600.0;

fn estimate(a: &Values, b: &Values, prior: Prior) -> Option<Variation> {
    between([a, b], prior.of_level(Subsystem::Cpu), prior.same_machine)
}

/// Runs a minute apart.
fn values(start_s: f64, logs: Vec<f64>) -> Values {
    let times = (0..logs.len()).map(|i| start_s + 60.0 * i as f64).collect();
    Values { times, logs, earlier: None }
}

/// A machine whose level is drawn anew for each block of runs.
struct Machine<'r> {
    random: &'r mut dyn FnMut() -> f64,
    of_run: f64,
    of_level: f64,
}

impl Machine<'_> {
    fn block(&mut self, n: usize) -> Vec<f64> {
        let level = self.of_level * normal(&mut self.random);
        (0..n).map(|_| level + self.of_run * normal(&mut self.random)).collect()
    }

    /// What the history knows after so many blocks, some hours apart.
    fn earlier(&mut self, blocks: usize, each: usize) -> Option<Earlier> {
        let blocks: Vec<Vec<f64>> = (0..blocks).map(|_| self.block(each)).collect();
        let logs = blocks.concat();
        let steps = blocks.iter().flat_map(|b| b.windows(2).map(|two| (two[1] - two[0]).powi(2)));
        let steps: Vec<f64> = steps.collect();
        let (all, pairs) = (Values { logs, ..Values::default() }, steps.len());
        let successive = (steps.iter().sum::<f64>() / (2.0 * pairs as f64)).sqrt();
        Some(Earlier {
            runs: all.logs.len() as u64,
            deviation: all.of_own_runs().unwrap().value.sqrt(),
            successive: (pairs > 1).then_some(Successive {
                deviation: successive,
                pairs: pairs as u64,
                seconds: 60.0 * pairs as f64,
            }),
        })
    }
}

/// The share of comparisons of equal machines whose interval does not hold 0.
fn false_share(mut draw: impl FnMut() -> Variation) -> f64 {
    const ALL: u32 = 2000;
    let is_false = |_: &u32| {
        let v = draw();
        v.log.abs() > v.half(MISSES)
    };
    (0..ALL).filter(is_false).count() as f64 / f64::from(ALL)
}

#[test]
fn equal_machines_differ_by_chance_in_no_more_than_one_of_twenty() {
    let mut random = xorshift();
    for (of_run, of_level) in [(0.1, 0.0), (0.02, 0.02), (0.02, 0.1), (0.1, 0.1)] {
        // Blocks of ten, and one run a day, in which levels and runs cannot be told apart.
        for (blocks, each) in [(8, 10), (30, 1)] {
            for (n_a, n_b) in [(1, 1), (1, 5), (2, 2), (5, 5), (4, 12)] {
                let mut machine = Machine { random: &mut random, of_run, of_level };
                let share = false_share(|| {
                    let earlier = machine.earlier(blocks, each);
                    let a = Values { earlier, ..values(0.0, machine.block(n_a)) };
                    let b = values(9.0 * HOUR, machine.block(n_b));
                    estimate(&a, &b, ONE).unwrap()
                });
                let case = format!("{of_run} {of_level} {each} {n_a} {n_b}");
                // Levels are taken to move a little within a block.
                assert!(share <= 0.1, "{case}: {share}");
            }
        }
    }
}

#[test]
fn without_a_history_groups_differ_by_no_more_than_levels_are_known_to_move() {
    let mut random = xorshift();
    for n in [2, 3, 5, 8] {
        let mut machine = Machine { random: &mut random, of_run: 0.02, of_level: 0.05 };
        let mut draw = |prior: Prior| {
            let (a, b) = (values(0.0, machine.block(n)), values(9.0 * HOUR, machine.block(n)));
            estimate(&a, &b, prior).unwrap()
        };
        for prior in [ONE, TWO] {
            let share = false_share(|| draw(prior));
            assert!(share <= 0.1, "{n}: {share}");
        }
        let unaware = false_share(|| draw(Prior { are_physical: true, ..ONE }));
        assert!(n < 3 || unaware > 0.2, "{n}: {unaware}");
    }
}

/// Morning and evening of A about the noon of B: their mean times agree, and their levels do not.
#[test]
fn runs_about_others_do_not_share_their_level() {
    let mut random = xorshift();
    let mut machine = Machine { random: &mut random, of_run: 0.002, of_level: 0.05 };
    let share = false_share(|| {
        let [morning, evening] = [0.0, 8.0 * HOUR].map(|start_s| values(start_s, machine.block(5)));
        let a = Values {
            times: [morning.times, evening.times].concat(),
            logs: [morning.logs, evening.logs].concat(),
            earlier: None,
        };
        estimate(&a, &values(4.0 * HOUR, machine.block(5)), ONE).unwrap()
    });
    assert!(share <= 0.065, "{share}");
}

#[test]
fn runs_that_alternate_see_the_same_levels() {
    let mut random = xorshift();
    let mut machine = Machine { random: &mut random, of_run: 0.005, of_level: 0.0 };
    let mut alternating = |effect: f64, prior: Prior| {
        let all = machine.block(12);
        let all: Vec<f64> = all.iter().enumerate().map(|(i, v)| v + 0.002 * i as f64).collect();
        let every_second = |first: usize, effect: f64| {
            let logs = all.iter().skip(first).step_by(2).map(|v| v + effect).collect();
            let times = (first..12).step_by(2).map(|i| 60.0 * i as f64).collect();
            Values { times, logs, earlier: None }
        };
        estimate(&every_second(0, 0.0), &every_second(1, effect), prior).unwrap()
    };
    assert!(false_share(|| alternating(0.0, ONE)) <= 0.065);
    let mut found = |prior| {
        let found = (0..200).filter(|_| {
            let v = alternating(-0.1, prior);
            v.log + v.half(MISSES / 20.0) < 0.0
        });
        found.count()
    };
    assert!(found(ONE) >= 190, "{}", found(ONE));
    assert!(found(TWO) <= 10, "two machines share no level: {}", found(TWO));
}

#[test]
fn nothing_is_known_of_two_single_runs_without_a_history() {
    let (a, b) = (values(0.0, vec![0.0]), values(60.0, vec![0.1]));
    assert!(estimate(&a, &b, ONE).is_none());
    let many = Some(Successive { deviation: 0.2, pairs: 40, seconds: 1e6 });
    let earlier = Some(Earlier { runs: 41, deviation: 0.2, successive: many });
    let known = Values { earlier, ..a.clone() };
    // The other machine may vary more.
    assert!(estimate(&known, &b, TWO).is_none());
    for (first, second) in [(&known, &b), (&a, &Values { earlier, ..b.clone() })] {
        let v = estimate(first, second, ONE).unwrap();
        // Two runs of deviation 0.2 each, and the least that is known of levels.
        assert!((0.55..0.65).contains(&v.half(MISSES)), "{}", v.half(MISSES));
        assert!(v.half(MISSES / 20.0) > 1.4 * v.half(MISSES), "all figures together");
        assert!(!v.is_of_several() && !v.has_too_few_runs());
    }
    assert!(estimate(&Values::default(), &b, ONE).is_none(), "no run has the figure");
}

#[test]
fn the_number_of_runs_that_would_show_a_difference_does() {
    let of = |n: usize, deviation: f64, log: f64, prior: Prior| {
        let side = |effect: f64| {
            let all = (0..n).map(|i| effect + deviation * if i % 2 == 0 { 1.0 } else { -1.0 });
            values(0.0, all.collect())
        };
        estimate(&side(0.0), &side(log), prior).unwrap()
    };
    let v = of(4, 0.05, -0.1, ONE);
    let needs = v.needs(v.log, 0.02, MISSES / 20.0).unwrap();
    assert!(v.log + v.half(MISSES / 20.0) > -0.02 && (10..40).contains(&needs), "{needs}");
    // So many alternating runs show it, and half of them do not.
    let shows = |n: u64| {
        let v = of(n as usize, 0.05, -0.1, ONE);
        v.log + v.half(MISSES / 20.0) < (1.0_f64 - 0.02).ln()
    };
    assert!(shows(needs + 2) && !shows(needs / 2), "{needs}");
    assert_eq!(v.needs(-0.01, 0.02, MISSES / 20.0), None, "within the margin");
    assert_eq!(of(4, 3.0, -0.1, ONE).needs(-0.1, 0.02, MISSES), None, "more than anyone takes");
    let two = of(4, 0.05, -0.1, TWO);
    assert_eq!(two.needs(two.log, 0.02, MISSES / 20.0), None, "no number shows it in an hour");
}

#[test]
fn wild_numbers_show_nothing() {
    let earlier = Some(Earlier { runs: 3, deviation: 1e-3, successive: None });
    for (a, b) in [(vec![0.0, 600.0], vec![1.0, -600.0]), (vec![-700.0, 700.0], vec![700.0])] {
        let (a, b) = (Values { earlier, ..values(0.0, a) }, values(-1e12, b));
        for prior in [ONE, TWO] {
            let Some(v) = estimate(&a, &b, prior) else { continue };
            let [low, high] = v.ends(v.log, 1e-5);
            assert!(low < 1.0 && high > 1.0 && low.is_normal() && high.is_finite(), "{v:?}");
        }
    }
}

/// Figures of runs of one machine over a hundred minutes.
struct Stretch {
    lines: Vec<&'static str>,
    runs: usize,
    every_s: f64,
}

impl Stretch {
    fn new(text: &'static str, every_s: f64) -> Self {
        let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
        let runs = lines[0].split(' ').count() - 1;
        Self { lines, runs, every_s }
    }
}

fn stretches() -> [Stretch; 2] {
    [
        Stretch::new(include_str!("hundred_minutes.txt"), 100.0),
        Stretch::new(include_str!("another_hundred_minutes.txt"), 116.0),
    ]
}

/// The figure of a line in some of the runs, with what a history had before the first of them, and the
/// prior deviation of its level.
fn replayed(line: &str, every_s: f64, runs: &[usize], factor: f64) -> (f64, Values) {
    let mut words = line.split(' ');
    let word = words.next().unwrap();
    let (id, slowest) = match word.strip_suffix('!') {
        Some(id) => (id, OF_SLOWEST),
        None => (word, 1.0),
    };
    let subsystem = Subsystem::ALL.into_iter().find(|s| s.as_str() == id).unwrap();
    let all: Vec<Option<f64>> = words.map(|v| Some(v.parse::<f64>().ok()?.ln())).collect();
    let at = |runs: &mut dyn Iterator<Item = usize>| {
        let found = runs.filter_map(|i| Some((every_s * i as f64, all[i]?)));
        let (times, logs) = found.unzip();
        Values { times, logs, earlier: None }
    };
    let before = at(&mut (0..runs[0]));
    let steps: Vec<f64> = before.logs.windows(2).map(|two| (two[1] - two[0]).powi(2)).collect();
    let successive = (steps.iter().sum::<f64>() / (2.0 * steps.len() as f64)).sqrt();
    let earlier = before.of_own_runs().filter(|_| before.logs.len() > 2).map(|v| Earlier {
        runs: before.logs.len() as u64,
        deviation: v.value.sqrt(),
        successive: Some(Successive {
            deviation: successive,
            pairs: steps.len() as u64,
            seconds: every_s * steps.len() as f64,
        }),
    });
    let own = at(&mut runs.iter().copied());
    let logs = own.logs.iter().map(|log| log + factor.ln()).collect();
    (slowest * ONE.of_level(subsystem), Values { logs, earlier, ..own })
}

/// A number below another.
type Random<'r> = dyn FnMut(usize) -> usize + 'r;

/// The share of comparisons of that machine with itself in which a figure differs, with B at `factor`.
fn share_that_differs(
    Stretch { lines, every_s, .. }: &Stretch,
    draw: &dyn Fn(&mut Random) -> [Vec<usize>; 2],
    factor: f64,
) -> f64 {
    let (mut random, all) = (xorshift(), 1000);
    let differs = |_: &u32| {
        let [a, b] = draw(&mut |n| (random() * n as f64) as usize % n);
        lines.iter().any(|line| {
            let (of_level, a) = replayed(line, *every_s, &a, 1.0);
            let (_, b) = replayed(line, *every_s, &b, factor);
            let Some(v) = between([&a, &b], of_level, true) else { return false };
            if v.has_too_few_runs() {
                return false;
            }
            let [low, high] = v.ends(v.log, MISSES / 2.0 / lines.len() as f64);
            low > 1.0 / 0.98 || high < 0.98
        })
    };
    (0..all).filter(differs).count() as f64 / f64::from(all)
}

#[test]
fn a_machine_with_neighbours_is_not_slower_than_itself() {
    for stretch in &stretches() {
        let runs = stretch.runs;
        // Of single runs their own intervals hold, too.
        for size in [3, 4, 5] {
            let blocks = |random: &mut Random| {
                let first = random(runs + 1 - 2 * size);
                let second = first + size + random(runs + 1 - 2 * size - first);
                let (a, b) = ((first..first + size).collect(), (second..second + size).collect());
                if random(2) == 0 { [a, b] } else { [b, a] }
            };
            let share = share_that_differs(stretch, &blocks, 1.0);
            assert!(share <= 0.05, "{size} of {runs} runs in a row: {share}");
        }
        let alternating = |random: &mut Random| {
            let first = random(runs - 9);
            [0, 1].map(|side| (0..5).map(|i| first + side + 2 * i).collect())
        };
        let share = share_that_differs(stretch, &alternating, 1.0);
        assert!(share <= 0.05, "alternating, of {runs}: {share}");
        // A tenth is found in some figure.
        let found = share_that_differs(stretch, &alternating, 0.9);
        assert!(found >= 0.9, "of {runs}: {found}");
    }
}
