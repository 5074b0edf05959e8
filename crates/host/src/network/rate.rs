//! Line rate of an interface's wire.
//!
//! Source: Linux `Documentation/ABI/testing/sysfs-class-net` (speed, in Mbit/s; -1 if unknown).
//! Software devices and hypervisors invent a number: a pair of virtual interfaces reports 10000.

use super::NET;
use super::kind::{self, Kind};
use crate::root::{Reason, Root};

/// Maximum depth of stacked interfaces, as in the kernel (MAX_NEST_DEV).
const MAX_DEPTH: u32 = 8;

/// Returns the line rate in bits per second, or why it is missing. `guest` marks a virtual machine,
/// whose hypervisor invents the speed of a device.
pub(super) fn detect(root: &Root, name: &str, kind: Kind, guest: bool) -> Result<f64, Reason> {
    wired(root, name, kind, guest, MAX_DEPTH)?;
    megabits(root.number(&format!("{NET}/{name}/speed")).ok())
        .ok_or_else(|| "the driver reports no speed".to_owned())
}

/// Checks that packets leave by a wire whose speed the driver knows.
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

/// Checks that all interfaces below have wires, so that the reported speed is not invented.
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

/// Converts Mbit/s to bits per second. Older kernels keep -1 for unknown as an unsigned 16 or
/// 32-bit number.
fn megabits(reported: Option<i64>) -> Option<f64> {
    const OLD_UNKNOWN: i64 = 0xffff;
    let known = reported.filter(|n| (1..i64::from(i32::MAX)).contains(n) && *n != OLD_UNKNOWN);
    known.map(|n| n as f64 * 1e6)
}
