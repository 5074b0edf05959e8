//! The host, with what only the engine can measure, and the server of its network workloads.

use std::path::Path;

use proofmark_engine::chain::read_clock;
use proofmark_engine::{Refusal, interrupted_share, pin_to, precision, usable_cpus};
use proofmark_model::{FactId, Host, MOST_CLOCKS_APART, Network, NetworkPath, Probe, Subsystem};
use proofmark_workloads::disk::ToolFile;

use crate::error::{RunError, Usage};
use crate::plan::{named, subsystems};
use crate::request::{EndureRequest, MachineRequest, PlanRequest};
use crate::server::ServerSide;

/// A machine to measure.
pub struct Machine {
    /// Facts about the machine.
    pub host: Host,
    /// The server of its network workloads, if any of them is requested.
    pub server: Option<ServerSide>,
}

impl Machine {
    /// Creates the machine of a run. If this machine cannot be its own server, the network
    /// workloads are left out and the run continues.
    pub fn for_run(request: &PlanRequest) -> Result<Self, RunError> {
        let (asked, subsystems) = (&request.machine, subsystems(request)?);
        check_disk_path(asked, subsystems.iter().copied())?;
        let mut host = look(asked.disk_path.as_deref());
        let server = match (subsystems.iter().any(|s| s.info().has_server), &asked.peer) {
            (false, Some(_)) => {
                Err(Usage("--peer: this run measures no network workload".to_owned()))?
            }
            (false, None) => None,
            (true, Some(peer)) => Some(ServerSide::peer(peer)?),
            (true, None) => ServerSide::loopback()
                .map_err(|e| host.network = Probe::missing(e.to_string()))
                .ok(),
        };
        Self { host, server }.with_facts(asked)
    }

    /// Creates the machine of a measurement over time, which fails without its server.
    pub fn for_endure(request: &EndureRequest) -> Result<Self, RunError> {
        let subsystem = named(&request.workload)?.spec().subsystem;
        check_disk_path(&request.machine, [subsystem])?;
        let host = look(request.machine.disk_path.as_deref());
        let server = subsystem.info().has_server.then(ServerSide::loopback).transpose()?;
        Self { host, server }.with_facts(&request.machine)
    }

    /// Adds the facts about the server and the limits that the request declares.
    fn with_facts(mut self, request: &MachineRequest) -> Result<Self, RunError> {
        if let Some(server) = &self.server {
            self.host.network =
                Probe::known(server.network().clone(), "the server, and this machine's routes");
            self.host.settings.extend(mtu_to_peer(server.network()));
        }
        self.host.limits.declared.extend(request.limits.iter().cloned());
        // access(2) allows root everything, even a file in /proc.
        let folder = self.host.storage.get().map(|s| Path::new(&s.path));
        if let Some(Err(Refusal(why))) = folder.map(ToolFile::try_in) {
            let why = format!("{why}; choose another folder with --disk-path");
            self.host.storage = Probe::missing(why);
        }
        if request.disk_path.is_some() && self.host.storage.get().is_none() {
            return Err(Usage(format!("--disk-path: {}", self.host.storage.origin())).into());
        }
        Ok(self)
    }
}

/// The MTU of the interface that leads to a peer, which may be another than that of the default
/// route.
fn mtu_to_peer(network: &Network) -> Option<(String, Probe<String>)> {
    let interface = network.interface.get().filter(|_| network.path == NetworkPath::Peer)?;
    let mtu = Probe::known(interface.mtu.to_string(), format!("{} to the peer", interface.name));
    Some((FactId::Mtu.as_str().to_owned(), mtu))
}

/// Refuses a folder for disk workloads if none is measured.
fn check_disk_path(
    asked: &MachineRequest,
    subsystems: impl IntoIterator<Item = Subsystem>,
) -> Result<(), Usage> {
    let uses_disk = || subsystems.into_iter().any(|s| s.info().uses_block_devices);
    if asked.disk_path.is_some() && !uses_disk() {
        return Err(Usage("--disk-path: this run measures no disk workload".to_owned()));
    }
    Ok(())
}

/// Reads the facts about the machine that need no measurement.
pub(crate) fn look_only(disk_path: Option<&Path>) -> Host {
    let folder = std::path::absolute(disk_path.unwrap_or(Path::new("."))).unwrap_or_default();
    let cpus = usable_cpus(None);
    let pinning = cpus.as_deref().map(|cpus| pin_to(cpus).map_err(|e| e.to_string()));
    let root = proofmark_host::Root::live().with_affinity(cpus).with_pinning(pinning);
    proofmark_host::detect(&root, &folder.to_string_lossy())
}

/// Reads the facts about the host, its clocks and the disk of a folder (default: the current one).
/// Takes some tens of ms.
pub fn look(disk_path: Option<&Path>) -> Host {
    let mut host = look_only(disk_path);
    let p = precision();
    host.timer.resolution_s = p.resolution_s.map_or_else(
        || Probe::missing("CLOCK_MONOTONIC_RAW did not advance in 16000 readings"),
        |r| Probe::known(r, "least step of CLOCK_MONOTONIC_RAW seen"),
    );
    host.timer.overhead_s =
        Probe::known(p.overhead_s, "successive readings of CLOCK_MONOTONIC_RAW");
    host.timer.interrupted_share = Probe::known(
        interrupted_share(),
        "gaps between successive readings of CLOCK_MONOTONIC_RAW, median of ten windows of 10 ms",
    );
    host.cpu.clock.measured_hz = measured_clock();
    host
}

/// Measures one core's clock without other load, or explains why it is unknown.
fn measured_clock() -> Probe<f64> {
    const SLICE_S: f64 = 0.5e-3;
    const ROUNDS: u32 = 40;
    let r = read_clock(SLICE_S, ROUNDS);
    if r.disagreement() > MOST_CLOCKS_APART {
        let [first, second] = r.by.map(|hz| hz / 1e9);
        let why = format!("two instruction chains disagree: {first:.3} GHz and {second:.3} GHz");
        return Probe::missing(why);
    }
    Probe::known(r.hz(), "the faster of two chains of dependent instructions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mtu_is_that_of_the_way_to_a_peer() {
        let mtu = |path| {
            let mut network = proofmark_model::testing::network(path);
            if let Some(interface) = network.interface.get() {
                let jumbo = proofmark_model::Interface { mtu: 9000, ..interface.clone() };
                network.interface = Probe::known(jumbo, "test");
            }
            mtu_to_peer(&network).map(|(name, mtu)| (name, mtu.get().cloned()))
        };
        assert_eq!(mtu(NetworkPath::Peer), Some(("MTU".into(), Some("9000".into()))));
        assert_eq!(mtu(NetworkPath::Loopback), None, "it says nothing of other machines");
    }
}
