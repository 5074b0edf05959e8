//! A profile with its size on this machine.

use proofmark_model::{Host, Plan, Probe, and_list, counted};
use proofmark_run::{
    PlanRequest, Usage, look, loopback_network, plan, takes, takes_alone, without_interval,
};

/// Returns a profile's text after comments on its size on this machine. All of it is TOML, to be
/// saved, changed and run.
pub fn explain_profile(name: &str, text: &str) -> String {
    let here = here(name).map_or_else(
        |e| format!("# On this machine it cannot run: {}\n", e.to_string().replace('\n', " ")),
        |plan| {
            let points = counted(plan.points.len() as u64, "configuration");
            let few = without_interval(&plan);
            let few = few.iter().map(|line| format!("# {line}\n")).collect::<String>();
            format!("# On this machine: {points}; {}.\n{few}", times(&plan))
        },
    );
    format!(
        "{here}# To list them: proofmark run --profile {name} --dry-run\n\
         # To change it: proofmark explain {name} > mine.toml; proofmark run --profile mine.toml\n\n\
         {text}"
    )
}

/// Returns the plan of a profile on this machine, over loopback.
fn here(profile: &str) -> Result<Plan, Usage> {
    planned(profile, &this_host())
}

/// Returns this machine, with its loopback as the network.
pub fn this_host() -> Host {
    let mut host = look(None);
    host.network = Probe::known(loopback_network(), "this machine's own routes");
    host
}

/// Returns the plan of a profile on a machine.
pub fn planned(profile: &str, host: &Host) -> Result<Plan, Usage> {
    let request = PlanRequest { profile: profile.to_owned(), ..PlanRequest::default() };
    Ok(plan(&request, host)?.plan)
}

/// Returns the time of a plan without and with its reference tools.
pub fn times(plan: &Plan) -> String {
    let tools = and_list(plan.references.keys());
    match tools.is_empty() {
        true => takes(plan),
        false => {
            let [own, all] = [takes_alone(plan), takes(plan)];
            format!("{own} without reference tools, {all} with {tools}")
        }
    }
}
