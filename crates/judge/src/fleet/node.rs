//! The line that a node sends of a judged run.

use std::cmp::Reverse;

use proofmark_model::{
    Ceiling, FactId, FigureKind, Host, IoLimit, MainResult, Measurement, NodeFact, NodeFigure,
    NodeFinding, NodeLimits, NodeRound, Pass, Probe, Program, ResultNames, Run, TimeAccount, Tool,
    clean, clean_excerpt, counted, format_size, is_quantity,
};

use super::{LONGEST_NAME, LONGEST_TEXT, MOST_FINDINGS};
use crate::ceilings::is_limit;
use crate::compare::facts::{Entry, entries};
use crate::words::why_no_result;

/// Facts of a comparison that decide the kind of a node.
const KIND: [FactId; 5] =
    [FactId::Cpu, FactId::CoreDesign, FactId::Cores, FactId::Sockets, FactId::ThreadsPerCore];
/// Further facts that decide it.
const COUNTS: [FactId; 4] =
    [FactId::UsableCpus, FactId::Memory, FactId::Kernel, FactId::InstructionSets];
/// Further facts of a comparison that may explain why a node is slow.
const MAY_EXPLAIN: [FactId; 12] = [
    FactId::MemoryLimit,
    FactId::ClockSource,
    FactId::Virtualisation,
    FactId::Container,
    FactId::Distribution,
    FactId::HugePages,
    FactId::Disk,
    FactId::FileSystem,
    FactId::MountOptions,
    FactId::IoScheduler,
    FactId::IoLimits,
    FactId::NetworkInterface,
];
/// Settings that may explain it.
const SETTINGS: [FactId; 16] = [
    FactId::Affinity,
    FactId::CStates,
    FactId::Environment,
    FactId::Governor,
    FactId::Microcode,
    FactId::Smt,
    FactId::Turbo,
    FactId::Firmware,
    FactId::NetworkCards,
    FactId::Mtu,
    FactId::TcpReceive,
    FactId::TcpSend,
    FactId::OpenFiles,
    FactId::Processes,
    FactId::AddressSpace,
    FactId::LockedMemory,
];

/// Returns the facts in which nodes are compared: those that make a group, and those that only may
/// explain a difference.
pub fn compared_facts() -> [Vec<FactId>; 2] {
    let others = [&[FactId::CpuQuota][..], &MAY_EXPLAIN, &SETTINGS].concat();
    [[&KIND[..], &COUNTS].concat(), others]
}

/// The line of a node for a round, from its judged run; for a pair with its partner.
pub fn node_round(
    run: &Run,
    (node, partner): (&str, Option<&str>),
    pass: Pass,
    round: u32,
) -> NodeRound {
    NodeRound {
        node: node.to_owned(),
        partner: partner.map(str::to_owned),
        pass,
        round,
        started: run.started,
        tool: Tool {
            version: clean_excerpt(&run.tool.version, LONGEST_NAME),
            commit: run.tool.commit.as_deref().map(|c| clean_excerpt(c, LONGEST_NAME)),
            build: clean_excerpt(&run.tool.build, LONGEST_TEXT),
        },
        boot_id: None,
        facts: facts(run),
        figures: figures(run),
        time_account: run.time_account().filter(is_sound),
        limits: limits(&run.host),
        programs: run.programs.iter().filter(is_known).map(cleaned).collect(),
        programs_of_one_cpu: run.programs_of_one_cpu.filter(|share| is_quantity(*share)),
        left_out: None,
    }
}

fn is_known(program: &&Program) -> bool {
    let Program { cpu_s, of_one_cpu, io_bytes_per_s, .. } = **program;
    [cpu_s, of_one_cpu, io_bytes_per_s].into_iter().all(is_quantity)
}

fn cleaned(program: &Program) -> Program {
    Program { name: clean_excerpt(&program.name, LONGEST_NAME), ..program.clone() }
}

/// The amounts that the quota and the limits of devices grant.
fn limits(host: &Host) -> NodeLimits {
    let devices = host.limits.io.get().map(Vec::as_slice).unwrap_or_default();
    let lowest = |rate: fn(&IoLimit) -> Option<f64>| {
        devices.iter().filter_map(rate).filter(|v| is_quantity(*v)).min_by(f64::total_cmp)
    };
    NodeLimits {
        cpus: host.limits.cpu_quota.get().and_then(|q| q.cpus).filter(|v| is_quantity(*v)),
        read_bytes_per_s: lowest(|limit| limit.read_bytes_per_s),
        write_bytes_per_s: lowest(|limit| limit.write_bytes_per_s),
        reads_per_s: lowest(|limit| limit.reads_per_s),
        writes_per_s: lowest(|limit| limit.writes_per_s),
    }
}

/// Returns true if all numbers of an account are valid.
fn is_sound(account: &TimeAccount) -> bool {
    let TimeAccount { wall_s, working_s, waiting_s, stopped_s, interrupted_s, .. } = *account;
    let known = [wall_s, working_s, waiting_s, stopped_s, interrupted_s, account.unaccounted_s];
    let read = account.throttled_s.into_iter().chain(account.stolen_s);
    known.into_iter().chain(read).all(|s| is_quantity(s) && s >= 0.0) && wall_s > 0.0
}

