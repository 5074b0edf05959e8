//! A run. A [`PlanRequest`] and a [`Machine`] make a plan ([`plan`]), which is measured step by
//! step ([`measure_here`]) and judged. Observers read each [`Step`]. [`measure`] takes any
//! [`Means`], such as a test's in memory.

mod cpus;
mod disk_space;
mod error;
mod event;
mod live;
mod machine;
mod meant;
mod measure;
mod other_programs;
mod pairs;
mod parameter;
mod plan;
mod planned;
mod process;
mod profile;
mod programs;
mod read_bounded;
mod record;
mod registry;
mod request;
mod reread_machine;
mod schedule;
mod server;
mod set_up;
mod steady;
mod system_limits;
#[cfg(test)]
mod testing;
mod tool;

pub use disk_space::{OutputBytes, SpaceWatch, TryOut, look_ahead};
pub use error::{RunError, Usage, unknown};
pub use event::{Event, Observer, Step};
pub use live::{Live, begin, measure_here, try_out};
pub use machine::{Machine, look};
pub use meant::{meant_parameter, meant_workload, unknown_workload};
pub use measure::{Means, measure};
pub use other_programs::BusyPrograms;
pub use pairs::FINDINGS as TOOL_FINDINGS;
pub use plan::{
    BUDGET_FINDINGS, FINDINGS as PLAN_FINDINGS, REFERENCE_FINDINGS, Title, announcements,
    check_value, contradictions, endure, estimate, left_out_for_time, plan, subsystems, takes,
    takes_alone, titles, tools_s, typed_parameter, without_interval,
};
pub use planned::{NoReference, Planned, PlannedTools};
pub use process::own_program;
pub use profile::{BUILT_IN, Profile};
pub use read_bounded::{read_bytes, read_text};
pub use record::RunFile;
pub use registry::needs;
pub use request::{
    EndureRequest, MachineRequest, PeerKey, PeerRequest, PlanRequest, ToolChoice, TypedParameters,
};
pub use reread_machine::FINDINGS as MACHINE_FINDINGS;
pub use schedule::Deadline;
pub use server::{ServerSide, cpu_stat, interface, loopback_network};
pub use tool::{ToolRun, ToolRunner, ToolSession, ToolTask};
