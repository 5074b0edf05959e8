//! What a plan takes from the machine beyond its time, in words: memory, and runs of reference tools.

use proofmark_model::{Host, Plan, PlannedReference, counted, format_seconds, format_size};

use crate::registry::{find, needs, reads_file};
use crate::schedule::Grouping;

/// Bytes of memory from which a plan says what it needs.
const LARGE: u64 = 1 << 30;

/// Returns the bytes of memory that the data of a plan need at most at once.
pub fn most_memory(plan: &Plan, host: &Host) -> u64 {
    // What is left out is measured if time remains.
    let points = plan.points.iter().chain(&plan.left_out).cloned().collect();
    let plan = &Plan { points, ..plan.clone() };
    Grouping { plan, find: &find, memory_bytes: host.usable_memory() }.most_memory()
}

/// Returns a line about memory, if the plan needs much, and one per reference tool that runs.
pub fn announcements(plan: &Plan, host: &Host) -> Vec<String> {
    let bytes = most_memory(plan, host);
    let memory = (bytes >= LARGE).then(|| {
        format!(
            "this run needs up to {} of memory at once; {} is available",
            format_size(bytes),
            format_size(host.usable_memory())
        )
    });
    let tools = plan.references.iter().filter(|(_, all)| !all.is_empty());
    memory.into_iter().chain(tools.map(|(tool, all)| tool_line(plan, tool, all))).collect()
}

/// `reference tool fio: 16 pairs for 2 configurations, about 25 s; writes at least 2 GiB
/// (--no-reference: without it)`.
fn tool_line(plan: &Plan, tool: &str, all: &[PlannedReference]) -> String {
    let pairs: u64 = all.iter().map(|r| u64::from(r.runs)).sum();
    let seconds: f64 = all.iter().map(|r| r.run_s * f64::from(r.runs)).sum();
    let bytes: u64 = all.iter().map(|r| written(plan, r)).sum();
    let writes = match bytes {
        0 => String::new(),
        bytes => format!("; writes at least {} of test files", format_size(bytes)),
    };
    format!(
        "reference tool {tool}: {} for {}, about {}{writes} (--no-reference leaves it out)",
        counted(pairs, "pair"),
        counted(all.len() as u64, "configuration"),
        format_seconds(seconds)
    )
}

/// The bytes of the test files of a configuration's pairs: one for the tool, and for work that writes
/// one more for each trial of proofmark.
fn written(plan: &Plan, r: &PlannedReference) -> u64 {
    let Some(point) = plan.points.get(r.point) else { return 0 };
    let own = if reads_file(point) { 0 } else { u64::from(r.runs) };
    needs(point).disk_bytes.saturating_mul(1 + own)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Params, Point, key};

    use super::*;
    use crate::request::{PlanRequest, TypedParameters};
    use crate::testing::this_machine;

    fn plan(points: Vec<Point>) -> Plan {
        Plan { points, ..Plan::default() }
    }

    fn reading(writes: bool) -> Point {
        let id = if writes { "disk.rand_write" } else { "disk.rand_read" };
        let spec = find(id).unwrap().spec();
        let defaults = spec.parameters.iter().map(|p| (p.name.to_string(), p.default.to_string()));
        let params =
            defaults.fold(Params::default(), |all, (name, text)| match text.parse::<u64>() {
                Ok(number) => all.with_named(&name, number),
                Err(_) => all.with_named(&name, text.as_str()),
            });
        let host = this_machine();
        let params = params.with(key::FILE_SIZE, 1 << 30);
        let params = find(id).unwrap().resolve_auto(params, &host).remove(0);
        Point { workload: id.to_owned(), params }
    }

    #[test]
    fn a_tool_is_announced_with_its_time_and_what_it_writes() {
        let line = |writes: bool| {
            let pairs = PlannedReference { point: 0, runs: 6, run_s: 4.0, second: false };
            let references = [("fio".to_owned(), vec![pairs])].into();
            let plan = Plan { references, ..plan(vec![reading(writes)]) };
            announcements(&plan, &this_machine()).remove(0)
        };
        let (read, written) = (line(false), line(true));
        let expected = "reference tool fio: 6 pairs for 1 configuration, about 24 s; writes at least \
                        1 GiB of test files (--no-reference leaves it out)";
        assert_eq!(read, expected);
        assert!(written.contains("writes at least 7 GiB"), "{written}");
        assert_eq!(announcements(&plan(vec![reading(false)]), &this_machine()), [""; 0]);
    }

    #[test]
    fn memory_is_that_of_the_largest_group() {
        let mut host = this_machine();
        host.memory.available_bytes = proofmark_model::Probe::known(64 << 30, "test");
        host.limits.memory_bytes = proofmark_model::Probe::known(None, "test");
        let of = |size: &str| {
            let size = format!("memory.latency.working_set={size}");
            let set = vec![size, "memory.latency.pages=small".to_owned()];
            let parameters = TypedParameters { set, ..TypedParameters::default() };
            let names = vec!["memory.latency".to_owned()];
            let request = PlanRequest { names, parameters, ..PlanRequest::default() };
            crate::plan::plan(&request, &host).unwrap().plan
        };
        // Configurations of one group need their memory at the same time.
        let sum = |plan: &Plan| -> u64 {
            plan.points.iter().filter_map(|p| p.params.get(key::WORKING_SET)).sum()
        };
        for sizes in ["2GiB", "2GiB,3GiB"] {
            let plan = of(sizes);
            assert_eq!(most_memory(&plan, &host), sum(&plan), "{sizes}");
            assert!(sum(&plan) >= 2 << 30);
        }
        let line = announcements(&of("2GiB,3GiB"), &host).remove(0);
        let needs = format_size(sum(&of("2GiB,3GiB")));
        assert!(
            line.starts_with(&format!("this run needs up to {needs} of memory at once; ")),
            "{line}"
        );
        assert_eq!(announcements(&of("1MiB"), &host), [""; 0]);
    }
}
