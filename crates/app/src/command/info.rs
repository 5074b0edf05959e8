//! `proofmark info`: the machine, and the ceilings that follow from it.

use std::collections::BTreeMap;

use anyhow::Result;
use proofmark_engine::Workload;
use proofmark_judge::{Context, ceilings};
use proofmark_model::{
    Ceiling, Host, Input, Measurement, OtherPrograms, Params, Point, Policy, Unit, ceiling_id,
    format_quantity, key,
};
use proofmark_run::look;
use serde::Serialize;

use crate::cli::InfoArgs;
use crate::error::Outcome;
use crate::text::{columns, print, print_data, terminal_options};

#[derive(Serialize)]
struct Info<'a> {
    host: &'a Host,
    ceilings: Vec<Limit>,
}

/// The ceiling of one configuration, or the reason that it has none.
#[derive(Serialize)]
struct Limit {
    point: Point,
    ceiling: Option<Ceiling>,
    missing: Option<String>,
}

pub fn run(args: &InfoArgs) -> Result<Outcome> {
    let host = look(args.disk_path.as_deref());
    let ceilings = limits(&host);
    if args.json {
        let info = Info { host: &host, ceilings };
        print_data(&format!("{}\n", serde_json::to_string_pretty(&info)?))?;
    } else {
        print(&proofmark_report::terminal::host(&host, &terminal_options()))?;
        print(&format!("\n{}", describe(&ceilings)))?;
    }
    Ok(Outcome::Done)
}

/// The ceilings of the peak workloads on all usable CPUs, at the clock just measured.
fn limits(host: &Host) -> Vec<Limit> {
    let threads = host.limits.usable_cpus.len().max(1) as u64;
    let peaks = proofmark_workloads::ALL
        .iter()
        .filter(|k| k.spec().ceilings.contains(&ceiling_id::CPU_PEAK.into()));
    peaks.flat_map(|workload| of_workload(*workload, host, threads)).collect()
}

fn of_workload(workload: &'static dyn Workload, host: &Host, threads: u64) -> Vec<Limit> {
    let spec = workload.spec();
    let points = spec.choices(Params::default().with(key::THREADS, threads));
    let policy = Policy::default();
    let specs = BTreeMap::from([(spec.id.to_string(), spec.clone())]);
    points
        .into_iter()
        .filter(|params| workload.configure(params).is_ok())
        .map(|params| {
            let m = Measurement::new(spec, params);
            let (others, programs) = (&[], OtherPrograms::default());
            let context =
                Context { host, specs: &specs, policy: &policy, others, programs, imported: false };
            let (ceiling, missing) = match ceilings::derive(&context, &m) {
                Ok(ceiling) => (Some(ceiling), None),
                Err(reason) => (None, Some(reason)),
            };
            Limit { point: m.point(), ceiling, missing }
        })
        .collect()
}

fn describe(limits: &[Limit]) -> String {
    let mut text = "Ceilings of all usable CPUs, at the measured clock\n".to_owned();
    text += &columns(limits.iter().map(row));
    if let Some(ceiling) = limits.iter().find_map(|l| l.ceiling.as_ref()) {
        text += &format!("  {}; see 'proofmark explain {}'\n", ceiling.formula, ceiling.id);
    }
    text
}

fn row(limit: &Limit) -> (String, String) {
    let Params(params) = &limit.point.params;
    let parameters: Vec<String> = params
        .iter()
        .filter(|(k, _)| key::THREADS != k.as_str())
        .map(|(_, v)| v.to_string())
        .collect();
    let unit = proofmark_workloads::find(&limit.point.workload).map(|k| k.spec().unit);
    let value = match (&limit.ceiling, unit) {
        (Some(c), Some(unit)) => {
            let factors: Vec<String> = c.inputs.iter().map(factor).collect();
            format!("{} = {}", format_quantity(c.value, unit), factors.join(" x "))
        }
        _ => limit.missing.clone().unwrap_or_default(),
    };
    (format!("  {} {}", limit.point.workload, parameters.join(" ")), value)
}

fn factor(input: &Input) -> String {
    if input.unit == Unit::Hertz.as_str() {
        format_quantity(input.value, Unit::Hertz)
    } else {
        format!("{}", input.value)
    }
}
