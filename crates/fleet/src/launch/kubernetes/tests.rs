//! A cluster that consists of recorded answers.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn cluster(command: &str) -> Cluster {
    Cluster {
        command: command.split(' ').map(str::to_owned).collect(),
        namespace: Some("bench".to_owned()),
        selector: "pool=gpu,zone=a".parse().unwrap(),
        tolerations: vec!["dedicated=gpu:NoSchedule".to_owned(), "spot".to_owned()],
    }
}

fn options(command: &str) -> KubernetesOptions {
    KubernetesOptions {
        cluster: cluster(command),
        image: "registry.example/proofmark:0.2.0".to_owned(),
        nodes: 2,
        limit_s: 900,
        start: Duration::from_millis(100),
    }
}

#[test]
fn a_pod_waits_on_each_node() {
    let options = KubernetesOptions { nodes: 4, ..options("kubectl") };
    let made = manifest(&options);
    let spec = &made["spec"]["template"]["spec"];
    assert_eq!(
        (&made["spec"]["parallelism"], &made["spec"]["completions"]),
        (&json!(4), &json!(4))
    );
    // The failure of a job ends the pods of all nodes.
    assert!(made["spec"]["backoffLimit"].as_u64() > Some(1000));
    assert_eq!(spec["nodeSelector"], json!({ "pool": "gpu", "zone": "a" }));
    let tolerations = json!([
        { "key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule" },
        { "key": "spot", "operator": "Exists" },
    ]);
    assert_eq!(spec["tolerations"], tolerations);
    let one_a_node =
        &spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
    assert_eq!(one_a_node["topologyKey"], "kubernetes.io/hostname");
    assert_eq!(
        one_a_node["labelSelector"]["matchLabels"],
        made["spec"]["template"]["metadata"]["labels"]
    );
}

/// A kubectl that gives the answers of an API server of 1.20, recorded with scripts/kubernetes. Of
/// four nodes, one is cordoned, one tainted and one lost. Of the job's pods, one was killed and
/// replaced on the same node. Its first argument names the pods.
const KUBECTL: &str = r#"#!/bin/sh
pods=$1
[ "$2" = --namespace=bench ] || exit 9
shift 2
echo "$@" >>"$(dirname "$0")/asked"
[ "$1 $2" != "get pods" ] || ! rm "$(dirname "$0")/fails" 2>/dev/null || exit 1
cd "$(dirname "$0")/recorded"
case "$1 $2" in
"get nodes")
    [ -f nodes.json ] && exec cat nodes.json
    echo 'Error from server (Forbidden): nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope' >&2
    exit 1 ;;
"get pods") cat "$pods" ;;
"get events") cat events.json ;;
"create -f") cat >/dev/null; cat job.json ;;
"exec -i")
    [ "$9" = n1 ] && exec echo hello
    echo "Error from server: error dialing backend: dial tcp 192.0.2.13:10250: connect: connection refused" >&2
    exit 1 ;;
esac
"#;

/// Folder of that kubectl, and its command with the pods of this file.
fn stand_in(pods: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubectl");
    std::fs::write(&path, KUBECTL).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/src/launch/kubernetes/recorded");
    std::os::unix::fs::symlink(recorded, folder.path().join("recorded")).unwrap();
    let command = format!("{} {pods}", path.display());
    (folder, command)
}

/// The next `number` events of a fleet, sorted.
fn heard(cluster: &mut Kubernetes, number: usize) -> Vec<String> {
    let (to, events) = std::sync::mpsc::sync_channel(9);
    cluster.start(to).unwrap();
    let next = |_| match proofmark_testing::recv("an event", &events) {
        Event::Line { node, line } => format!("{node} {}", String::from_utf8(line).unwrap()),
        Event::Ended { node, reason } => format!("{node} {reason}"),
        Event::Failed(why) => why,
        Event::Copying { .. } => panic!("nothing is copied to a pod"),
    };
    let mut events: Vec<String> = (0..number).map(next).collect();
    events.sort();
    events
}

