//! kubectl with the user's own access, and the selection of nodes.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::{describe_failure, words};

/// Time limit for a request; without it kubectl waits forever.
const TIMEOUT: &str = "--request-timeout=30s";
/// Time limit for kubectl: its requests, and a program that it asks for credentials.
const ANSWER: Duration = Duration::from_secs(120);

/// Labels of nodes, such as `pool=gpu,zone=a`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeLabels(Vec<(String, String)>);

impl FromStr for NodeLabels {
    type Err = String;

    /// Parses labels and values as a Job can request them.
    fn from_str(text: &str) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let label = |text: &str| {
            let (name, value) = text.split_once('=')?;
            let sound = !name.is_empty() && name.chars().chain(value.chars()).all(fits);
            sound.then(|| (name.to_owned(), value.to_owned()))
        };
        let all: Option<Vec<_>> = text.split(',').map(label).collect();
        all.map(Self).ok_or_else(|| "write LABEL=VALUE,..., such as pool=gpu,zone=a".to_owned())
    }
}

impl Display for NodeLabels {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&all.join(","))
    }
}

impl NodeLabels {
    /// Returns the labels as a pod requests them.
    pub(super) fn to_json(&self) -> Value {
        self.0
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect::<Map<_, _>>()
            .into()
    }
}

/// Access to a cluster, and the selection of its nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// kubectl with the user's own options.
    pub command: Vec<String>,
    /// The namespace; `None`: the namespace of the context.
    pub namespace: Option<String>,
    /// Labels of nodes.
    pub selector: NodeLabels,
    /// Taints that the pods tolerate, as `KEY`, `KEY=VALUE` or `KEY=VALUE:EFFECT`.
    pub tolerations: Vec<String>,
}

impl Cluster {
    /// Counts the nodes that are ready, match the selector and accept a pod.
    pub fn ready_nodes(&self) -> Result<u32, String> {
        let selector = self.selector.to_string();
        let found = self.ask(&["get", "nodes", "-l", &selector, "-o", "json"], None);
        let found = found.map_err(|e| format!("{e}; name the number of nodes with -N"))?;
        match items(&found).filter(|node| self.takes_pods(node)).count() {
            0 => {
                Err("no ready node accepts the pods: choose others with --selector, or name their \
                      taints with --toleration"
                    .to_owned())
            }
            n => u32::try_from(n).map_err(|_| "too many nodes".to_owned()),
        }
    }

    /// True if a pod of the fleet would run on a node.
    fn takes_pods(&self, node: &Value) -> bool {
        let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
        let mut taints = node["spec"]["taints"].as_array().into_iter().flatten();
        conditions.any(|c| c["type"] == "Ready" && c["status"] == "True")
            && taints.all(|taint| {
                let tolerates = |one: Value| {
                    one["key"] == taint["key"]
                        && (one["operator"] == "Exists"
                            || one["value"] == taint["value"].as_str().unwrap_or_default())
                        && (one["effect"].is_null() || one["effect"] == taint["effect"])
                };
                taint["effect"] == "PreferNoSchedule" || self.tolerations().any(tolerates)
            })
    }

    /// Returns the tolerations as a pod lists them.
    pub(super) fn tolerations(&self) -> impl Iterator<Item = Value> {
        self.tolerations.iter().map(|text| toleration(text))
    }

    /// Returns kubectl's arguments before its verb.
    pub(super) fn kubectl(&self) -> Vec<String> {
        let mut all = self.command.clone();
        all.extend(self.namespace.iter().map(|name| format!("--namespace={name}")));
        all
    }

    /// Runs kubectl and parses its answer as JSON.
    pub(super) fn ask(&self, arguments: &[&str], input: Option<&Value>) -> Result<Value, String> {
        let answer = self.call(arguments, input)?;
        serde_json::from_str(&answer).map_err(|e| self.fault(arguments, &e))
    }

    /// Runs kubectl and returns its answer.
    pub(super) fn call(&self, arguments: &[&str], input: Option<&Value>) -> Result<String, String> {
        let command = [self.kubectl(), words(arguments), words(&[TIMEOUT])].concat();
        let input = input.map(Value::to_string).unwrap_or_default();
        let answer = super::super::ask(&command, input.as_bytes(), ANSWER)?;
        match answer.is_success() {
            true => Ok(answer.output),
            false => Err(self.fault(arguments, &describe_failure(&answer, ANSWER))),
        }
    }

    fn fault(&self, arguments: &[&str], why: &dyn Display) -> String {
        let program = self.command.first().map(String::as_str).unwrap_or_default();
        format!("{program} {}: {why}", arguments[0])
    }
}

/// Returns the objects of a list.
pub(super) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list["items"].as_array().into_iter().flatten()
}

fn toleration(text: &str) -> Value {
    let (pair, effect) = text.split_once(':').map_or((text, None), |(p, e)| (p, Some(e)));
    let mut toleration = match pair.split_once('=') {
        Some((key, value)) => json!({ "key": key, "operator": "Equal", "value": value }),
        None => json!({ "key": pair, "operator": "Exists" }),
    };
    if let Some(effect) = effect {
        toleration["effect"] = json!(effect);
    }
    toleration
}
