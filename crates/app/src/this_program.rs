//! The program's identity in its files.

use std::sync::LazyLock;
use std::time::Instant;

use proofmark_model::Tool;

/// The start of the command, as soon as this is first read.
pub static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Returns the version, commit and build of this program.
pub fn tool() -> Tool {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("PROOFMARK_COMMIT").map(str::to_owned),
        build: format!("{build}, {}-{}", std::env::consts::ARCH, std::env::consts::OS),
    }
}
