//! Facts about a machine, a program or a plan, which comparisons and fleets know by name.

/// Declares the facts, each with its name in files and reports.
macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $id:ident = $name:literal,)+) => {
        /// A fact that may differ between two runs or between the nodes of a fleet.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum FactId {
            $($(#[doc = $doc])+ $id,)+
        }

        impl FactId {
            /// All facts.
            pub const ALL: &[Self] = &[$(Self::$id),+];

            /// Returns the name in files and reports.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$id => $name,)+
                }
            }

            /// Returns the meaning in a few words.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$id => concat!($($doc),+).trim(),)+
                }
            }
        }
    };
}

impl FactId {
    /// Returns the fact of that name, which a file gave; `None` if this version does not know it.
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
    /// Placement of the CPUs by the hypervisor.
    VcpuPlacement = "vCPU placement",
    /// Shares of the threads' time, by who took it.
    ThreadTime = "time of the threads",
    /// Setting: CPUs in the affinity mask.
    Affinity = "CPU affinity",
    /// Setting: environment variables by which libraries choose their kernels, threads or memory.
    Environment = "environment variables",
    /// Setting: vendor and version of the firmware (BIOS or UEFI).
    Firmware = "firmware",
    /// Setting: kinds of network cards with their firmware.
    NetworkCards = "network cards",
    /// Setting: idle states of the cores.
    CStates = "C-states",
    /// Setting: governor of the cores' clock.
    Governor = "governor",
    /// Setting: version of the microcode.
    Microcode = "microcode",
    /// Setting: MTU of the interface to the peer, else to other machines, in bytes.
    Mtu = "MTU",
    /// Setting: receive buffer of a TCP socket in bytes: minimum, default and maximum.
    TcpReceive = "TCP receive buffer",
    /// Setting: send buffer of a TCP socket in bytes: minimum, default and maximum.
    TcpSend = "TCP send buffer",
    /// Setting: maximum number of open files of this process.
    OpenFiles = "open files limit",
    /// Setting: maximum number of this user's processes.
    Processes = "processes limit",
    /// Setting: maximum address space of this process.
    AddressSpace = "address space limit",
    /// Setting: maximum memory that this process may lock.
    LockedMemory = "locked memory limit",
    /// Setting: simultaneous multithreading.
    Smt = "SMT",
    /// Setting: clocks above the nominal one.
    Turbo = "turbo",
}
