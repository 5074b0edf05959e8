//! The size of a task's data: workloads declare it, and each tool counts it differently.

use crate::{Figure, Task, Tool};
use proofmark_model::key;

/// Returns the bytes of a task's data in this many arrays, over all threads; `None` if the task has
/// no size.
pub(crate) fn bytes(task: &Task, arrays: u64) -> Option<u64> {
    let data = task.spec.work.data.as_ref()?;
    data.array_bytes(task.params)?.checked_mul(if data.all_arrays { 1 } else { arrays })
}

/// Returns how many passes over this many bytes are the same work, from 1 to `most`.
pub(crate) fn passes(work: f64, bytes: u64, most: u32) -> u64 {
    let passes = (work / bytes.max(1) as f64).round();
    if passes >= 1.0 { passes.min(f64::from(most)) as u64 } else { 1 }
}

/// The parameters that readers set although not every workload declares them.
const OPTIONAL: [&str; 3] = [key::ARRAY_SIZE.name(), key::BLOCK_SIZE.name(), key::STORES.name()];

/// Returns a figure in the parameters of the task's workload. It sets the size of the data where
/// the output reports `array`: the bytes of each array over all threads. It also sets the parameter
/// value that the test was selected for.
pub(crate) fn figure(
    tool: &dyn Tool,
    task: &Task,
    array: Option<u64>,
    arrays: u64,
    figure: Figure,
) -> Figure {
    let mut figure = figure.with_test_of(task);
    let params = &mut figure.params;
    params.0.retain(|name, _| {
        !OPTIONAL.contains(&name.as_str()) || task.spec.parameter(name).is_some()
    });
    let same_work = tool.description().same_work.iter();
    let chosen = same_work.filter(|t| t.test == task.test && t.holds(&task.spec.id, task.params));
    for when in chosen.filter_map(|t| t.when.as_ref()) {
        *params = std::mem::take(params).with_named(&when.parameter, &*when.value);
    }
    if let Some((data, array)) = task.spec.work.data.as_ref().zip(array) {
        let threads = if data.per_thread { params.threads().max(1) } else { 1 };
        let arrays = if data.all_arrays { arrays } else { 1 };
        let size = array.saturating_mul(arrays) / threads;
        *params = std::mem::take(params).with_named(&data.parameter, size);
    }
    figure
}
