//! `copied_column`: the same numbers in two columns.

use proofmark_model::{Finding, Severity};

use super::Rule;
use crate::{Figure, Sheet};

pub(super) const RULE: Rule = Rule {
    id: "copied_column",
    title: "copied column",
    about: "Two points whose trials are equal one by one (at least three different numbers) cannot \
            both have been measured. Fewer can agree by chance if the timer is coarse.",
    advice: "Look up both in the raw data; at least one of the two was not measured.",
    examine,
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let other = sheet.same_trial_of_equal_column(figure)?;
    let message = format!("all trials equal those of {} (line {})", other.operation, other.line);
    Some(RULE.finding(Severity::Suspect, message).with("line", other.line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn equal_columns_are_copies() {
        for (read, written, copied) in [
            ([1.5, 2.5, 3.5], [1.5, 2.5, 3.5], true),
            ([1.5, 2.5, 3.5], [1.5, 2.5, 3.6], false),
            ([1.5, 2.5, 3.5], [2.5, 1.5, 3.5], false),
            ([1.5, 2.5, 2.5], [1.5, 2.5, 2.5], false),
        ] {
            let column = |operation: &str, values: [f64; 3]| {
                [(1, values[0]), (2, values[1]), (3, values[2])]
                    .map(|(n, v)| format!("memory {operation} throughput {v} trial={n}"))
            };
            let rows = [column("r", read), column("w", written)].concat();
            assert_eq!(flagged(&RULE, MACHINE, &rows), [copied; 6], "{read:?} {written:?}");
        }
    }
}
