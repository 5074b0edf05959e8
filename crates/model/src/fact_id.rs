//! Facts about a machine, a program or a plan that comparisons and fleets know by name.

/// Declares the facts, each with its name as in files and reports.
macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $id:ident = $name:literal,)+) => {
        /// A fact that two runs or the nodes of a fleet may not share.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum FactId {
            $($(#[doc = $doc])+ $id,)+
        }

        impl FactId {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$id),+];

            /// The name, as in files and reports.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$id => $name,)+
                }
            }
        }
    };
}

impl FactId {
    /// The fact of that name, which a file gave; `None` for one that this version does not know.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|id| id.as_str() == name)
    }
}

facts! {
    /// CPU time that a cgroup grants.
    CpuQuota = "CPU quota",
    /// CPUs that may be used.
    UsableCpus = "usable CPUs",
    /// Memory that a cgroup grants.
    MemoryLimit = "memory limit",
    /// Name of the CPU.
    Cpu = "CPU",
    /// Microarchitecture.
    CoreDesign = "core design",
    /// Stepping of the CPU.
    CpuStepping = "CPU stepping",
    /// Number of sockets.
    Sockets = "sockets",
    /// Number of cores.
    Cores = "cores",
    /// Hardware threads of a core.
    ThreadsPerCore = "threads per core",
    /// Instruction sets of the CPU.
    InstructionSets = "instruction sets",
    /// Clock source of the system.
    ClockSource = "clock source",
    /// Hypervisor.
    Virtualisation = "virtualisation",
    /// Container.
    Container = "container",
    /// Kernel of the operating system.
    Kernel = "kernel",
    /// Distribution.
    Distribution = "distribution",
    /// Size of the memory.
    Memory = "memory",
    /// Policy of transparent huge pages.
    HugePages = "huge pages",
    /// Devices of the measured disk.
    Disk = "disk",
    /// File system of the measured file.
    FileSystem = "file system",
    /// Mount options of that file system.
    MountOptions = "mount options",
    /// I/O schedulers of the devices.
    IoScheduler = "I/O scheduler",
    /// Limits of a cgroup on the devices.
    IoLimits = "I/O limits",
    /// Server of the network workloads.
    Server = "server",
    /// Interface that leads to the server.
    NetworkInterface = "network interface",
    /// Program that measured.
    MeasuredBy = "measured by",
    /// Version of proofmark.
    Program = "program",
    /// Commit of proofmark.
    Commit = "commit",
    /// Build of proofmark.
    Build = "build",
    /// Profile of the plan.
    Profile = "profile",
    /// Trials of a configuration.
    Trials = "trials",
    /// Clock of the cores under load.
    LoadClock = "clock under load",
    /// Where the hypervisor placed the CPUs.
    VcpuPlacement = "vCPU placement",
    /// Who took which share of the threads' time.
    ThreadTime = "time of the threads",
    /// Setting: idle states of the cores.
    CStates = "C-states",
    /// Setting: what chooses the clock of the cores.
    Governor = "governor",
    /// Setting: version of the microcode.
    Microcode = "microcode",
    /// Setting: simultaneous multithreading.
    Smt = "SMT",
    /// Setting: clocks above the nominal one.
    Turbo = "turbo",
}