#[test]
fn a_cluster_is_asked_for_pods_and_gives_them_back() {
    let (folder, command) = stand_in("pods.json");
    let mut cluster = Kubernetes::new(options(&command), &|| false).unwrap();
    // Neither the cordoned node nor the lost one counts.
    assert_eq!(cluster.nodes(), ["n1", "n3"]);
    let lost = "n3 kubectl exec exited with status 1: Error from server: error dialing backend: \
        dial tcp 192.0.2.13:10250: connect: connection refused";
    assert_eq!(heard(&mut cluster, 3), ["n1 hello", "n1 its process ended", lost]);
    drop(cluster);
    let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
    let start = "exec -i proofmark-fleet-29442-sk8gd -- /usr/bin/proofmark fleet node --name n1";
    assert!(asked.contains(start), "{asked}");
    assert!(asked.contains("-kcmw5 -- "), "{asked}");
    assert!(
        asked.ends_with("delete job proofmark-fleet-29442 --wait=false --request-timeout=30s\n"),
        "{asked}"
    );
}

#[test]
fn a_cluster_that_fails_to_answer_once_is_asked_again() {
    let (folder, command) = stand_in("pods.json");
    std::fs::write(folder.path().join("fails"), "").unwrap();
    let cluster = Kubernetes::new(options(&command), &|| false).unwrap();
    assert_eq!(cluster.nodes(), ["n1", "n3"]);
    assert!(!folder.path().join("fails").exists());
    // It does not wait forever for a pod that never runs.
    let broken = options("false");
    assert!(Kubernetes::new(broken, &|| false).unwrap_err().starts_with("false create: "));
}

#[test]
fn why_a_pod_does_not_run_is_reported() {
    let (_folder, command) = stand_in("pods.json");
    let many = KubernetesOptions { nodes: 6, ..options(&command) };
    let mut cluster = Kubernetes::new(many, &|| false).unwrap();
    let [lost, first, second] =
        ["n4", "proofmark-fleet-29442-xfmrb", "proofmark-fleet-29442-zj8bj"];
    assert_eq!(cluster.nodes(), ["n1", "n3", lost, first, second, "pod-6-of-6"]);
    let events = heard(&mut cluster, 7).split_off(3);
    let full = "its pod is Pending: 0/4 nodes are available: 1 node(s) were unschedulable, ";
    let quota = "pod-6-of-6 Kubernetes created no pod: Error creating: pods ";
    assert_eq!(events[0], "n4 its pod is Pending");
    assert!(events[1].starts_with(quota) && events[1].contains(" exceeded quota: "), "{events:?}");
    assert!(events[2].starts_with(&format!("{first} {full}")), "{events:?}");
    assert!(events[3].starts_with(&format!("{second} {full}")), "{events:?}");
}

#[test]
fn a_pod_without_an_image_and_one_of_a_lost_node_say_so() {
    let image =
        "its pod is Pending: failed to pull and unpack image \"localhost/other:1\": not found";
    for (pods, events) in
        [("image.json", format!("n1 {image}")), ("deleted.json", "n3 its pod was deleted".into())]
    {
        let (_folder, command) = stand_in(pods);
        let one = KubernetesOptions { nodes: 1, ..options(&command) };
        let mut cluster = Kubernetes::new(one, &|| false).unwrap();
        assert_eq!(heard(&mut cluster, 1), [events]);
    }
}

#[test]
fn nodes_are_counted_that_take_a_pod() {
    let (folder, command) = stand_in("pods.json");
    let given = |tolerations: &[&str]| {
        Cluster { tolerations: words(tolerations), ..cluster(&command) }.ready_nodes()
    };
    assert_eq!(given(&[]), Ok(1));
    assert_eq!(given(&["dedicated=cpu", "other"]), Ok(1));
    assert_eq!(given(&["dedicated:NoExecute"]), Ok(1));
    for tolerated in ["dedicated", "dedicated=gpu", "dedicated:NoSchedule"] {
        assert_eq!(given(&[tolerated]), Ok(2), "{tolerated}");
    }
    // A user who may not list nodes gives their number.
    std::fs::remove_file(folder.path().join("recorded")).unwrap();
    std::fs::create_dir(folder.path().join("recorded")).unwrap();
    let error = given(&[]).unwrap_err();
    assert!(error.contains(": nodes is forbidden: "), "{error}");
    assert!(error.ends_with("; name the number of nodes with -N"), "{error}");
}

#[test]
fn a_selector_that_would_be_dropped_is_refused() {
    for text in ["pool", "pool!=gpu", "pool==gpu", "pool=gpu,", "a in (b)"] {
        let error = text.parse::<NodeLabels>().unwrap_err();
        assert_eq!(error, "write LABEL=VALUE,..., such as pool=gpu,zone=a", "{text}");
    }
}
