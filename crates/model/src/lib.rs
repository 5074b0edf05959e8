//! The data of proofmark: the machine ([`Host`]), the plan ([`Plan`]), the results
//! ([`Measurement`]) and the file that holds them all ([`Run`]).
//!
//! Every other crate imports this one; it imports none of ours. The types are plain data. Their
//! fields document meaning, unit and absence. A missing value is `None` (or [`Probe::Missing`])
//! with a reason, never 0, NaN or -1.

mod anonymous;
mod between;
mod ceiling;
pub mod ceiling_id;
pub mod check_id;
mod compared_figure;
mod comparison;
mod delivered;
mod end_traffic;
mod ending;
mod fact_id;
mod figure_values;
mod figures;
mod finding;
mod fleet;
mod fleet_check;
mod fleet_report;
mod fnv;
mod group;
mod history;
mod host;
mod io_path;
mod isa;
pub mod key;
mod latency;
mod limit;
mod loading;
mod lock;
mod main_results;
mod measurement;
mod nearest;
mod network;
mod params;
mod placement;
mod plan;
mod probe;
mod programs;
mod quota;
mod ran_on;
mod raw;
mod reference;
mod requirement;
mod result_name;
mod role;
mod run;
mod sanitize;
mod series;
mod solution;
mod statistics;
mod storage;
mod student;
mod subsystem;
mod system_limit;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod text;
mod time;
mod time_account;
mod touched;
mod trial;
mod units;
pub mod word;
mod work;
mod workload;

pub use between::{BetweenRuns, MIN_EARLIER_RUNS};
pub use ceiling::{Ceiling, Input, Provenance, Reliance};
pub use compared_figure::{
    ComparedFigure, ComparedRuns, LEAST_MARGIN, Leaning, Margin, MarginSource, PerPrice, Toward,
    contradicts, margin_bounds,
};
pub use comparison::{
    COMPARISON_SCHEMA, Comparability, ComparedPercentile, ComparedPoint, ComparedSubsystem,
    Comparison, Difference, LeftOut, Number, Price, RunsSpan, Side, comparison_schema,
};
pub use end_traffic::EndTraffic;
pub use ending::Ending;
pub use fact_id::FactId;
pub use figures::{
    CLEAN_S, Cut, Figure, FigureKind, LOOKS, Summary, is_alone, summarise_trials, widest,
};
pub use finding::{Finding, Severity, Verdict, VerdictCounts, Width};
pub use fleet::{
    FLEET_ROUNDS, FLEET_SCHEMA, FleetLine, FleetPlan, FleetTask, NodeFact, NodeFailure, NodeFigure,
    NodeFinding, NodeLimits, NodeRound, NodesAgain, Pairs, PairsAgain, Pass, RoundRobin,
    rounds_needed,
};
pub use fleet_report::{
    DifferingFact, FEWEST_NODES, FLEET_REPORT_SCHEMA, FactValue, FleetFigure, FleetGroup,
    FleetLink, FleetNode, FleetReport, FleetStrip, GroupDifference, NodeSlowAt, NodeState,
    NotJudged, StripOutcome, SuspectResult, UnfinishedPass, fleet_report_schema,
};
pub use fnv::fnv1a;
pub use group::{
    GROUP_SCHEMA, GroupChange, GroupedResult, GroupedRun, LevelShift, OverRuns, RunGroup, RunLevel,
    RunState, RunValue, Successive, group_schema,
};
pub use history::{
    HISTORY_SCHEMA, History, LevelChange, PastFigure, PastPoint, PastRun, history_schema,
};
pub use host::{
    Cache, CacheKind, Clock, Cpu, Host, Limits, Load, LogicalCpu, Memory, MemoryModule,
    Microarchitecture, NumaNode, Os, Timer,
};
pub use io_path::{IO_PATH, distance_from_device, io_path};
pub use isa::Isa;
pub use key::Key;
pub use latency::{Latency, LatencyBucket, PERCENTILE_TRIALS, PercentileIntervals};
pub use limit::{AT_LIMIT, Limit};
pub use loading::LoadingThreads;
pub use lock::lock;
pub use main_results::{
    Configured, FROM, MainResult, MainRow, Pick, PickedValue, answer, best, pick,
};
pub use measurement::{Bottleneck, Measurement, Precision, Verification};
pub use nearest::did_you_mean;
pub use network::{
    Datagrams, Direction, End, Interface, Network, NetworkPath, NetworkTraffic, ServerEnd,
    TcpState, UDP_BUFFER,
};
pub use params::{Param, Params, Point};
pub use placement::{CpuDistance, CpuPairSeen, CpuPlacement, CpuPlacements, placement_words};
pub use plan::{Plan, PlannedReference, PlannedSeries, Policy};
pub use probe::Probe;
pub use programs::{OtherPrograms, Program};
pub use quota::{CpuQuota, QuotaDelivered, QuotaRounds, QuotaTrial, delivered_under_quota};
pub use ran_on::{RanOn, Strayed};
pub use raw::{RawMeasurement, RawReference, RawRun, RawSeries};
pub use reference::{First, Printed, Ratio, Reference};
pub use requirement::{CHECK_SCHEMA, CheckedRequirement, Decision, HeadlineFigure, OVER_TIME_ONLY};
pub use result_name::ResultNames;
pub use role::{Counterpart, Place, Property, Relation, Role};
pub use run::{MAGNITUDES, ReadError, Run, SCHEMA, Tool, is_quantity, read_run, schema};
pub use sanitize::{clean, clean_excerpt, clean_page, excerpt, shell_word};
pub use series::{Change, Drift, Level, Series, Trend};
pub use solution::Solution;
pub use statistics::{MIN_VALUES, Statistics, median, median_interval, summarise};
pub use storage::{
    BlockDevice, DeviceTraffic, FileState, Flush, IoLimit, Link, Order, Storage, StorageKind,
};
pub use student::{MISSES, student};
pub use subsystem::{FactScope, Subsystem, SubsystemInfo};
pub use system_limit::{
    CgroupLimit, LimitKind, LimitReached, Seen, SystemLimit, SystemState, limit_reached,
};
pub use text::{agree, and_list, bind_units, counted, or_list};
pub use time::{Clocks, Timestamp};
pub use time_account::{TIME_ACCOUNT_ERROR, TimeAccount, TimeCause};
pub use touched::Touched;
pub use trial::{Account, Conditions, HelperTrial, MOST_CLOCKS_APART, Round, Trial};
pub use units::{
    ParseError, Quantity, exact_size, format_count, format_factor, format_percent, format_quantity,
    format_seconds, format_size, parse_duration, parse_rate, parse_size, percent_digits,
    split_unit,
};
pub use work::{Access, Data, Pace, Traffic, When, Work};
pub use workload::{AUTO, Better, Parameter, ParameterKind, Unit, WorkloadSpec};
