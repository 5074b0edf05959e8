//! One file per command.

pub mod audit;
pub mod check;
pub mod compare;
pub mod completions;
pub mod endure;
pub mod explain;
pub mod fleet;
mod group;
pub mod history;
pub mod ids;
pub mod import;
pub mod info;
mod last_good;
pub mod list;
pub mod man;
pub mod noise;
mod repeat;
pub mod report;
pub mod run;
pub mod schema;
pub mod serve;
mod side;
pub mod terms;
pub mod tool;
pub mod words;
pub mod worker;
