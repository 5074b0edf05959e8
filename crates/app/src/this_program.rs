//! This program, as files name it.

use proofmark_model::Tool;

/// Its version, commit and build.
pub fn tool() -> Tool {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("PROOFMARK_COMMIT").map(str::to_owned),
        build: format!("{build}, {}-{}", std::env::consts::ARCH, std::env::consts::OS),
    }
}
