//! Temperature of the CPUs, and how often heat throttled them, if the system reports it.
//!
//! Sources: Linux `Documentation/hwmon/coretemp.rst` (`Package id N`), `k10temp.rst` (`Tctl`,
//! `Tdie`, `TccdN`), `Documentation/driver-api/thermal/sysfs-api.rst` (zones, their types) and
//! `Documentation/ABI/testing/sysfs-devices-system-cpu` (`thermal_throttle`). Most guests have none
//! of these.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of sensors that are read each time: a reading may cost a core an interrupt.
const MAX_SENSORS: usize = 8;

const CHIPS: &[&str] = &["coretemp", "k10temp", "zenpower", "cpu_thermal"];

/// Beginnings of the labels of sensors of a whole processor.
const WHOLE: &[&str] = &["Package id", "Tctl", "Tdie"];

/// Lowest and highest credible temperature, in degrees Celsius.
const CREDIBLE_C: [f64; 2] = [-40.0, 150.0];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sensors {
    /// Files with a temperature in thousandths of a degree Celsius.
    temperatures: Vec<PathBuf>,
    /// Files with the throttling counts of the requested cores.
    throttles: Vec<PathBuf>,
}

impl Sensors {
    /// Finds the sensors of these CPUs, on the machine whose files are below `root`.
    pub(crate) fn find(root: &Path, cpus: &[u32]) -> Self {
        let mut temperatures = chip_sensors(root);
        if temperatures.is_empty() {
            temperatures = zone_sensors(root);
        }
        temperatures.truncate(MAX_SENSORS);
        // Siblings report the count of the core that they share, so only one CPU per core is read.
        let mut cores = BTreeSet::new();
        let count = |cpu: &u32| {
            let folder = root.join(format!("sys/devices/system/cpu/cpu{cpu}"));
            let siblings = line(&folder.join("topology/thread_siblings_list"));
            let file = folder.join("thermal_throttle/core_throttle_count");
            number(&file)?;
            cores.insert(siblings.unwrap_or_else(|| cpu.to_string())).then_some(file)
        };
        let throttles = cpus.iter().filter_map(count).collect();
        Self { temperatures, throttles }
    }

    /// The highest temperature now, in degrees Celsius; `None` if no sensor reports one.
    pub(crate) fn hottest_c(&self) -> Option<f64> {
        let celsius = |file: &PathBuf| Some(number(file)? as f64 / 1000.0);
        let credible = |c: &f64| (CREDIBLE_C[0]..=CREDIBLE_C[1]).contains(c);
        self.temperatures.iter().filter_map(celsius).filter(credible).max_by(f64::total_cmp)
    }

    /// Number of times that these cores were throttled since the system started; `None` if none
    /// reports it.
    pub(crate) fn throttles(&self) -> Option<u64> {
        let counts = self.throttles.iter().filter_map(|f| u64::try_from(number(f)?).ok());
        counts.reduce(u64::saturating_add)
    }
}

fn line(file: &Path) -> Option<String> {
    Some(fs::read_to_string(file).ok()?.trim().to_owned())
}

fn number(file: &Path) -> Option<i64> {
    line(file)?.parse().ok()
}

/// Entries of a folder whose names begin with `prefix`, in the order of their numbers.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(folder) else { return Vec::new() };
    let numbered = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let order: u32 = name.strip_prefix(prefix)?.split('_').next()?.parse().ok()?;
        Some((order, name, entry.path()))
    };
    let mut all: Vec<_> = found.flatten().filter_map(numbered).collect();
    all.sort();
    all.into_iter().map(|(_, _, path)| path).collect()
}

/// The inputs of the sensors in the CPUs: those of whole processors if there are any.
fn chip_sensors(root: &Path) -> Vec<PathBuf> {
    let mut whole = Vec::new();
    let mut parts = Vec::new();
    for chip in entries(&root.join("sys/class/hwmon"), "hwmon") {
        if !line(&chip.join("name")).is_some_and(|n| CHIPS.contains(&n.as_str())) {
            continue;
        }
        for input in entries(&chip, "temp") {
            let Some(name) = input.file_name().and_then(|n| n.to_str()) else { continue };
            let Some(stem) = name.strip_suffix("_input") else { continue };
            if number(&input).is_none() {
                continue;
            }
            let label = line(&chip.join(format!("{stem}_label"))).unwrap_or_default();
            let is_whole = WHOLE.iter().any(|w| label.starts_with(w));
            (if is_whole { &mut whole } else { &mut parts }).push(input);
        }
    }
    if whole.is_empty() { parts } else { whole }
}

