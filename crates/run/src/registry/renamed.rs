//! Every workload under another id: a plan made of them is the same but for the names.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;
use std::time::Duration;

use proofmark_engine::{Configuration, Refusal, Workload};
use proofmark_model::{Host, Params, Plan, Probe, WorkloadSpec};

use crate::cpus::Cpus;
use crate::plan::{estimate, plan, takes, tools_s};
use crate::planned::Planned;
use crate::profile::BUILT_IN;
use crate::request::{PlanRequest, ToolChoice, TypedParameters};
use crate::server::{loopback_network, session_for};
use crate::testing;

thread_local! {
    /// True if this thread knows the workloads by their other ids.
    static RENAMED: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn all() -> impl Iterator<Item = &'static dyn Workload> {
    OTHERS.iter().map(|other| if RENAMED.get() { other } else { other.usual })
}

pub(crate) fn find(id: &str) -> Option<&'static dyn Workload> {
    all().find(|workload| workload.spec().id == id)
}

struct Renamed {
    spec: &'static WorkloadSpec,
    usual: &'static dyn Workload,
}

static OTHERS: LazyLock<Vec<Renamed>> = LazyLock::new(|| {
    let other = |(n, usual): (usize, &&'static dyn Workload)| {
        // In another order, too.
        let spec = WorkloadSpec { id: format!("w{}", 99 - n).into(), ..usual.spec().clone() };
        Renamed { spec: Box::leak(Box::new(spec)), usual: *usual }
    };
    proofmark_workloads::ALL.iter().enumerate().map(other).collect()
});

impl Workload for Renamed {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }
    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        self.usual.resolve_auto(params, host)
    }
    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        self.usual.configure(params)
    }
}

fn other_id(id: &str) -> String {
    let is_it = |other: &&Renamed| other.usual.spec().id == id;
    OTHERS.iter().find(is_it).map_or_else(|| id.to_owned(), |other| other.spec.id.to_string())
}

fn with_other_ids(mut plan: Plan) -> Plan {
    fn keys<V>(map: &mut BTreeMap<String, V>) {
        *map = std::mem::take(map).into_iter().map(|(id, v)| (other_id(&id), v)).collect();
    }
    let all = plan.points.iter_mut().chain(&mut plan.left_out);
    all.for_each(|p| p.workload = other_id(&p.workload));
    keys(&mut plan.policy.trial_s_of);
    keys(&mut plan.policy.trials_of);
    plan
}

/// A request for the same by the other ids. Its profile is a file, in which ids are quoted.
fn request_of_others(request: &PlanRequest, folder: &tempfile::TempDir) -> PlanRequest {
    let text = BUILT_IN.iter().find(|(name, _)| *name == request.profile).unwrap().1;
    let quoted = |id: &str| format!("\"{id}\"");
    let rename = |text: String, other: &Renamed| {
        text.replace(&quoted(&other.usual.spec().id), &quoted(&other.spec.id))
    };
    let file = folder.path().join("profile.toml");
    fs::write(&file, OTHERS.iter().fold(text.to_owned(), rename)).unwrap();
    let set = request.parameters.set.iter().map(|text| {
        let (workload, parameter) = text.rsplit_once('.').unwrap();
        format!("{}.{parameter}", other_id(workload))
    });
    PlanRequest {
        profile: file.to_str().unwrap().to_owned(),
        names: request.names.iter().map(|name| other_id(name)).collect(),
        parameters: TypedParameters { set: set.collect(), ..request.parameters.clone() },
        ..request.clone()
    }
}

/// The conclusions from a plan, without texts that contain names.
fn conclusions(planned: &Planned, host: &Host) -> impl PartialEq + std::fmt::Debug + use<> {
    let Planned { plan, unsupported, left_out, findings, tools, ranks, .. } = planned;
    let missing = tools.missing.iter().map(|(place, none)| (*place, none.refused.clone()));
    let cpus = plan.points.iter().map(|p| Cpus::for_point(p, &host.limits.usable_cpus));
    (
        (estimate(plan), takes(plan), tools_s(plan), tools.most_s, session_for(plan)),
        (unsupported.len(), left_out.len(), ranks.clone()),
        findings.iter().map(|f| f.check.clone()).collect::<Vec<_>>(),
        missing.collect::<Vec<_>>(),
        cpus.collect::<Vec<_>>(),
    )
}

#[test]
fn a_plan_follows_declarations_whatever_the_ids() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = testing::host(64 << 30, (0..8).collect());
    host.storage = testing::storage(100 << 30);
    host.network = Probe::known(loopback_network(), "test");
    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let profile = |name: &str, tools| PlanRequest {
        profile: name.to_owned(),
        tools,
        ..PlanRequest::default()
    };
    let profiles = BUILT_IN.iter().map(|(name, _)| profile(name, ToolChoice::None));
    let budget = Some(Duration::from_secs(600));
    let others = [
        PlanRequest { budget, ..profile("chameleon-2017", ToolChoice::None) },
        PlanRequest {
            names: names(&["memory", "disk.fsync", "cpu.dgemm", "network"]),
            parameters: TypedParameters {
                set: names(&["memory.copy.threads=1,2", "cpu.dgemm.n=500,900000"]),
                ..TypedParameters::default()
            },
            // Tools name the workloads whose work they do.
            tools: ToolChoice::None,
            ..PlanRequest::default()
        },
    ];
    for request in profiles.chain(others) {
        let usual = plan(&request, &host).unwrap();
        let expected = conclusions(&usual, &host);
        let by_others = request_of_others(&request, &folder);
        RENAMED.set(true);
        let renamed = plan(&by_others, &host).unwrap();
        let found = conclusions(&renamed, &host);
        RENAMED.set(false);
        assert!(!usual.plan.points.is_empty());
        assert_eq!(renamed.plan, with_other_ids(usual.plan), "{request:?}");
        assert_eq!(found, expected, "{request:?}");
    }
}
