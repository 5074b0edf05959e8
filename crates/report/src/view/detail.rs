//! What runs, as the workloads declare it, without saying the same twice.

use super::workload::WorkloadView;

/// Sentences at the end of two declarations that are worth a reference.
const SHARED: usize = 2;

/// Puts a reference to an earlier workload in place of the sentences with which its
/// declaration ends as well.
pub fn refer(workloads: &mut [WorkloadView]) {
    let details: Vec<(String, String)> =
        workloads.iter().map(|k| (k.id.clone(), k.detail.clone())).collect();
    for (at, workload) in workloads.iter_mut().enumerate() {
        let earlier =
            details[..at].iter().find(|(_, other)| shared(other, &workload.detail) >= SHARED);
        if let Some((id, other)) = earlier {
            let all = sentences(&workload.detail);
            let own = all.len() - shared(other, &workload.detail);
            workload.detail = match own {
                0 => format!("As with {id}."),
                _ => format!("{} The rest is as with {id}.", all[..own].join(" ")),
            };
        }
    }
}

fn sentences(text: &str) -> Vec<&str> {
    text.split_inclusive(". ").map(str::trim).collect()
}

/// How many sentences both end with.
fn shared(a: &str, b: &str) -> usize {
    let (a, b) = (sentences(a), sentences(b));
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b && !a.is_empty()).count()
}
