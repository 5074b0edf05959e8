//! `traced`: another process traced the threads (ptrace).

use proofmark_model::{End, Finding, Measurement, Severity, check_id};

use super::{Check, Class, Examine};
use crate::Context;
use crate::words::counted;

pub(super) static TRACED: Check = Check {
    id: check_id::TRACED,
    class: Class::DISTURBANCE,
    title: "Traced by another process",
    about: "Detects a process that traces a thread of the run or of a network's server \
         (TracerPid), before and after each trial: strace, a debugger, a security monitor. It \
         stops the thread at each system call or signal. The result is suspect for a disk or a \
         network, whose operations are system calls. It is a note for other loads, which make none \
         while they are timed. A monitor that works by seccomp notifications is not reported by \
         the system. Run again without it.",
    examine: Examine::Ours(traced),
};

fn traced(_: &Context, m: &Measurement) -> Option<Finding> {
    let here = || m.trials.iter().filter_map(|t| t.conditions.tracer.as_deref());
    let there = || m.traffics().filter_map(|(_, n)| End::ServerSide.counters(n).tracer.as_deref());
    let name = here().chain(there()).next()?;
    let trials = here().count().max(there().count());
    let whom = match (here().next(), there().next()) {
        (Some(_), Some(_)) => "the run and the server",
        (None, Some(_)) => "the server",
        _ => "the run",
    };
    let message = format!(
        "{name} traced {whom} (ptrace) in {trials} of {}: it stops threads at each system call or signal",
        counted(m.trials.len(), "trial")
    );
    let calls = m.subsystem.info().uses_system_calls;
    let severity = if calls { Severity::Suspect } else { Severity::Note };
    let advice = "run again without strace, debugger or monitor";
    let finding = TRACED.finding(severity, message, advice);
    Some(
        finding.with("tracer", name).with("trials_affected", trials).with("trials", m.trials.len()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_traced_load_is_named_and_suspect_where_it_makes_system_calls() {
        let traced = |m| {
            each_condition(m, |i, c| {
                (c.traced_threads, c.tracer) = (Some(3), (i > 2).then(|| "gdb".to_owned()));
            })
        };
        let untraced = each_condition(rand_read(1), |_, c| c.traced_threads = Some(0));
        TRACED.expect([
            (
                "a disk",
                traced(rand_read(1)),
                suspect("^gdb traced the run (ptrace) in 7 of 10 trials"),
            ),
            ("commits", traced(fsync(1)), SUSPECT),
            ("a core", traced(flops(1)), NOTE),
            ("no tracer", untraced, SILENT),
            ("not reported", rand_read(1), SILENT),
        ]);
        let far = each_network(tcp(1, "peer"), |n| n.server.tracer = Some("falco".to_owned()));
        TRACED.expect([("a server", far, suspect("^falco traced the server"))]);
    }
}
