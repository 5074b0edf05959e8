//! A Job with one pod on each node, which only waits. `kubectl exec` starts the program there and
//! connects its standard input and output. The user's own access to the cluster applies.

mod cluster;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

use proofmark_model::clean_excerpt;
use proofmark_process::Exit;
use serde_json::{Value, json};

use super::deaths::describe;
use super::pipes::{Pipes, ProcessEnd, Way, by_pipes};
use super::{Event, Launcher, typed, words};
use crate::protocol::Order;
use cluster::items;
pub use cluster::{Cluster, NodeLabels};

/// Interval between queries while pods start.
const EVERY: Duration = Duration::from_millis(500);
/// Maximum letters of the cluster's messages that are reported.
const LETTERS: usize = 200;
/// Maximum letters of a name in a cluster.
const LONGEST_NAME: usize = 253;
/// Path of the program in the image.
const PROGRAM: &str = "/usr/bin/proofmark";
/// Number of pods that may fail: a lost pod must not end those of other nodes, as the failure of
/// the job does.
const FAILURES: u32 = 10_000;

/// Request to a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubernetesOptions {
    /// The cluster and the selection of its nodes.
    pub cluster: Cluster,
    /// Name of the image on the cluster's nodes.
    pub image: String,
    /// Number of nodes.
    pub nodes: u32,
    /// Time limit of the pods, in seconds.
    pub limit_s: u64,
    /// Time limit for the start of the pods.
    pub start: Duration,
}

/// Reaches the pods of a Job.
#[derive(Debug)]
pub struct Kubernetes {
    options: KubernetesOptions,
    job: String,
    /// Names of the nodes.
    nodes: Vec<String>,
    /// Pods of the nodes, in the same order, or why none runs.
    pods: Vec<Result<String, String>>,
    pipes: Pipes,
}

impl Kubernetes {
    /// Creates the Job and waits until its pods run or the time limit is reached. A pod that does
    /// not run then counts as a node that cannot be reached.
    pub fn new(options: KubernetesOptions, stopped: &dyn Fn() -> bool) -> Result<Self, String> {
        let wanted = options.nodes as usize;
        let job = manifest(&options);
        let made = options.cluster.ask(&["create", "-f", "-", "-o", "json"], Some(&job))?;
        let job =
            name_in(&made["metadata"]["name"]).ok_or("kubectl create returned no name of a Job")?;
        let mut this =
            Self { options, job, nodes: Vec::new(), pods: Vec::new(), pipes: Pipes::default() };
        let begun = Instant::now();
        // A brief failure of the API server must not end the fleet.
        let mut seen = this.update_pods();
        while !seen.as_ref().is_ok_and(|running| *running >= wanted)
            && begun.elapsed() < this.options.start
        {
            if stopped() {
                return Err("stopped while its pods started".to_owned());
            }
            thread::sleep(EVERY);
            seen = this.update_pods();
        }
        if this.nodes.is_empty() {
            seen?;
        }
        let missing = this.nodes.len()..wanted;
        let why = if missing.is_empty() { String::new() } else { this.explain_missing_pods() };
        if this.nodes.is_empty() {
            return Err(why);
        }
        for number in missing {
            this.nodes.push(format!("pod-{}-of-{wanted}", number + 1));
            this.pods.push(Err(why.clone()));
        }
        Ok(this)
    }

    /// Updates the pods, at most as many as requested, and returns how many run.
    fn update_pods(&mut self) -> Result<usize, String> {
        let selector = format!("job-name={}", self.job);
        let found =
            self.options.cluster.ask(&["get", "pods", "-l", &selector, "-o", "json"], None)?;
        let mut all: Vec<(bool, String, Result<String, String>)> = items(&found)
            .filter_map(|pod| {
                let name = name_in(&pod["metadata"]["name"])?;
                let node = name_in(&pod["spec"]["nodeName"]).unwrap_or_else(|| name.clone());
                let why = pod_failure(pod);
                Some((why.is_some(), node, why.map_or(Ok(name), Err)))
            })
            .collect();
        // A lost pod is replaced, perhaps on the same node.
        all.sort();
        let mut seen = BTreeSet::new();
        all.retain(|(_, node, _)| seen.insert(node.clone()));
        all.truncate(self.options.nodes as usize);
        let running = all.iter().filter(|(lost, ..)| !lost).count();
        all.sort_by(|(_, a, _), (_, b, _)| a.cmp(b));
        (self.nodes, self.pods) = all.into_iter().map(|(_, node, pod)| (node, pod)).unzip();
        Ok(running)
    }

