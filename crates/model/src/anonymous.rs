//! A run without the names of its machine, its processes and its paths.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Host, Probe, Program, Run};

/// Shorter names are too likely to be a part of something else.
const SHORTEST: usize = 3;

impl Run {
    /// The same without host, process and path names, and without these `others`: each has the same
    /// placeholder wherever text is free. Tools that the run itself started keep their names.
    ///
    /// # Errors
    /// If the run does not fit into JSON.
    pub fn anonymous(&self, others: &[String]) -> Result<Self, serde_json::Error> {
        let mut run = self.clone();
        let mut everywhere = self.places(others);
        let named = Program::named_in_findings(&run.programs);
        for (i, program) in run.programs.iter_mut().enumerate() {
            program.name = format!("program {}", i + 1);
        }
        everywhere.extend(named.zip(Program::named_in_findings(&run.programs)));
        run.host.os.host_name = Probe::missing("left out (--anonymous)");
        run.host.limits.cpu_stat.clear();
        if let Probe::Known { value: storage, .. } = &mut run.host.storage {
            storage.mount_options.clear();
        }
        if let Probe::Known { value: network, .. } = &mut run.host.network {
            (network.boot_id, network.server.boot_id) = (None, None);
        }
        let mut json = serde_json::to_value(&run)?;
        replace(&mut json, &everywhere);
        serde_json::from_value(json)
    }

    /// Names of hosts and paths with their placeholders.
    fn places(&self, others: &[String]) -> BTreeMap<String, String> {
        let Host { os, storage, network, .. } = &self.host;
        let hosts = os.host_name.get().map(|name| (name.clone(), "host".to_owned()));
        let network = network.get();
        let server = network.map(|n| (n.server.name.clone(), "server".to_owned()));
        let address = network.map(|n| (n.address.clone(), "address".to_owned()));
        let storage = storage.get();
        let path = storage.map(|s| (s.path.clone(), "directory".to_owned()));
        let mount = storage.map(|s| (s.mount_point.clone(), "mount point".to_owned()));
        let behind =
            storage.into_iter().flat_map(|s| s.devices.iter().filter_map(|d| d.backing.clone()));
        let behind = behind.map(|file| (file, "file".to_owned()));
        let others = others.iter().map(|name| (name.clone(), "name".to_owned()));
        // What is called the same as another thing has the first one's placeholder.
        let all = hosts.into_iter().chain(server).chain(address).chain(path).chain(mount);
        let mut names = BTreeMap::new();
        for (name, placeholder) in all.chain(behind).chain(others) {
            if name.len() >= SHORTEST && name != "localhost" {
                names.entry(name).or_insert(placeholder);
            }
        }
        names
    }
}

/// Parts of a run whose words are ids and declarations of the program.
const OURS: [&str; 9] =
    ["schema", "workloads", "plan", "params", "workload", "check", "unit", "kind", "tool"];

/// The folder of cgroups, below which names tell of users and containers.
const CGROUPS: &str = "/sys/fs/cgroup";

fn replace(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => *text = without_cgroups(&replaced(text, names)),
        Value::Array(all) => all.iter_mut().for_each(|v| replace(v, names)),
        Value::Object(all) => {
            let free = all.iter_mut().filter(|(key, _)| !OURS.contains(&key.as_str()));
            free.for_each(|(_, v)| replace(v, names));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text with paths of cgroups cut short.
fn without_cgroups(text: &str) -> String {
    let mut parts = text.split(CGROUPS);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find([' ', ',', ';', ')']).unwrap_or(part.len());
        out = out + CGROUPS + &part[end..];
    }
    out
}

/// The text with each name replaced where it is a word of its own; the longest names first.
fn replaced(text: &str, names: &BTreeMap<String, String>) -> String {
    let mut longest: Vec<(&String, &String)> = names.iter().collect();
    longest.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut text = text.to_owned();
    for (name, placeholder) in longest {
        let mut from = 0;
        while let Some(at) = text[from..].find(name.as_str()).map(|at| from + at) {
            let end = at + name.len();
            let joins = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            let before = text[..at].chars().next_back().is_some_and(joins);
            let after = text[end..].chars().next().is_some_and(joins);
            from = if before || after {
                end
            } else {
                text.replace_range(at..end, placeholder);
                at + placeholder.len()
            };
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{measurement, run, spec};
    use crate::{Finding, Params, Severity, Unit};

    #[test]
    fn no_name_is_left_and_no_word_is_torn() {
        let spec = spec("cpu.flops", Unit::FlopPerSecond);
        let mut run = run(vec![measurement(&spec, Params::default(), &[1.0; 8])]);
        run.host.os.host_name = Probe::known("web-3".to_owned(), "/proc/sys/kernel/hostname");
        run.host.limits.cpu_quota =
            Probe::missing("/sys/fs/cgroup/user.slice/user-1000.slice: gone");
        let used = |name: &str| Program { name: name.into(), cpu_s: 1.0, of_one_cpu: 0.1 };
        run.programs = vec![used("payroll")];
        let said = "web-3 used 12 % in /home/alice/x; web-31 nothing";
        let advice = "ask alice (CPU use during the run: payroll 10.0 %)";
        let finding = Finding::new("other_cpu", Severity::Note, said, advice);
        run.measurements[0].findings = vec![finding];
        let bare = run.anonymous(&["/home/alice".to_owned(), "alice".to_owned()]).unwrap();
        assert_eq!(
            bare.measurements[0].findings[0].message,
            "host used 12 % in name/x; web-31 nothing"
        );
        let json = serde_json::to_string(&bare).unwrap();
        let gone = ["payroll", "web-3 ", "alice", "user-1000"];
        assert!(gone.iter().all(|name| !json.contains(name)), "{json}");
        assert_eq!(bare.measurements[0].trials, run.measurements[0].trials);
        assert_eq!(bare.workloads, run.workloads);
    }

    #[test]
    fn a_name_like_one_of_ours_loses_no_run() {
        let mut run = run(Vec::new());
        run.host.os.host_name = Probe::known("proofmark".to_owned(), "test");
        let bare = run.anonymous(&["run".to_owned(), "server".to_owned()]).unwrap();
        assert_eq!(bare.schema, run.schema);
        crate::read_run(&serde_json::to_string(&bare).unwrap()).unwrap();
    }
}
