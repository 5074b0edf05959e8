//! Environment variables by which a library chooses its kernels, threads or memory. proofmark uses no
//! such library; tools that it runs do, and so do a user's programs.
//!
//! Sources: the manuals of OpenBLAS, BLIS, oneMKL, OpenMP 5.2 (chapter 21), libgomp, OpenSSL
//! (OPENSSL_ia32cap(3)), glibc (tunables), ld.so(8).

use proofmark_model::{Probe, clean_excerpt};

use crate::root::{Root, fault, probe, words};

const ENVIRONMENT: &str = "/proc/self/environ";
/// Maximum size of an environment that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// Most characters of a value.
const LONGEST: usize = 400;

/// Whole names: what else begins like them may be a secret.
const NAMES: [&str; 52] = [
    "BLIS_ARCH_TYPE",
    "BLIS_IC_NT",
    "BLIS_IR_NT",
    "BLIS_JC_NT",
    "BLIS_JR_NT",
    "BLIS_NUM_THREADS",
    "BLIS_PC_NT",
    "BLIS_THREAD_IMPL",
    "GLIBC_TUNABLES",
    "GOMP_CPU_AFFINITY",
    "GOMP_SPINCOUNT",
    "GOMP_STACKSIZE",
    "GOTO_NUM_THREADS",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "KMP_HW_SUBSET",
    "KMP_LIBRARY",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "MALLOC_ARENA_TEST",
    "MALLOC_CHECK_",
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_PERTURB_",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MKL_CBWR",
    "MKL_DEBUG_CPU_TYPE",
    "MKL_DOMAIN_NUM_THREADS",
    "MKL_DYNAMIC",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_INTERFACE_LAYER",
    "MKL_NUM_THREADS",
    "MKL_THREADING_LAYER",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_DYNAMIC",
    "OMP_MAX_ACTIVE_LEVELS",
    "OMP_NESTED",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_SCHEDULE",
    "OMP_STACKSIZE",
    "OMP_THREAD_LIMIT",
    "OMP_WAIT_POLICY",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_DEFAULT_NUM_THREADS",
    "OPENBLAS_MAIN_FREE",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_THREAD_TIMEOUT",
    "OPENSSL_armcap",
    "OPENSSL_ia32cap",
];

/// Returns the variables that are set, such as `OMP_NUM_THREADS=2 OPENBLAS_CORETYPE=Haswell`, sorted
/// by name; `none` without any. Of a path it has the file name.
pub(crate) fn detect(root: &Root) -> Probe<String> {
    let bytes = root.bytes(ENVIRONMENT, LARGEST);
    probe(bytes.map(|bytes| listed(&bytes)).map_err(|e| fault(ENVIRONMENT, words(&e))), ENVIRONMENT)
}

fn listed(environment: &[u8]) -> String {
    let text = String::from_utf8_lossy(environment);
    let variables = text.split('\0').filter_map(|line| line.split_once('='));
    let wanted = variables.filter(|(name, _)| NAMES.contains(name));
    let shown =
        |(name, value)| format!("{name}={}", clean_excerpt(&without_folders(value), LONGEST));
    let mut all: Vec<String> = wanted.map(shown).collect();
    all.sort();
    all.dedup();
    if all.is_empty() { "none".to_owned() } else { all.join(" ") }
}

/// Removes the folders of paths, which name users and sites. They may contain spaces.
fn without_folders(value: &str) -> String {
    let parts = value.split_inclusive(':');
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
            ("LD_PRELOAD=/home/Eve Smith/x.so:/srv/a,b c/y.so\0", "LD_PRELOAD=x.so:y.so"),
            ("GOTO_CLIENT_SECRET=x\0OMP_TOKEN=x\0MKL_KEY=x\0MALLOC_=x\0", "none"),
            ("GOTO_NUM_THREADS=2\0KMP_BLOCKTIME=0\0", "GOTO_NUM_THREADS=2 KMP_BLOCKTIME=0"),
            ("OPENSSL_ia32cap=~0x200000200000000\0", "OPENSSL_ia32cap=~0x200000200000000"),
        ] {
            assert_eq!(listed(environment.as_bytes()), expected);
        }
        let long = format!("OMP_PLACES={}", "8,".repeat(300));
        assert_eq!(listed(long.as_bytes()), long[.."OMP_PLACES=".len() + 400]);
    }
}
