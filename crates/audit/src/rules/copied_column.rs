//! `copied_column`: equal numbers in two columns.

use proofmark_model::{Finding, Severity};

use super::{Examination, Rule};
use crate::{Figure, Sheet, Statistic};

pub(super) const RULE: Rule = Rule {
    id: "copied_column",
    title: "copied column",
    about: "Two points whose trials are equal one by one (at least three different numbers) cannot \
            both have been measured. Nor can the means, or the deviations, of two operations of a \
            tool that are equal at each block and number of threads. Numbers of so few digits that \
            fewer than 1000 columns can be written in their range may agree by chance, as those of \
            a full link do.",
    advice: "Look up both in the raw data; at least one of the two was not measured.",
    needs: "two columns with three different numbers or more",
    examination: Examination::FindFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let other = sheet.same_trial_of_equal_column(figure)?;
    let column = match figure.statistic {
        Statistic::Mean => "means",
        Statistic::Deviation => "deviations",
        Statistic::Most => "maxima",
        Statistic::Least => "minima",
        Statistic::Unstated | Statistic::Other => "figures",
        Statistic::Trial(_) => "trials",
    };
    let operation = &other.operation;
    let message = format!("all {column} equal those of {operation} (line {})", other.line);
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
            // A saturated link.
            ([941.0, 940.0, 942.0], [941.0, 940.0, 942.0], false),
            ([941.3, 940.2, 942.7], [941.3, 940.2, 942.7], true),
        ] {
            let column = |operation: &str, values: [f64; 3]| {
                [(1, values[0]), (2, values[1]), (3, values[2])]
                    .map(|(n, v)| format!("memory {operation} throughput {v} trial={n}"))
            };
            let rows = [column("r", read), column("w", written)].concat();
            assert_eq!(flagged(&RULE, MACHINE, &rows), [copied; 6], "{read:?} {written:?}");
        }
    }

    #[test]
    fn any_summary_may_be_a_copy() {
        for (trial, copied) in [("", true), ("max", true), ("min", true), ("p99", false)] {
            let column = |operation: &str| {
                [(1, 1.5), (2, 2.5), (4, 3.5)].map(|(n, v)| {
                    format!("memory {operation} throughput {v} threads={n} trial={trial}")
                })
            };
            let rows = [column("r"), column("w")].concat();
            assert_eq!(flagged(&RULE, MACHINE, &rows), [copied; 6], "{trial}");
        }
    }

    #[test]
    fn equal_deviations_of_two_operations_are_copies() {
        for (deviations, other, copied) in [
            (["1.5", "2.25", "0.75"], "w", true),
            (["1.5", "2.25", "0.7"], "w", false),
            // The trials of a fine clock may all be equal.
            (["0", "0", "0"], "w", false),
            (["1.5", "2.25", "0.75"], "w tool=y", false),
        ] {
            let column = |of: &str, deviations: [&str; 3]| {
                let (operation, others) = of.split_once(' ').unwrap_or((of, ""));
                [(8, deviations[0]), (64, deviations[1]), (512, deviations[2])].map(|(b, v)| {
                    format!("disk {operation} throughput {v} block={b} trial=sd {others}")
                })
            };
            let first = if deviations[0] == "0" { deviations } else { ["1.5", "2.25", "0.75"] };
            let rows = [column("r", first), column(other, deviations)].concat();
            assert_eq!(flagged(&RULE, MACHINE, &rows), [copied; 6], "{deviations:?} {other}");
        }
        // Numbers at other blocks form other columns.
        let rows = [(8, "r"), (64, "r"), (512, "r"), (16, "w"), (64, "w"), (512, "w")]
            .map(|(b, o)| format!("disk {o} throughput {} block={b} trial=mean", b.max(10)));
        assert_eq!(flagged(&RULE, MACHINE, &rows), [false; 6]);
    }
}
