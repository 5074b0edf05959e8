//! One file a command.

pub mod audit;
pub mod explain;
pub mod import;
pub mod info;
pub mod list;
pub mod report;
pub mod run;
pub mod schema;
pub mod serve;
pub mod tool;
pub mod worker;
