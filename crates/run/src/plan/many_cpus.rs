//! Plans of a machine of 512 CPUs, numbered up to 2047.

use super::*;
use crate::cpus::Cpus;
use crate::request::ToolChoice;
use crate::testing;

fn host() -> Host {
    testing::host(4 << 40, (0..256).chain(1792..2048).collect())
}

fn planned(request: PlanRequest) -> Plan {
    plan(&PlanRequest { tools: ToolChoice::None, ..request }, &host()).unwrap().plan
}

fn threads(plan: &Plan, workload: &str) -> Vec<u64> {
    let own = plan.points.iter().filter(|p| p.workload == workload);
    let all: std::collections::BTreeSet<_> = own.map(|p| p.params.threads()).collect();
    all.into_iter().collect()
}

#[test]
fn the_default_profile_measures_few_threads_and_all() {
    let plan = planned(PlanRequest {
        names: vec!["cpu".to_owned(), "memory".to_owned()],
        ..PlanRequest::default()
    });
    assert_eq!(threads(&plan, "cpu.flops"), [1, 2, 4, 8, 512]);
    assert_eq!(threads(&plan, "cpu.linpack"), [1, 512]);
    assert!(plan.points.iter().all(|p| p.params.threads() <= 512));
    let (least, most) = estimate(&plan);
    assert!(least.is_finite() && least > 0.0 && most < LONGEST_RUN.as_secs_f64());
}

#[test]
fn threads_are_put_on_cpus_of_any_number() {
    let plan = planned(PlanRequest {
        names: vec!["cpu.flops".to_owned()],
        threads: Some("1,300,512,2048".to_owned()),
        set: vec!["cpu.flops.isa=scalar".to_owned()],
        ..PlanRequest::default()
    });
    let usable = host().limits.usable_cpus;
    let cpus = |threads: u64| {
        let point = plan.points.iter().find(|p| p.params.threads() == threads).unwrap();
        Cpus::for_point(point, &usable).own
    };
    assert_eq!(cpus(1), [0]);
    assert_eq!((cpus(300).len(), cpus(300).last()), (300, Some(&1835)));
    assert_eq!(cpus(512), usable);
    assert_eq!(cpus(2048), usable, "they take turns");
}
