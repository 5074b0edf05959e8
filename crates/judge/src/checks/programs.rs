//! Names of the programs that used CPU time and disks during the run, for findings.

use crate::Context;

/// Text such as `mean CPU use over the run: rustc 108.6 %, cargo 5.6 %`. If none of them took much, says
/// so, and names a tool that lists programs.
pub(super) fn cpu_users(ctx: &Context) -> String {
    match ctx.programs.to_stop() {
        Some(named) if ctx.programs.took_much() => format!("mean CPU use over the run: {named}"),
        Some(named) => format!(
            "mean CPU use over the run: {named}, too little to explain it; to find others, run top \
             during a measurement"
        ),
        None => "top lists them".to_owned(),
    }
}

/// The advice against other traffic on any disk or network.
pub(super) fn stop_io(ctx: &Context) -> String {
    let users = disk_users(ctx, "iotop and nethogs show it");
    format!("stop other disk and network traffic ({users})")
}

/// The advice against other users of a device, with the programs that used disks most.
pub(super) fn stop_disk_users(ctx: &Context) -> String {
    let users = disk_users(ctx, "iotop lists them");
    format!("stop other users of the device ({users}), or measure another device")
}

fn disk_users(ctx: &Context, otherwise: &str) -> String {
    ctx.programs.disk_users().unwrap_or_else(|| otherwise.to_owned())
}

#[cfg(test)]
mod tests {
    use proofmark_model::{OtherPrograms, Program};

    use super::*;
    use crate::checks;
    use crate::testing::*;

    #[test]
    fn three_are_named_and_those_that_took_next_to_nothing_are_not() {
        let program = |(name, of_one_cpu): (&str, f64)| Program {
            name: name.into(),
            cpu_s: 60.0 * of_one_cpu,
            of_one_cpu,
            io_bytes_per_s: 0.0,
        };
        let with = |programs: &[(&str, f64)], all_of_one_cpu| {
            let programs: Vec<Program> = programs.iter().copied().map(program).collect();
            let h = host();
            let programs = OtherPrograms { named: &programs, all_of_one_cpu };
            let ctx = Context { programs, ..context_on(&h) };
            let m = each_condition(flops(1), |_, c| c.other_cpu_s = Some(0.05));
            let look = checks::find("other_cpu").unwrap().examine.for_ours();
            look(&ctx, &m).unwrap().advice
        };
        let advice = |programs: &[(&str, f64)]| with(programs, None);
        let all = [("rustc", 1.086), ("cargo", 0.056), ("sshd", 0.02), ("cron", 0.01)];
        let named =
            "(mean CPU use over the run: rustc 108.6 %, cargo 5.6 %, sshd 2.0 %, 1 other 1.0 %)";
        assert!(advice(&all).contains(named), "{}", advice(&all));
        assert!(advice(&[("cron", 0.009)]).contains("(top lists them)"));
        let little = advice(&[("kernel threads", 0.1), ("rustfmt", 0.019), ("cp", 0.011)]);
        let said =
            "(mean CPU use over the run: rustfmt 1.9 %, cp 1.1 %, too little to explain it; ";
        assert!(little.contains(said) && !little.contains("kernel threads"), "{little}");
        let ended = with(&[("kernel threads", 0.1), ("rustfmt", 0.019)], Some(0.52));
        let said = "(mean CPU use over the run: rustfmt 1.9 %, not named 40.1 % (ended meanwhile, ";
        assert!(ended.contains(said), "{ended}");
    }
}
