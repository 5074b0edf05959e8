//! `copied_column`: the same numbers in two columns.

use proofmark_model::{Finding, Severity};

use super::Rule;
use crate::Sheet;

pub(super) const RULE: Rule = Rule {
    id: "copied_column",
    title: "copied column",
    about: "Two points whose trials are equal one by one (at least three different numbers) cannot \
            both have been measured. Fewer can agree by chance if the timer is coarse.",
    examine,
};

fn examine(sheet: &Sheet, index: usize) -> Option<Finding> {
    let other = sheet.same_trial_of_equal_column(index)?;
    Some(
        Finding::new(
            RULE.id,
            Severity::Suspect,
            format!("all trials equal those of {} (line {})", other.operation, other.line),
            "Look up both in the raw data; at least one of the two was not measured.",
        )
        .with("line", other.line),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    fn column(operation: &str, values: [f64; 3]) -> String {
        let row = |(n, v): (usize, &f64)| {
            format!("memory,x,{operation},throughput,8,1,{n},{v},MB/s,{v}e6,bytes/s\n")
        };
        values.iter().enumerate().map(row).collect()
    }

    #[test]
    fn equal_columns_are_copies() {
        let of = |a, b| flagged(&RULE, MACHINE, &(column("r", a) + &column("w", b)));
        assert_eq!(of([1.5, 2.5, 3.5], [1.5, 2.5, 3.5]), [true; 6]);
        assert_eq!(of([1.5, 2.5, 3.5], [1.5, 2.5, 3.6]), [false; 6]);
        assert_eq!(of([1.5, 2.5, 3.5], [2.5, 1.5, 3.5]), [false; 6]);
        assert_eq!(of([1.5, 2.5, 2.5], [1.5, 2.5, 2.5]), [false; 6]);
    }
}
