//! Clock frequencies that the machine reports. The run adds the measured one.
//!
//! Sources: Intel SDM volume 2A, CPUID leaves 0x15 and 0x16; the hypervisor leaf 0x40000010
//! (VMware's, also KVM's); Linux `Documentation/admin-guide/pm/cpufreq.rst` and `acpi_cppc`; the
//! kernel derives BogoMIPS from the constant counter on x86 (`arch/x86/kernel/tsc.c`) and on
//! AArch64 (`arch/arm64/kernel/time.c`).

use proofmark_model::{Clock, Probe};

use crate::cpuid::Dump;
use crate::root::{Reason, Root};
use crate::text::field;
use crate::topology::CPUS;

pub(crate) fn detect(root: &Root, cpuid: Result<&Dump, &Reason>, first: u32) -> Clock {
    Clock {
        nominal_hz: nominal(root, cpuid, first),
        boost_hz: boost(root, cpuid, first),
        measured_hz: Probe::missing("measured when the CPU is measured"),
        tsc_hz: counter(root, cpuid),
    }
}

/// Reads a frequency from a CPU's file in units of `unit` Hz; 0 means unknown.
fn from_file(root: &Root, cpu: u32, name: &str, unit: f64) -> Option<Probe<f64>> {
    let path = format!("{CPUS}/cpu{cpu}/{name}");
    let value: u64 = root.number(&path).ok()?;
    (value > 0).then(|| Probe::known(value as f64 * unit, path))
}

/// Returns the base and maximum frequency of leaf 0x16 in Hz, if reported.
fn leaf_0x16(cpuid: Result<&Dump, &Reason>) -> (Option<f64>, Option<f64>) {
    let info = cpuid.ok().and_then(|dump| dump.decoded().get_processor_frequency_info());
    let hertz = |mhz: u16| (mhz > 0).then(|| f64::from(mhz) * 1e6);
    match info {
        Some(i) => (hertz(i.processor_base_frequency()), hertz(i.processor_max_frequency())),
        None => (None, None),
    }
}

fn nominal(root: &Root, cpuid: Result<&Dump, &Reason>, first: u32) -> Probe<f64> {
    let brand = || {
        let decoded = cpuid.ok()?.decoded();
        let hertz = brand_frequency(decoded.get_processor_brand_string()?.as_str())?;
        Some(Probe::known(hertz, "the brand string of CPUID"))
    };
    from_file(root, first, "cpufreq/base_frequency", 1e3)
        .or_else(|| leaf_0x16(cpuid).0.map(|hz| Probe::known(hz, "CPUID leaf 0x16")))
        .or_else(|| from_file(root, first, "acpi_cppc/nominal_freq", 1e6))
        .or_else(brand)
        .unwrap_or_else(|| {
            Probe::missing(
                "no base frequency in cpufreq, CPUID leaf 0x16, ACPI CPPC or the brand string",
            )
        })
}

fn boost(root: &Root, cpuid: Result<&Dump, &Reason>, first: u32) -> Probe<f64> {
    from_file(root, first, "cpufreq/cpuinfo_max_freq", 1e3)
        .or_else(|| leaf_0x16(cpuid).1.map(|hz| Probe::known(hz, "CPUID leaf 0x16")))
        .unwrap_or_else(|| Probe::missing("no highest frequency in cpufreq or CPUID leaf 0x16"))
}

/// Parses the frequency at the end of names such as `Intel(R) Xeon(R) CPU @ 2.60GHz`.
fn brand_frequency(brand: &str) -> Option<f64> {
    let tail = brand.rsplit_once('@')?.1.trim();
    let (number, unit) = match (tail.strip_suffix("GHz"), tail.strip_suffix("MHz")) {
        (Some(number), _) => (number, 1e9),
        (_, Some(number)) => (number, 1e6),
        _ => return None,
    };
    let value: f64 = number.trim().parse().ok()?;
    (value > 0.0 && value.is_finite()).then_some(value * unit)
}

/// Returns the frequency of the time-stamp counter, or of AArch64's virtual counter.
fn counter(root: &Root, cpuid: Result<&Dump, &Reason>) -> Probe<f64> {
    if let Ok(dump) = cpuid {
        let decoded = dump.decoded();
        let crystal = decoded.get_tsc_info().and_then(|i| i.tsc_frequency()).filter(|&hz| hz > 0);
        if let Some(hz) = crystal {
            return Probe::known(hz as f64, "CPUID leaf 0x15");
        }
        let reported = decoded.get_hypervisor_info().and_then(|h| h.tsc_frequency());
        if let Some(khz) = reported.filter(|&khz| khz > 0) {
            return Probe::known(f64::from(khz) * 1e3, "CPUID leaf 0x40000010");
        }
    }
    match root.head("/proc/cpuinfo", 16 << 10).map(|text| from_bogomips(&text)) {
        Ok(Some(hz)) => Probe::known(hz, "half of bogomips in /proc/cpuinfo"),
        Ok(None) => Probe::missing("not in CPUID, and /proc/cpuinfo has no constant bogomips"),
        Err(reason) => Probe::missing(format!("not in CPUID; {reason}")),
    }
}

/// Returns half of BogoMIPS, if the kernel derives it from a constant counter.
fn from_bogomips(cpuinfo: &str) -> Option<f64> {
    let value = match field(cpuinfo, "BogoMIPS") {
        Some(arm) => arm,
        None => {
            let flags = field(cpuinfo, "flags")?;
            flags.split_whitespace().find(|f| *f == "constant_tsc")?;
            field(cpuinfo, "bogomips")?
        }
    };
    let value: f64 = value.parse().ok()?;
    (value > 0.0 && value.is_finite()).then_some(value * 1e6 / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    #[test]
    fn the_brand_string_may_end_with_the_frequency() {
        assert_eq!(brand_frequency("Intel(R) Xeon(R) CPU E5-2670 v3 @ 2.30GHz"), Some(2.3e9));
        assert_eq!(brand_frequency("Old CPU @ 800MHz"), Some(8e8));
        for none in ["Intel(R) Xeon(R) Processor", "", "x @ GHz", "x @ 0GHz", "x @ infGHz"] {
            assert_eq!(brand_frequency(none), None, "{none}");
        }
    }

    #[test]
    fn bogomips_counts_only_where_the_counter_is_constant() {
        let x86 = "flags : fpu constant_tsc\nbogomips : 5200.00\n";
        assert_eq!(from_bogomips(x86), Some(2.6e9));
        assert_eq!(from_bogomips(&x86.replace("constant_tsc", "tsc")), None);
        assert_eq!(from_bogomips("BogoMIPS : 243.75\n"), Some(121_875_000.0));
    }

    #[test]
    fn files_come_first_and_zero_means_unknown() {
        let machine = Machine::new(&[
            ("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2900000\n"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "0\n"),
        ]);
        let clock = detect(&machine.root(), Err(&"none".to_owned()), 0);
        assert_eq!(clock.nominal_hz.get(), Some(&2.9e9));
        assert!(clock.boost_hz.get().is_none());
        assert!(clock.measured_hz.get().is_none() && clock.tsc_hz.get().is_none());
    }
}
