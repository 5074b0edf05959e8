//! The parameters of a network configuration for the tools' options.

use std::fmt::Display;
use std::path::Path;

use proofmark_model::{Direction, Params, UDP_BUFFER, key, word};

use crate::text::words;
use crate::{Figure, Invocation, Task, refuse_if};

/// The address of both ends.
pub(crate) const HERE: &str = "127.0.0.1";

/// The minimum bytes of a connection. TCP lets socket buffers grow to some MB: with fewer bytes, a
/// significant part may still be in them when a tool's time ends.
const MINIMUM: u64 = 10_000_000;
/// The number of times that a connection must fill the requested buffers.
const FILLS: u64 = 4;
/// The ratio of the granted to the requested buffer in Linux (socket(7)).
const DOUBLED: u64 = 2;

/// The parameters of a network configuration over loopback.
#[derive(Debug, Clone)]
pub(crate) struct Parameters<'a> {
    pub(crate) streams: u64,
    /// The bytes of a block.
    pub(crate) block: u64,
    pub(crate) direction: Direction,
    /// The rate of all connections together in bit/s, if they are paced.
    pub(crate) rate: Option<u64>,
    /// The requested bytes, if any.
    pub(crate) socket_buffer: Option<u64>,
    pub(crate) congestion: Option<&'a str>,
    pub(crate) no_delay: bool,
    /// True if a waiting thread polls.
    pub(crate) poll: bool,
    /// True if the bytes of a trial are fixed.
    pub(crate) fixed: bool,
    /// The seconds of one of proofmark's trials.
    pub(crate) seconds: f64,
    work: f64,
}

/// The amount or duration that a tool sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Length {
    /// The bytes over all connections.
    Bytes(u64),
    Seconds(f64),
}

impl<'a> Parameters<'a> {
    /// Reads the parameters of a task. Fails if the server is not another process of this machine,
    /// or a parameter is missing.
    pub(crate) fn read(task: &Task<'a>) -> Result<Self, String> {
        let params: &'a Params = task.params;
        refuse_if(
            params.get(key::PATH) != Some(word::LOOPBACK),
            "it needs its own server on the peer",
        )?;
        let usable = |v: f64| v.is_finite() && v > 0.0;
        if !usable(task.seconds) || !usable(task.work) {
            return Err("the trial's duration or work is unknown".to_owned());
        }
        Ok(Self {
            streams: task.number(key::STREAMS)?,
            block: task.number(key::BLOCK_SIZE)?,
            direction: Direction::from_params(params).unwrap_or(Direction::Forward),
            rate: params.get(key::RATE),
            socket_buffer: params.get(key::SOCKET_BUFFER),
            congestion: params.get(key::CONGESTION).filter(|name| *name != proofmark_model::AUTO),
            no_delay: params.get(key::NO_DELAY) == Some(word::ON),
            poll: params.get(key::MODE) == Some(word::POLL),
            fixed: params.get(key::AMOUNT).is_some(),
            seconds: task.seconds,
            work: task.work,
        })
    }

    /// Returns the number of connections, each with a thread of proofmark at each end.
    pub(crate) fn connections(&self) -> u64 {
        let ways = if self.direction == Direction::Both { 2 } else { 1 };
        self.streams.saturating_mul(ways).max(1)
    }

    /// Returns the rate of each connection in bit/s, if they are paced.
    pub(crate) fn rate_each(&self) -> Option<u64> {
        self.rate.map(|rate| (rate / self.connections()).max(1))
    }

    /// Returns the bytes of one of proofmark's trials, or its seconds if the bytes are few and not
    /// fixed. Fails if the fixed bytes are so few that they only fill buffers.
    pub(crate) fn length(&self) -> Result<Length, String> {
        let bytes = (self.work / 8.0).round();
        let requested = self.socket_buffer.unwrap_or(0);
        let minimum = MINIMUM.max(requested.saturating_mul(FILLS * DOUBLED));
        if bytes >= minimum.saturating_mul(self.connections()) as f64 {
            return Ok(Length::Bytes(bytes as u64));
        }
        refuse_if(self.fixed, "the amount fits into the socket buffers; use a larger one")?;
        Ok(Length::Seconds(self.seconds))
    }