/// The facts of the node: first those of its kind.
fn facts(run: &Run) -> Vec<NodeFact> {
    let all = entries(run);
    let named = |ids: &'static [FactId], groups| {
        let entry = |id: &FactId| all.iter().find(|(what, ..)| what == id);
        let fact = move |(what, value, _): &Entry| fact(*what, value, groups);
        ids.iter().filter_map(entry).map(fact).collect::<Vec<_>>()
    };
    let host = &run.host;
    let quota = host.limits.cpu_quota.get().map(|quota| match quota.cpus {
        Some(cpus) => counted(cpus, "CPU"),
        None => "none".to_owned(),
    });
    let setting = |id: &FactId| Some(fact(*id, host.settings.get(id.as_str())?.get()?, false));
    let mut facts = named(&KIND, true);
    facts.extend(counts(host).map(|(what, value)| fact(what, &value, true)));
    facts.push(fact(FactId::CpuQuota, &quota.unwrap_or_else(unknown), false));
    facts.extend(named(&MAY_EXPLAIN, false));
    facts.extend(SETTINGS.iter().filter_map(setting));
    facts
}

/// Further facts of its kind.
fn counts(host: &Host) -> impl Iterator<Item = (FactId, String)> {
    let known = |probe: &Probe<String>| probe.get().cloned().unwrap_or_else(unknown);
    let usable = match host.limits.usable_cpus.len() {
        0 => unknown(),
        n => n.to_string(),
    };
    let memory = host.memory.installed_bytes().map(format_size);
    let isa = host.cpu.isa.get().map(|sets| {
        let mut sets: Vec<String> = sets.iter().map(|set| clean(set)).collect();
        sets.sort();
        sets.join(" ")
    });
    let values = [
        usable,
        memory.unwrap_or_else(unknown),
        known(&host.os.kernel),
        isa.unwrap_or_else(unknown),
    ];
    COUNTS.into_iter().zip(values)
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn fact(what: FactId, value: &str, groups: bool) -> NodeFact {
    let value = clean_excerpt(value, LONGEST_TEXT);
    NodeFact { what: what.as_str().to_owned(), value, groups }
}

/// The results: those of the first screen first.
fn figures(run: &Run) -> Vec<NodeFigure> {
    let main: Vec<MainResult> = run.main_results().into_iter().flat_map(|(_, rows)| rows).collect();
    let place = |m: &&Measurement| main.iter().position(|r| std::ptr::eq(r.measurement, *m));
    let mut all: Vec<&Measurement> =
        run.measurements.iter().filter(|m| m.series.is_none()).collect();
    all.sort_by_key(|m| place(m).unwrap_or(usize::MAX));
    let figure = |m: &Measurement| {
        let row = main.iter().find(|r| std::ptr::eq(r.measurement, m));
        figure(run, m, title(run, m, row))
    };
    all.into_iter().map(figure).collect()
}

/// The title of a result: that of its row on the first screen, else that of its workload.
fn title(run: &Run, m: &Measurement, row: Option<&MainResult>) -> String {
    let shown = row.and_then(|r| r.title(run));
    let title = shown.unwrap_or_else(|| ResultNames::of_run(run, &m.workload).title(m));
    clean_excerpt(&title, LONGEST_NAME)
}

fn figure(run: &Run, m: &Measurement, title: String) -> NodeFigure {
    let spec = run.workloads.get(&m.workload);
    let summary = m.summary.as_ref();
    let value = |kind| summary.and_then(|s| s.figure(kind).value).filter(|v| is_quantity(*v));
    let (attainable, delivered) = (value(FigureKind::Attainable), value(FigureKind::Delivered));
    let nothing = attainable.is_none() && delivered.is_none();
    let text = |text: &str| clean_excerpt(text, LONGEST_TEXT);
    let mut findings: Vec<NodeFinding> = m.findings.iter().map(|f| finding(f, &text)).collect();
    findings.sort_by_key(|f| Reverse(f.severity));
    findings.truncate(MOST_FINDINGS);
    NodeFigure {
        workload: clean_excerpt(&m.workload, LONGEST_NAME),
        method: spec.map_or(0, |s| s.method),
        subsystem: m.subsystem,
        params: m.params.clone(),
        title,
        unit: m.unit,
        random: spec.is_some_and(|s| s.work.is_random()),
        better: m.better,
        headline: summary.map(|s| s.headline).unwrap_or_default(),
        attainable,
        delivered,
        ceiling: m.ceiling.as_ref().map(|c| c.value).filter(|v| is_quantity(*v)),
        ceiling_margin: m.ceiling.as_ref().map(margin).filter(|v| is_quantity(*v)),
        efficiency: m.efficiency.filter(|v| is_quantity(*v)),
        reliance: m.ceiling.as_ref().map(Ceiling::reliance).unwrap_or_default(),
        bottleneck: m.bottleneck.as_ref().map(|b| clean_excerpt(&b.resource, LONGEST_NAME)),
        findings,
        verdict: m.verdict,
        missing: nothing.then(|| text(&why_no_result(m))),
    }
}

/// The share by which a figure may exceed a ceiling. A limit may allow bursts of any size.
fn margin(ceiling: &Ceiling) -> f64 {
    const ANY: f64 = 1e6;
    if is_limit(ceiling) { ANY } else { ceiling.uncertainty }
}

fn finding(f: &proofmark_model::Finding, text: &impl Fn(&str) -> String) -> NodeFinding {
    NodeFinding {
        check: clean_excerpt(&f.check, LONGEST_NAME),
        severity: f.severity,
        message: text(&f.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fact without an entry would silently be missing from the line.
    #[test]
    fn every_fact_that_a_node_sends_is_known() {
        let all = entries(&crate::testing::run(crate::testing::host(), Vec::new()));
        for id in KIND.iter().chain(&MAY_EXPLAIN) {
            assert!(all.iter().any(|(what, ..)| what == id), "{}", id.as_str());
        }
    }
}
