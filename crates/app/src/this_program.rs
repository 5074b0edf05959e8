//! The program's identity in its files.

use proofmark_model::Tool;

/// Returns the version, commit and build of this program.
pub fn tool() -> Tool {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("PROOFMARK_COMMIT").map(str::to_owned),
        build: format!("{build}, {}-{}", std::env::consts::ARCH, std::env::consts::OS),
    }
}
