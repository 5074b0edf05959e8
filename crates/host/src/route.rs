//! The MTU of the interface that leads to other machines.
//!
//! Sources: Linux `net/ipv4/fib_trie.c` (`fib_route_seq_show`), `net/ipv6/route.c`
//! (`rt6_info_route`), `Documentation/ABI/testing/sysfs-class-net`.

use crate::root::{Reason, Root, fault};

const ROUTES: &str = "/proc/net/route";
const ROUTES_V6: &str = "/proc/net/ipv6_route";
const NET: &str = "/sys/class/net";
const LOOPBACK: &str = "lo";

/// Returns the MTU in bytes of the interface of the default route, with its file. A machine without
/// such a route has that of its only interface.
pub(crate) fn mtu(root: &Root) -> Result<(String, String), Reason> {
    let path = format!("{NET}/{}/mtu", interface(root)?);
    Ok((root.number::<u64>(&path)?.to_string(), path))
}

fn interface(root: &Root) -> Result<String, Reason> {
    let routes = [(ROUTES, default_route as fn(&str) -> _), (ROUTES_V6, default_route_v6)];
    let mut found = routes.into_iter().filter_map(|(path, find)| find(&root.read(path).ok()?));
    if let Some(name) = found.next() {
        return Ok(name);
    }
    let mut others = root.names(NET, "")?;
    others.retain(|name| name != LOOPBACK && root.exists(&format!("{NET}/{name}/mtu")));
    match &others[..] {
        [only] => Ok(only.clone()),
        _ => Err(fault(NET, "no default route, and not one interface alone")),
    }
}

/// Returns the interface of the default route with the lowest metric.
fn default_route(text: &str) -> Option<String> {
    let routes = text.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [name, "00000000", .., metric, "00000000", _, _, _] = fields[..] else { return None };
        Some((metric.parse::<u64>().ok()?, name))
    });
    lowest(routes)
}

/// The same of IPv6.
fn default_route_v6(text: &str) -> Option<String> {
    let routes = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [to, "00", _, _, _, metric, _, _, _, name] = fields[..] else { return None };
        let leads_on = to.bytes().all(|digit| digit == b'0') && name != LOOPBACK;
        leads_on.then_some((u64::from_str_radix(metric, 16).ok()?, name))
    });
    lowest(routes)
}

fn lowest<'a>(routes: impl Iterator<Item = (u64, &'a str)>) -> Option<String> {
    routes.min_by_key(|(metric, _)| *metric).map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    const HEAD: &str =
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";

    fn found(routes: &str, routes_v6: &str, interfaces: &[(&str, &str)]) -> Option<String> {
        let paths: Vec<(String, &str)> =
            interfaces.iter().map(|(name, mtu)| (format!("{NET}/{name}/mtu"), *mtu)).collect();
        let mut files = vec![(ROUTES, routes), (ROUTES_V6, routes_v6)];
        files.extend(paths.iter().map(|(path, mtu)| (path.as_str(), *mtu)));
        mtu(&Machine::new(&files).root()).ok().map(|(mtu, _)| mtu)
    }

    #[test]
    fn the_mtu_is_that_of_the_way_to_other_machines() {
        let all = [("eth0", "1500\n"), ("eth1", "9000\n"), ("lo", "65536\n")];
        let of = |name: &str, to: &str, metric: &str, mask: &str| {
            format!("{name}\t{to}\t0102A8C0\t0003\t0\t0\t{metric}\t{mask}\t0\t0\t0\n")
        };
        let metrics = [
            HEAD.to_owned(),
            of("eth0", "00000000", "200", "00000000"),
            of("eth1", "00000000", "100", "00000000"),
        ];
        assert_eq!(found(&metrics.concat(), "", &all).as_deref(), Some("9000"));
        // A VPN that takes half of all addresses is no default route.
        let half = [
            HEAD.to_owned(),
            of("eth1", "00000000", "0", "00000080"),
            of("eth0", "00000000", "9", "00000000"),
        ];
        assert_eq!(found(&half.concat(), "", &all).as_deref(), Some("1500"));
        let zeros = "0".repeat(32);
        let v6 = |metric: &str, name: &str| {
            format!("{zeros} 00 {zeros} 00 {zeros} {metric} 00000001 00000000 00000003 {name}\n")
        };
        let both = [v6("ffffffff", "lo"), v6("00000400", "eth0"), v6("00000064", "eth1")].concat();
        assert_eq!(found(HEAD, &both, &all).as_deref(), Some("9000"));
        // Without a default route only a single interface is the way.
        assert_eq!(found(HEAD, "", &all), None);
        assert_eq!(found(HEAD, "", &all[1..]).as_deref(), Some("9000"));
        assert_eq!(found("torn", "00", &all[2..]), None);
    }
}
