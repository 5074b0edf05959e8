//! `compressible_data`: the device can make the data smaller than they are.

use proofmark_model::{Finding, Measurement, Severity};

use super::{Check, Class};
use crate::Context;
use crate::disk::{files, measured};

/// Entropy of data that nothing can compress, in bits a byte. A sample of 64 KiB of
/// random bytes shows 7.997, one of 4 KiB still 7.95.
const INCOMPRESSIBLE: f64 = 7.5;
/// Below this the data are zeros or one byte over and over. File systems, hypervisors
/// and drives look for exactly this and store nothing, so that no medium is touched;
/// whether a device compresses anything else is not known, only that it could.
const ALL_ALIKE: f64 = 0.5;
/// Bytes below which a sample of the file cannot show its entropy.
const SAMPLE: u64 = 4096;

pub(super) static CHECK: Check = Check {
    id: "compressible_data",
    class: Class::Claim,
    title: "Compressible data",
    about: "Entropy of a sample of the file's data in bits per byte. Below 7.5 it is suspect: a file \
         system or device that compresses or deduplicates moves less than the workload requested. \
         Below 0.5 (zeros, or one repeated byte) it is invalid: such blocks are detected and not \
         stored. Files below 4 KiB are not examined. Fill the file with random data.",
    examine,
    examine_reference: Some(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) {
        return None;
    }
    let told = files(m).filter(|f| f.size_bytes >= SAMPLE).filter_map(|f| f.entropy_bits);
    let least = told.filter(|bits| bits.is_finite()).min_by(f64::total_cmp)?;
    let (severity, what) = match least {
        _ if least < ALL_ALIKE => (
            Severity::Invalid,
            "zeros, or one repeated byte, which devices detect and do not store",
        ),
        _ if least < INCOMPRESSIBLE => {
            (Severity::Suspect, "a device can compress it and move less")
        }
        _ => return None,
    };
    let message = format!("the data has {least:.2} bits per byte: {what}");
    let advice = "fill the file with random data without repeated blocks";
    Some(Finding::new(CHECK.id, severity, message, advice).with("entropy_bits", least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{disk, each, found_on, host_with_disk, rand_read};

    fn says(bits: Option<f64>, size: u64) -> Option<Severity> {
        let spoil = |m: Measurement| {
            each(m, |i, t| {
                let file = t.file.as_mut().unwrap();
                file.size_bytes = size;
                if i > 4 {
                    file.entropy_bits = bits;
                }
            })
        };
        let both = [spoil(rand_read(1)), spoil(disk("seq_write", 4096, "none"))];
        let [read, written] =
            both.map(|m| found_on(&host_with_disk(), &CHECK, m, &[]).map(|f| f.severity));
        assert_eq!(read, written);
        read
    }

    #[test]
    fn zeros_are_invalid_and_text_is_suspect() {
        assert_eq!(says(Some(0.0), 1 << 30), Some(Severity::Invalid));
        assert_eq!(says(Some(4.5), 1 << 30), Some(Severity::Suspect));
    }

    #[test]
    fn random_data_small_files_and_silence_are_no_fault() {
        assert_eq!(says(Some(7.95), 1 << 30), None);
        assert_eq!(says(Some(6.0), 100), None);
        assert_eq!(says(None, 1 << 30), None);
    }
}
