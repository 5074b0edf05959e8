//! What the tools for networks share.

use std::net::IpAddr;

use proofmark_model::{Params, Subsystem, Trial, Unit, is_quantity};

use crate::{Figure, Malformed};

mod parameters;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use parameters::{HERE, Length, Parameters, find_figure, whole};

pub(crate) fn figure(
    test: &'static str,
    title: &str,
    unit: Unit,
    params: Params,
    trial: Trial,
) -> Figure {
    Figure::rate(test, title, (Subsystem::Network, unit), params, trial)
}

/// The parameters, with the path where the two addresses show it: loopback where they are one
/// or of this machine alone. Two addresses do not prove two machines.
pub(crate) fn with_path(params: Params, client: &str, server: &str) -> Params {
    let own = |address: &str| {
        address == "localhost"
            || address.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    };
    if own(server) || (client == server && client.parse::<IpAddr>().is_ok()) {
        return params.with("path", "loopback");
    }
    params
}

/// Refuses numbers that are each in range, and not together.
pub(crate) fn finite(figure: Figure, at: usize) -> Result<Figure, Malformed> {
    let good = |v: f64| is_quantity(v) && v > 0.0;
    match figure.trials.iter().all(|t| good(t.value) && good(t.seconds) && good(t.work)) {
        true => Ok(figure),
        false => Err(Malformed::at(at, "the numbers are out of range")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_of_its_own_is_loopback() {
        let path = |client, server| {
            with_path(Params::default(), client, server).text("path").map(str::to_owned)
        };
        let loopback = Some("loopback".to_owned());
        for server in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "localhost"] {
            assert_eq!(path("0.0.0.0", server), loopback, "{server}");
        }
        assert_eq!(path("192.0.2.1", "192.0.2.1"), loopback);
        assert_eq!(path("192.0.2.1", "192.0.2.2"), None);
        assert_eq!(path("peer", "peer"), None, "names, not addresses");
    }
}
