//! What the wire of an interface carries, where there is one.
//!
//! Source: Linux `Documentation/ABI/testing/sysfs-class-net` (speed, in Mbit/s; -1
//! where it is not known). Devices of software and of hypervisors make a number up: a
//! pair of virtual interfaces says 10000.

use super::NET;
use super::kind::{self, Kind};
use crate::root::{Reason, Root};

/// Interfaces are stacked no deeper than the kernel allows (MAX_NEST_DEV).
const DEEPEST: u32 = 8;

/// Line rate in bits per second, or why there is none. `guest`: this is a virtual machine, where
/// the hypervisor invents the speed of a device.
pub(super) fn look(root: &Root, name: &str, kind: Kind, guest: bool) -> Result<f64, Reason> {
    wired(root, name, kind, guest, DEEPEST)?;
    megabits(root.number(&format!("{NET}/{name}/speed")).ok())
        .ok_or_else(|| "the driver reports no speed".to_owned())
}

/// Whether packets leave by a wire whose speed is known to the driver, or why not.
fn wired(root: &Root, name: &str, kind: Kind, guest: bool, depth: u32) -> Result<(), Reason> {
    match kind.no_wire {
        Some(why) => Err(why.to_owned()),
        None if matches!(kind, Kind::BOND | Kind::VLAN) => carried(root, name, guest, depth),
        None if guest => {
            Err("in a virtual machine the hypervisor invents the reported speed".to_owned())
        }
        None => Ok(()),
    }
}

/// Whether all that carry an interface have wires, so that the speed it says is not made of numbers
/// that were invented.
fn carried(root: &Root, name: &str, guest: bool, depth: u32) -> Result<(), Reason> {
    let lower = kind::lower(root, name);
    if lower.is_empty() {
        return Err("the underlying interface is not in this network namespace".to_owned());
    }
    let depth = depth.checked_sub(1).ok_or("the underlying interfaces form a loop")?;
    for one in lower {
        kind::read(root, &one)
            .and_then(|kind| wired(root, &one, kind, guest, depth))
            .map_err(|why| format!("over {one}: {why}"))?;
    }
    Ok(())
}

/// Bits per second of Mbit/s; -1 for unknown was kept in 16 and in 32 bits without a sign by older
/// kernels.
fn megabits(reported: Option<i64>) -> Option<f64> {
    const OLD_UNKNOWN: i64 = 0xffff;
    let known = reported.filter(|n| (1..i64::from(i32::MAX)).contains(n) && *n != OLD_UNKNOWN);
    known.map(|n| n as f64 * 1e6)
}
