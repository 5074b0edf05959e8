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
    let entropies = files(m).filter(|f| f.size_bytes >= SAMPLE).filter_map(|f| f.entropy_bits);
    let least = entropies.filter(|bits| bits.is_finite()).min_by(f64::total_cmp)?;
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
    Some(CHECK.finding(severity, message, advice).with("entropy_bits", least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn zeros_are_invalid_and_text_is_suspect() {
        for (name, bits, size, expected) in [
            ("zeros", Some(0.0), 1 << 30, INVALID),
            ("text", Some(4.5), 1 << 30, SUSPECT),
            ("random data", Some(7.95), 1 << 30, SILENT),
            ("a small file", Some(6.0), 100, SILENT),
            ("not reported", None, 1 << 30, SILENT),
        ] {
            let spoil = |m| {
                each_file(m, |i, file| {
                    file.size_bytes = size;
                    file.entropy_bits = if i > 4 { bits } else { file.entropy_bits };
                })
            };
            CHECK.expect([
                (name, spoil(rand_read(1)), expected),
                (name, spoil(disk("seq_write", 4096, "none")), expected),
            ]);
        }
    }
}