    /// Returns the requested bytes of a socket's buffer. For datagrams it is always set, as in
    /// proofmark.
    pub(crate) fn buffer(&self, udp: bool) -> Option<u64> {
        self.socket_buffer.or(udp.then_some(UDP_BUFFER))
    }

    pub(crate) fn operations(&self) -> u64 {
        (self.work.round() as u64).max(1)
    }

    /// Fails if the configuration has several connections.
    pub(crate) fn one_connection(&self) -> Result<(), String> {
        refuse_if(self.connections() > 1, "it supports one connection")
    }
}

/// Returns an option with its value, or nothing.
pub(crate) fn option(name: &str, value: Option<impl Display>) -> String {
    value.map_or_else(String::new, |value| format!(" {name} {value}"))
}

/// Returns an option, if it is set.
pub(crate) fn flag(name: &str, is_set: bool) -> String {
    if is_set { format!(" {name}") } else { String::new() }
}

/// Returns the invocation of a client with its server.
pub(crate) fn pair(client: &str, program: &Path, server: &str) -> Invocation {
    let server = Some((program.to_owned(), words(server)));
    Invocation { arguments: words(client), server, ..Invocation::default() }
}

/// Rounds seconds up to whole ones, 1 at least.
pub(crate) fn whole(seconds: f64) -> u64 {
    (seconds.ceil() as u64).max(1)
}

/// Returns the first figure of one of these tests whose reported parameters are the task's.
pub(crate) fn find_figure(task: &Task, figures: Vec<Figure>, tests: &[&str]) -> Option<Figure> {
    let agrees = |f: &Figure| {
        [key::STREAMS.name(), key::BLOCK_SIZE.name(), key::DIRECTION.name()].iter().all(
            |parameter| {
                let requested = task.params.named(parameter);
                f.params.named(parameter).is_none_or(|used| requested.is_none_or(|r| r == used))
            },
        )
    };
    figures.into_iter().find(|f| f.comparable && tests.contains(&&*f.test) && agrees(f))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::testing::{tcp, with_task};

    #[test]
    fn a_trial_without_work_or_time_is_refused() {
        with_task("TCP", &tcp(), |task| {
            for (work, seconds) in [(f64::NAN, 0.1), (1.0, 0.0)] {
                assert!(Parameters::read(&Task { work, seconds, ..*task }).is_err());
            }
        });
    }

    #[test]
    fn few_bytes_are_seconds_or_refused() {
        let length = |params: &Params, bytes: f64| {
            with_task("TCP", params, |task| {
                Parameters::read(&Task { work: bytes * 8.0, ..*task }).unwrap().length()
            })
        };
        assert_eq!(length(&tcp(), 1e7), Ok(Length::Bytes(10_000_000)));
        assert_eq!(length(&tcp(), 0.9e7), Ok(Length::Seconds(0.1)));
        assert_eq!(length(&tcp().with(key::STREAMS, 2), 1.9e7), Ok(Length::Seconds(0.1)));
        assert_eq!(length(&tcp().with(key::STREAMS, 2), 2e7), Ok(Length::Bytes(20_000_000)));
        let buffer = tcp().with(key::SOCKET_BUFFER, 4_000_000);
        assert_eq!(length(&buffer, 3e7), Ok(Length::Seconds(0.1)), "a buffer of 8 MB");
        assert_eq!(length(&buffer, 3.2e7), Ok(Length::Bytes(32_000_000)));
        let fixed = tcp().with(key::AMOUNT, 131_072);
        assert!(length(&fixed, 131_072.0).unwrap_err().contains("fits into the socket buffers"));
        assert_eq!(length(&fixed, 1e9), Ok(Length::Bytes(1_000_000_000)));
    }
}