fn zone_sensors(root: &Path) -> Vec<PathBuf> {
    let of_cpu = |zone: &PathBuf| {
        let kind = line(&zone.join("type")).unwrap_or_default().to_ascii_lowercase();
        kind == "x86_pkg_temp" || kind.contains("cpu") || kind.contains("soc")
    };
    let zones = entries(&root.join("sys/class/thermal"), "thermal_zone");
    let inputs = zones.into_iter().filter(of_cpu).map(|zone| zone.join("temp"));
    inputs.filter(|f| number(f).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join("sys").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        dir
    }

    /// The files of a desktop with one package of two cores, a disk and a wireless card.
    const INTEL: &[(&str, &str)] = &[
        ("class/hwmon/hwmon0/name", "nvme"),
        ("class/hwmon/hwmon0/temp1_input", "91850"),
        ("class/hwmon/hwmon3/name", "coretemp"),
        ("class/hwmon/hwmon3/temp1_input", "63000"),
        ("class/hwmon/hwmon3/temp1_label", "Package id 0"),
        ("class/hwmon/hwmon3/temp1_crit", "100000"),
        ("class/hwmon/hwmon3/temp2_input", "61000"),
        ("class/hwmon/hwmon3/temp2_label", "Core 0"),
        ("class/thermal/thermal_zone0/type", "x86_pkg_temp"),
        ("class/thermal/thermal_zone0/temp", "77000"),
        ("devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3"),
        ("devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "4"),
        ("devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "90"),
        ("devices/system/cpu/cpu3/thermal_throttle/core_throttle_count", "90"),
        ("devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3"),
        ("devices/system/cpu/cpu3/topology/thread_siblings_list", "2-3"),
    ];

    #[test]
    fn the_package_counts_and_no_other_chip() {
        let dir = machine(INTEL);
        let sensors = Sensors::find(dir.path(), &[0, 1, 9]);
        assert_eq!(sensors.hottest_c(), Some(63.0));
        assert_eq!(sensors.throttles(), Some(7), "of the CPUs that were asked for");
        assert_eq!(Sensors::find(dir.path(), &[2, 3]).throttles(), Some(90), "one core");
        fs::write(dir.path().join("sys/class/hwmon/hwmon3/temp1_input"), "88000\n").unwrap();
        assert_eq!(sensors.hottest_c(), Some(88.0), "it is read each time");
    }

    #[test]
    fn the_hottest_processor_counts_and_else_the_zones_of_the_cpu() {
        let two_sockets = [
            ("class/hwmon/hwmon1/name", "k10temp"),
            ("class/hwmon/hwmon1/temp1_input", "55125"),
            ("class/hwmon/hwmon1/temp1_label", "Tctl"),
            ("class/hwmon/hwmon2/name", "k10temp"),
            ("class/hwmon/hwmon2/temp1_input", "58250"),
            ("class/hwmon/hwmon2/temp1_label", "Tctl"),
            ("class/hwmon/hwmon2/temp3_input", "99000"),
            ("class/hwmon/hwmon2/temp3_label", "Tccd1"),
        ];
        let no_chip = [
            ("class/thermal/thermal_zone0/type", "acpitz"),
            ("class/thermal/thermal_zone0/temp", "99000"),
            ("class/thermal/thermal_zone1/type", "cpu-thermal"),
            ("class/thermal/thermal_zone1/temp", "47200"),
        ];
        let nonsense = [
            ("class/hwmon/hwmon0/name", "coretemp"),
            ("class/hwmon/hwmon0/temp1_input", "-273000"),
            ("class/hwmon/hwmon0/temp2_input", "warm"),
            ("devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "-1"),
        ];
        for (files, hottest_c) in [
            (&two_sockets[..], Some(58.25)),
            (&no_chip, Some(47.2)),
            (&nonsense, None),
            (&[], None),
        ] {
            let dir = machine(files);
            let sensors = Sensors::find(dir.path(), &[0, 1]);
            assert_eq!((sensors.hottest_c(), sensors.throttles()), (hottest_c, None), "{files:?}");
        }
    }

    #[test]
    fn no_machine_has_too_many_sensors() {
        let dir = machine(&[("class/hwmon/hwmon0/name", "coretemp")]);
        for i in 1..=64 {
            let name = format!("sys/class/hwmon/hwmon0/temp{i}_input");
            fs::write(dir.path().join(name), "50000\n").unwrap();
        }
        assert_eq!(Sensors::find(dir.path(), &[]).temperatures.len(), MAX_SENSORS);
    }
}
