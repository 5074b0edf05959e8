//! `direct_refused`: direct I/O was asked for, and it went through the page cache.

use proofmark_model::{Finding, Measurement};

use super::{Check, Class, percent};
use crate::Context;
use crate::disk::{files, found_cached, measured};

pub(super) static CHECK: Check = Check {
    id: "direct_refused",
    class: Class::Claim,
    title: "Direct I/O refused",
    about: "Two tests of a file for direct I/O: whether the kernel reports it as open for direct I/O, \
         and whether the page cache held at most 1 % of it before later trials. proofmark evicts \
         the file at set-up, and direct I/O leaves nothing in the cache. Failing either is \
         invalid: some file systems drop the flag silently, others keep it and serve the I/O from \
         the page cache. A note if the kernel does not report the flag; page_cache still compares \
         the device's traffic. Use another file system, or measure buffered I/O under its own \
         name.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) || m.params.text("direct") != Some("on") {
        return None;
    }
    let advice = "use another file system, or measure buffered I/O (direct=off)";
    if files(m).any(|f| f.direct == Some(false)) {
        let message = "direct I/O was requested, but the file was open for buffered I/O";
        return Some(CHECK.invalid(message, advice));
    }
    let later = m.trials.iter().skip(1).filter_map(|t| found_cached(t.file.as_ref()?));
    if let Some(share) = later.max_by(f64::total_cmp) {
        let message = format!(
            "the file was open for direct I/O, but {} of it was in the page cache after a \
             trial: the file system served the I/O through the cache",
            percent(share)
        );
        let finding = CHECK.invalid(message, advice);
        return Some(finding.with("cached", share));
    }
    if files(m).any(|f| f.direct == Some(true)) {
        return None;
    }
    let message = "this system does not report whether I/O was direct";
    Some(CHECK.note(message, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_dropped_flag_and_pages_left_in_the_cache_are_invalid() {
        let reported = |m, direct| each_file(m, |_, f| f.direct = direct);
        CHECK.expect([
            ("dropped", reported(rand_read(1), Some(false)), INVALID),
            ("not reported", reported(rand_read(1), None), NOTE),
            ("no file", each(rand_read(1), |_, t| t.file = None), NOTE),
            ("buffered as asked", reported(disk("seq_read", 1, "cold"), Some(false)), SILENT),
        ]);
        let cached = |m: &Measurement, trial: usize, share: f64| {
            each_file(m.clone(), |i, f| {
                f.direct = Some(true);
                f.cached = if i == trial { Some(share) } else { f.cached };
            })
        };
        for m in [rand_read(1), disk("seq_write", 1 << 20, "none")] {
            CHECK.expect([
                ("a part", cached(&m, 1, 0.02), INVALID),
                ("all", cached(&m, 9, 1.0), INVALID),
                ("little", cached(&m, 9, 0.01), SILENT),
                ("no trial was before it", cached(&m, 0, 1.0), SILENT),
            ]);
        }
        let warm = disk("seq_read", 4096, "warm");
        CHECK.expect([("a warm cache", cached(&warm, 1, 1.0), SILENT)]);
    }
}
