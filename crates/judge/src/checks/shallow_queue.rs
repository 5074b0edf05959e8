//! `shallow_queue`: threads had fewer I/Os in flight than the queue depth says.

use proofmark_model::{Finding, Measurement, key, word};

use super::{Check, Class, Examine, percent};
use crate::Context;

/// Smallest share of the queue depth that is in flight. An engine that refills the queue as soon as
/// it sees a completion reaches 0.97 and more.
const FULL: f64 = 0.9;

pub(super) static CHECK: Check = Check {
    id: "shallow_queue",
    class: Class::Context,
    title: "Queue not full",
    about: "Compares the queue depth of direct I/O with the I/Os that each thread had in flight on \
         average (Little's law: rate x mean latency). An I/O is in flight from right before its \
         submission until the thread sees its completion. Less than 90 % of the depth is a note: \
         the rate and the times are those of a smaller depth. The thread may be busy with the data \
         of the blocks, other programs may take its CPU, or a trial may have few I/Os. Use smaller \
         blocks or more threads, or longer trials.",
    examine: Examine::Ours(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    // With one I/O at a time, the next is prepared after the last; every program does so.
    let depth = m.params.get(key::QUEUE_DEPTH).filter(|depth| *depth > 1)?;
    if m.params.get(key::DIRECT) != Some(word::ON) {
        return None;
    }
    let in_flight = m.in_flight()?;
    let share = in_flight / depth as f64;
    if share >= FULL {
        return None;
    }
    let message = format!(
        "{} thread had {in_flight:.1} of {depth} I/Os in flight on average, {} of the queue depth: \
         rate and times are those of a smaller depth",
        if m.params.threads() > 1 { "each" } else { "the" },
        percent(share)
    );
    let advice = "use more threads, smaller blocks or longer trials";
    Some(CHECK.note(message, advice).with("in_flight", in_flight).with("queue_depth", depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn holding(m: Measurement, share: f64) -> Measurement {
        let depth = m.params.get(key::QUEUE_DEPTH).unwrap() as f64;
        each_file(m, |_, file| file.in_flight = Some(share * depth))
    }

    #[test]
    fn a_queue_that_is_not_full_is_noted_with_its_depth() {
        let less =
            note("^the thread had 28.0 of 32 I/Os in flight on average, 87.5 % of the queue depth");
        let unknown = each_file(rand_read(32), |_, file| file.in_flight = None);
        let one_trial = each_file(rand_read(32), |i, file| {
            file.in_flight = Some(if i == 0 { 3.0 } else { 31.5 });
        });
        let buffered = |m: Measurement| {
            let params = m.params.clone().with(key::DIRECT, word::OFF);
            Measurement { params, ..m }
        };
        CHECK.expect([
            ("less", holding(rand_read(32), 0.875), less),
            ("nearly full", holding(rand_read(32), 0.91), SILENT),
            ("a depth of two", holding(rand_read(2), 0.6), NOTE),
            ("one I/O at a time", holding(rand_read(1), 0.5), SILENT),
            ("in one trial", one_trial, SILENT),
            ("through the page cache", buffered(holding(rand_read(32), 0.5)), SILENT),
            ("an older run file", unknown, SILENT),
        ]);
    }
}