    /// Explains why the job has too few pods, from the cluster's last warning, such as a used-up
    /// quota.
    fn explain_missing_pods(&self) -> String {
        let selector = format!("involvedObject.name={},type=Warning", self.job);
        let asked = ["get", "events", "--field-selector", &selector, "-o", "json"];
        let found = self.options.cluster.ask(&asked, None).unwrap_or_default();
        let message = items(&found).last().and_then(|event| event["message"].as_str());
        let message = message.map(|message| format!(": {}", clean_excerpt(message, LETTERS)));
        format!("Kubernetes created no pod{}", message.unwrap_or_default())
    }

    fn command(&self, node: &str, pod: &str) -> Vec<String> {
        let mut all = self.options.cluster.kubectl();
        all.extend(words(&["exec", "-i", pod, "--", PROGRAM, "fleet", "node", "--name", node]));
        all
    }
}

impl Launcher for Kubernetes {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn commands(&self) -> Vec<String> {
        let each = self.nodes.iter().zip(&self.pods);
        each.filter_map(|(node, pod)| Some(typed(&self.command(node, pod.as_ref().ok()?))))
            .collect()
    }

    fn start(&mut self, events: SyncSender<Event>) -> Result<(), String> {
        for (node, pod) in self.nodes.clone().into_iter().zip(self.pods.clone()) {
            match pod {
                Ok(pod) => {
                    let command = self.command(&node, &pod);
                    self.pipes.start(&node, PodWay { command }, &events)?;
                }
                Err(reason) => drop(events.send(Event::Ended { node, reason })),
            }
        }
        Ok(())
    }

    by_pipes!();
}

impl Drop for Kubernetes {
    fn drop(&mut self) {
        self.pipes = Pipes::default();
        // Pods also end by themselves, some seconds after the program in them.
        let _ = self.options.cluster.call(&["delete", "job", &self.job, "--wait=false"], None);
    }
}

/// Returns a name that is safe as an argument and in a report.
fn name_in(value: &Value) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    let name = value.as_str()?;
    let sound = (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(fits);
    (sound && !name.starts_with('-')).then(|| name.to_owned())
}

/// Explains why no program can run in a pod; `None` if one can.
fn pod_failure(pod: &Value) -> Option<String> {
    let status = &pod["status"];
    let phase = status["phase"].as_str().unwrap_or_default();
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        return Some("its pod was deleted".to_owned());
    }
    if phase == "Running" {
        return None;
    }
    let states = status["containerStatuses"].as_array().into_iter().flatten();
    let states = states.flat_map(|one| [&one["state"]["waiting"], &one["state"]["terminated"]]);
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let mut all = states.chain(conditions.filter(|c| c["status"] == "False")).chain([status]);
    let message = all.find_map(|one| one["message"].as_str().or_else(|| one["reason"].as_str()));
    let message = message.map(|message| format!(": {}", clean_excerpt(message, LETTERS)));
    Some(format!("its pod is {phase}{}", message.unwrap_or_default()))
}

/// Returns the Job: a waiting pod on each of the requested number of nodes.
pub fn manifest(options: &KubernetesOptions) -> Value {
    let nodes = options.nodes;
    let label = json!({ "app.kubernetes.io/name": "proofmark-fleet" });
    let apart = json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
        "labelSelector": { "matchLabels": label },
        "topologyKey": "kubernetes.io/hostname",
    }] } });
    let tolerations: Vec<Value> = options.cluster.tolerations().collect();
    let container = json!({
        "name": "proofmark",
        "image": options.image,
        // The wait until all pods run, and then for this pod's turn.
        "args": ["fleet", "node", "--idle", (2 * options.start.as_secs()).to_string()],
        "volumeMounts": [{ "name": "tmp", "mountPath": "/tmp" }],
    });
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "generateName": "proofmark-fleet-", "labels": label },
        "spec": {
            "parallelism": nodes,
            "completions": nodes,
            "backoffLimit": FAILURES,
            "activeDeadlineSeconds": options.limit_s,
            "ttlSecondsAfterFinished": 600,
            "template": {
                "metadata": { "labels": label },
                "spec": {
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 1,
                    "automountServiceAccountToken": false,
                    "affinity": apart,
                    "nodeSelector": options.cluster.selector.to_json(),
                    "tolerations": tolerations,
                    "containers": [container],
                    // On the node's disk: the image's own folders are an overlay.
                    "volumes": [{ "name": "tmp", "emptyDir": {} }],
                },
            },
        },
    })
}

/// The way into a pod.
struct PodWay {
    command: Vec<String>,
}

impl Way for PodWay {
    fn command(&mut self) -> Vec<String> {
        self.command.clone()
    }

    fn program(&self) -> Option<&Path> {
        None
    }

    fn describe(&self, end: &ProcessEnd) -> String {
        match end.exit {
            Some(exit @ Exit::Status(status)) if status == 0 || status > 128 => describe(exit),
            Some(exit) => format!("kubectl exec {exit}"),
            None => "kubectl exec was killed".to_owned(),
        }
    }

    fn is_refused(&self, _: &ProcessEnd) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
