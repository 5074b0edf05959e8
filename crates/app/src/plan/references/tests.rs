//! Tools that take as long as they are told to, beside points that are made up.

use proofmark_model::{Params, Policy};
use proofmark_reference::{Invocation, Malformed, Output};

use super::*;

/// Takes so many seconds for one run, and so many more than our trials.
struct Slow(f64);

impl Tool for Slow {
    fn id(&self) -> &'static str {
        "slow"
    }

    fn title(&self) -> &'static str {
        "slow"
    }

    fn about(&self) -> &'static str {
        "For tests."
    }

    fn recognises(&self, _: &str) -> bool {
        false
    }

    fn parse(&self, _: &str) -> Result<Output, Malformed> {
        Err(Malformed::at(1, "nothing"))
    }

    fn beside(&self) -> Option<&dyn Beside> {
        Some(self)
    }
}

impl Beside for Slow {
    fn installed(&self) -> Option<Installed> {
        None
    }

    fn package(&self) -> &'static str {
        "Debian: slow"
    }

    fn counts(&self, _: &str) -> Option<&'static str> {
        Some("nothing")
    }

    fn invocation(&self, _: &Installed, _: &Task) -> Result<Invocation, String> {
        Ok(Invocation::default())
    }

    fn shortest(&self) -> f64 {
        0.3
    }

    fn takes(&self, task: &Task) -> f64 {
        assert!(task.seconds >= 0.3, "our trials last as long");
        self.0
    }
}

fn point(kernel: &str, threads: u64) -> Point {
    let params = Params::default().with("threads", threads).with("placement", "apart");
    Point { kernel: kernel.to_owned(), params }
}

fn plan(max_trials: u32) -> Plan {
    let policy = Policy { max_trials, min_trials: max_trials.min(8), ..Policy::default() };
    Plan { policy, points: vec![point("cpu.flops", 2)], ..Plan::default() }
}

#[test]
fn slow_tools_have_fewer_pairs_and_the_slowest_none() {
    let pairs_of = |takes: f64, max: u32| pairs(&plan(max), 0, &Slow(takes));
    assert_eq!(pairs_of(1.0, 30), Some(PAIRS));
    assert_eq!(pairs_of(30.0, 30), Some(8), "8 times 30 s are four minutes");
    assert_eq!(pairs_of(40.0, 30), Some(6));
    assert_eq!(pairs_of(80.0, 30), Some(3));
    assert_eq!(pairs_of(81.0, 30), None, "fewer than three say nothing");
    assert_eq!(pairs_of(1.0, 2), Some(2), "no more than there are trials");
    assert_eq!(pairs_of(140.0, 1), Some(1), "who asks for one gets it");
    assert_eq!(pairs(&plan(8), 1, &Slow(1.0)), None, "no such point");
}

#[test]
fn names_are_tools_that_can_be_run() {
    let parse = |names: &[&str], none| {
        Asked::parse(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>(), none)
    };
    assert_eq!(parse(&[], false).unwrap(), Asked::Marked);
    assert_eq!(parse(&[], true).unwrap(), Asked::Named(vec![]));
    assert_eq!(parse(&["none"], false).unwrap(), Asked::Named(vec![]));
    assert_eq!(parse(&["fio", "iperf3"], false).unwrap(), Asked::Named(vec!["fio", "iperf3"]));
    let Asked::Named(all) = parse(&["all"], false).unwrap() else { panic!() };
    assert!(all.len() > 10 && all.contains(&"stream"), "{all:?}");
    let error = parse(&["ipref3"], false).unwrap_err().to_string();
    assert!(error.contains("did you mean 'iperf3'?"), "{error}");
}

#[test]
fn a_tool_has_the_cpus_of_our_threads() {
    let cpus = |kernel: &str, threads| Cpus::of(&point(kernel, threads), &[4, 5, 6, 7]);
    assert_eq!(cpus("cpu.flops", 2), Cpus { near: vec![4, 5], far: vec![] });
    assert_eq!(cpus("memory.triad", 9).near, [4, 5, 6, 7]);
    assert_eq!(cpus("disk.rand_read", 1).near, [4, 5, 6, 7], "they are not pinned");
    let network = cpus("network.tcp.rtt", 1);
    assert_eq!(network, Cpus { near: vec![4, 5], far: vec![7, 6] });
    assert_eq!(network.both(), [4, 5, 7, 6]);
}

#[test]
fn a_users_budget_holds_the_tools_too() {
    let shared = |budget_s: f64, is_users: bool| {
        let mut plan = plan(8);
        plan.policy.budget_s = Some(budget_s);
        // The first of the tools, whichever it is: only its time matters.
        let tool = ALL.iter().find(|t| t.beside().is_some()).unwrap();
        plan.references.insert(tool.id().to_owned(), vec![0]);
        let tools_s = seconds(&plan);
        assert!(tools_s > 0.0);
        let mut planned = Planned::of(plan);
        planned.no_reference.insert(0, NoReference::default());
        share_budget(&mut planned, is_users);
        (planned, tools_s)
    };
    let (planned, tools_s) = shared(1e6, true);
    assert_eq!(planned.plan.policy.budget_s, Some(1e6 - tools_s));
    assert_eq!(planned.plan.references.len(), 1);
    let (planned, tools_s) = shared(tools_s, true);
    assert_eq!(planned.plan.policy.budget_s, Some(tools_s), "all for our own trials");
    assert!(planned.plan.references.is_empty() && planned.left_out.len() == 1);
    assert!(planned.no_reference[&0].why.contains("the tools beside the points would take about"));
    let (planned, _) = shared(1.0, false);
    assert_eq!((planned.plan.policy.budget_s, planned.plan.references.len()), (Some(1.0), 1));
}

#[test]
fn what_nobody_asked_for_takes_a_minute_at_most() {
    let fits = |takes: f64, asked: &Asked| {
        let tool: &'static Slow = Box::leak(Box::new(Slow(takes)));
        let installed = Installed { program: "/bin/true".into(), version: "1.0".to_owned() };
        let known = Known { tool, beside: tool, installed: Some(installed) };
        super::fits(&known, &plan(30), 0, (asked, &[0])).is_ok()
    };
    let named = Asked::Named(vec!["slow"]);
    assert_eq!([fits(7.0, &Asked::Marked), fits(8.0, &Asked::Marked)], [true, false]);
    assert_eq!([fits(8.0, &named), fits(80.0, &named), fits(81.0, &named)], [true, true, false]);
}
