//! Environment variables by which a library chooses its kernels, threads or memory. proofmark uses no
//! such library; tools that it runs do, and so do a user's programs.
//!
//! Sources: the manuals of OpenBLAS, BLIS, oneMKL, OpenMP 5.2 (chapter 21), libgomp, OpenSSL
//! (OPENSSL_ia32cap(3)), glibc (tunables), ld.so(8).

use proofmark_model::{Probe, clean};

use crate::root::{Root, fault, probe, words};

const ENVIRONMENT: &str = "/proc/self/environ";
/// Maximum size of an environment that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// Names, and beginnings of names that end with an underscore.
const NAMES: [&str; 13] = [
    "BLIS_",
    "GLIBC_TUNABLES",
    "GOMP_",
    "GOTO_",
    "KMP_",
    "LD_PRELOAD",
    "MALLOC_",
    "MKL_",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_",
    "OPENBLAS_",
    "OPENSSL_armcap",
    "OPENSSL_ia32cap",
];

/// Returns the variables that are set, such as `OMP_NUM_THREADS=2 OPENBLAS_CORETYPE=Haswell`, sorted
/// by name; `none` without any. Of a path it has the last part.
pub(crate) fn detect(root: &Root) -> Probe<String> {
    let bytes = root.bytes(ENVIRONMENT, LARGEST);
    probe(bytes.map(|bytes| listed(&bytes)).map_err(|e| fault(ENVIRONMENT, words(&e))), ENVIRONMENT)
}

fn listed(environment: &[u8]) -> String {
    let text = String::from_utf8_lossy(environment);
    let is_wanted = |name: &str| {
        let matches = |known: &&str| match known.ends_with('_') {
            true => name.starts_with(*known),
            false => name == *known,
        };
        NAMES.iter().any(matches)
    };
    let variables = text.split('\0').filter_map(|line| line.split_once('='));
    let wanted = variables.filter(|(name, _)| is_wanted(name));
    let mut all: Vec<String> =
        wanted.map(|(name, value)| clean(&format!("{name}={}", without_folders(value)))).collect();
    all.sort();
    all.dedup();
    if all.is_empty() { "none".to_owned() } else { all.join(" ") }
}

/// Removes the folders of paths, which name users and sites.
fn without_folders(value: &str) -> String {
    let parts = value.split_inclusive([':', ' ', ',']);
    parts.map(|part| part.rsplit('/').next().unwrap_or(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_change_a_librarys_speed_are_listed_without_folders() {
        for (environment, expected) in [
            ("", "none"),
            ("HOME=/root\0PATH=/bin\0MKLROOT=/opt/mkl\0OPENSSL_CONF=/etc/x\0", "none"),
            (
                "OPENBLAS_CORETYPE=Haswell\0SECRET=OMP_X=1\0MKL_ENABLE_INSTRUCTIONS=SSE4_2\0",
                "MKL_ENABLE_INSTRUCTIONS=SSE4_2 OPENBLAS_CORETYPE=Haswell",
            ),
            (
                "LD_PRELOAD=/home/eve/libjemalloc.so:/opt/x.so\0OMP_NUM_THREADS=\0",
                "LD_PRELOAD=libjemalloc.so:x.so OMP_NUM_THREADS=",
            ),
            ("OMP_PLACES={0:4},{8}\0KMP\0", "OMP_PLACES={0:4},{8}"),
            ("OPENSSL_ia32cap=~0x200000200000000\0", "OPENSSL_ia32cap=~0x200000200000000"),
        ] {
            assert_eq!(listed(environment.as_bytes()), expected);
        }
    }
}
