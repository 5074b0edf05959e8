//! Common code of the tools that run on a file of proofmark.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use proofmark_model::Params;
use proofmark_model::key::{Choice, Key};

/// Returns the path of the file that a tool gets. Fails for a device or a folder, and for a path
/// that is no text: a tool would destroy the data on a device.
pub(crate) fn file(path: &Path) -> Result<&str, String> {
    let kind = std::fs::metadata(path).map(|m| m.file_type());
    if kind.is_ok_and(|k| k.is_block_device() || k.is_char_device() || k.is_dir()) {
        return Err("it gets only files".to_owned());
    }
    path.to_str().ok_or_else(|| "the path of its file is no text".to_owned())
}

/// Returns true if a parameter is `yes`, false if it is `no`. Fails if it is neither.
pub(crate) fn either(
    params: &Params,
    key: Key<Choice>,
    yes: &str,
    no: &str,
) -> Result<bool, String> {
    match params.get(key) {
        Some(word) if word == yes => Ok(true),
        Some(word) if word == no => Ok(false),
        _ => Err(format!("{key} is not set")),
    }
}

/// Returns a task's parameters, each replaced by the output's where the output reports it. `None`
/// if a parameter in `same` differs: then the output is of another job.
pub(crate) fn merge_params(task: &Params, output: &Params, same: &[&str]) -> Option<Params> {
    let mut merged = task.clone();
    for (name, asked) in &mut merged.0 {
        let Some(ran) = output.named(name) else { continue };
        if *ran != *asked && same.contains(&name.as_str()) {
            return None;
        }
        asked.clone_from(ran);
    }
    Some(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmark_model::key;

    #[test]
    fn what_an_output_reports_is_laid_over_the_tasks_parameters() {
        let task = Params::default()
            .with(key::DIRECT, "on")
            .with(key::THREADS, 2)
            .with(key::CACHE, "none");
        let output =
            Params::default().with(key::DIRECT, "off").with(key::RATE, 1).with(key::THREADS, 2);
        let expected = task.clone().with(key::DIRECT, "off");
        assert_eq!(merge_params(&task, &output, &[key::THREADS.name()]), Some(expected));
        assert_eq!(merge_params(&task, &output, &[key::THREADS.name(), key::DIRECT.name()]), None);
        assert_eq!(merge_params(&task, &Params::default(), &[key::DIRECT.name()]), Some(task));
    }

    #[test]
    fn it_is_given_files_only() {
        for path in ["/", "/dev/null"] {
            assert_eq!(file(Path::new(path)).unwrap_err(), "it gets only files", "{path}");
        }
        assert_eq!(file(Path::new("/proc/77/fd/5")), Ok("/proc/77/fd/5"));
        assert!(file(Path::new("/etc/passwd")).is_ok());
    }
}
