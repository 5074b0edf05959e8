//! Turns parsed arguments into requests. No other file knows both.

use std::time::Duration;

use proofmark_run::{
    EndureRequest, MachineRequest, PeerKey, PeerRequest, PlanRequest, ToolChoice, TypedParameters,
};

use crate::cli::{EndureArgs, NoiseArgs, RunArgs};

impl RunArgs {
    pub fn request(&self) -> PlanRequest {
        let profile =
            if self.quick { "quick" } else { self.profile.as_deref().unwrap_or("default") };
        let peer = self.peer.clone();
        PlanRequest {
            names: self.names.clone(),
            profile: profile.to_owned(),
            budget: self.budget,
            trials: self.trials,
            parameters: TypedParameters {
                threads: self.threads.clone(),
                block_size: self.block_size.clone(),
                set: self.set.clone(),
            },
            tools: match self.reference.as_slice() {
                _ if self.no_reference => ToolChoice::None,
                [] => ToolChoice::Marked,
                names => ToolChoice::Named(names.to_vec()),
            },
            machine: MachineRequest {
                disk_path: self.disk_path.clone(),
                limits: self.limit.clone(),
                peer: peer.map(|address| {
                    let key = PeerKey::File(self.key_file.clone());
                    PeerRequest { address, key }
                }),
            },
        }
    }
}

impl EndureArgs {
    pub fn request(&self) -> EndureRequest {
        EndureRequest {
            workload: self.workload.clone(),
            length: self.length,
            every: self.every,
            parameters: TypedParameters {
                threads: self.threads.clone(),
                block_size: self.block_size.clone(),
                set: self.set.clone(),
            },
            machine: MachineRequest { disk_path: self.disk_path.clone(), ..Default::default() },
        }
    }
}

/// Time of a command before and after the measurement.
const AROUND: Duration = Duration::from_secs(3);

/// Seconds from one round to the next. A quarter of it passes between the rounds.
const ROUND_S: f64 = 0.13;

impl NoiseArgs {
    pub fn request(&self) -> PlanRequest {
        PlanRequest {
            profile: "noise".to_owned(),
            budget: Some(self.length + AROUND),
            trials: Some((self.length.as_secs_f64() / ROUND_S).ceil().min(1e6) as u32),
            tools: ToolChoice::None,
            ..PlanRequest::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn command(words: &str) -> Command {
        let words = ["proofmark"].into_iter().chain(words.split_whitespace());
        Cli::try_parse_from(words).unwrap().command
    }

    fn asked(words: &str) -> PlanRequest {
        let Command::Run(args) = command(&format!("run {words}")) else { panic!() };
        args.request()
    }

    #[test]
    fn each_argument_has_its_place() {
        let typed = "cpu disk.fsync --quick --budget 30s --trials 5 --threads 1,all \
                     --block-size 8KB,1MB --set cpu.flops.isa=avx2 --set cpu.iops.type=i32 \
                     --disk-path /x --limit disk.read=1MB/s --peer 10.0.0.9:7 --key-file k";
        let words = |all: &[&str]| all.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let peer = "10.0.0.9:7".parse().unwrap();
        let expected = PlanRequest {
            names: words(&["cpu", "disk.fsync"]),
            profile: "quick".to_owned(),
            budget: Some(Duration::from_secs(30)),
            trials: Some(5),
            parameters: TypedParameters {
                threads: Some("1,all".to_owned()),
                block_size: Some("8KB,1MB".to_owned()),
                set: words(&["cpu.flops.isa=avx2", "cpu.iops.type=i32"]),
            },
            tools: ToolChoice::Marked,
            machine: MachineRequest {
                disk_path: Some("/x".into()),
                limits: vec![("disk.read".to_owned(), 1e6)],
                peer: Some(PeerRequest { address: peer, key: PeerKey::File(Some("k".into())) }),
            },
        };
        assert_eq!(asked(typed), expected);
        assert_eq!(asked(""), PlanRequest::default());
        assert_eq!(asked("--profile mine.toml").profile, "mine.toml");
        assert_eq!(asked("--no-reference").tools, ToolChoice::None);
        let named = ToolChoice::Named(words(&["fio", "stream"]));
        assert_eq!(asked("--reference fio,stream").tools, named);
    }

    #[test]
    fn an_endurance_measurement_has_its_arguments_too() {
        let asked = |words: &str| {
            let Command::Endure(args) = command(&format!("endure {words}")) else { panic!() };
            args.request()
        };
        assert_eq!(asked("cpu.clock"), EndureRequest::new("cpu.clock"));
        let expected = EndureRequest {
            length: Duration::from_secs(60),
            every: Duration::from_secs(2),
            parameters: TypedParameters {
                threads: Some("4".to_owned()),
                block_size: Some("4k".to_owned()),
                set: vec!["x=y".to_owned()],
            },
            machine: MachineRequest { disk_path: Some("/x".into()), ..Default::default() },
            ..EndureRequest::new("disk.fsync")
        };
        let typed = "disk.fsync --for 60s --every 2s --threads 4 --block-size 4k --set x=y \
                     --disk-path /x";
        assert_eq!(asked(typed), expected);
    }
}
