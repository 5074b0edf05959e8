//! Prices of machines (`--price A=0.17/h`).

use proofmark_model::{Price, clean_excerpt, or_list};

/// Periods of a price, with their hours. A month is a twelfth of a year of 365 days, as in the
/// price lists of clouds.
const PERIODS: [(&str, f64); 8] = [
    ("h", 1.0),
    ("hour", 1.0),
    ("d", 24.0),
    ("day", 24.0),
    ("month", 730.0),
    ("mo", 730.0),
    ("y", 8760.0),
    ("year", 8760.0),
];
/// Most characters of a currency.
const LONGEST: usize = 5;

const FORM: &str = "write RUN=AMOUNT/h, as in A=0.17/h or B=95USD/month";

/// Reads the prices of all runs; `None` if there is no price. A price names its run by letter (A is
/// the first), by position, by label or host name, or as on the command line. Prices without a name
/// belong to the runs in their order.
pub fn prices(
    typed: &[String],
    runs: &[String],
    labels: &[&str],
) -> Result<Option<Vec<Price>>, String> {
    if typed.is_empty() {
        return Ok(None);
    }
    let mut found: Vec<Option<Price>> = vec![None; runs.len()];
    for text in typed {
        let bad = |why: String| format!("--price {text}: {why}");
        let (name, amount) = match text.rsplit_once('=') {
            Some((name, amount)) => (Some(name.trim()), amount),
            None => (None, text.as_str()),
        };
        let price = price(amount).map_err(bad)?;
        let at = match name {
            Some(name) => named(name, runs, labels).map_err(bad)?,
            None => found.iter().position(Option::is_none).unwrap_or(runs.len()),
        };
        let slot =
            found.get_mut(at).ok_or_else(|| bad("there are fewer runs than prices".into()))?;
        if slot.replace(price).is_some() {
            return Err(bad("this run has two prices".into()));
        }
    }
    let missing = found.iter().position(Option::is_none);
    if let Some(at) = missing {
        let letter = letter(at);
        return Err(format!("no price of {letter} ({}); add --price {letter}=AMOUNT/h", runs[at]));
    }
    let all: Vec<Price> = found.into_iter().flatten().collect();
    match all.iter().find(|p| p.currency != all[0].currency) {
        None => Ok(Some(all)),
        Some(other) => {
            let named = |p: &Price| match p.currency.as_str() {
                "" => "no currency".to_owned(),
                currency => format!("'{currency}'"),
            };
            Err(format!(
                "--price: one price is in {}, another in {}; give all in one currency",
                named(&all[0]),
                named(other)
            ))
        }
    }
}

fn letter(at: usize) -> char {
    ('A'..='Z').nth(at).unwrap_or('?')
}

/// The run that a name stands for.
fn named(name: &str, runs: &[String], labels: &[&str]) -> Result<usize, String> {
    let by_letter = (0..runs.len()).find(|i| name.eq_ignore_ascii_case(&letter(*i).to_string()));
    let by_position = name.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let by_label: Vec<usize> = (0..runs.len()).filter(|i| labels[*i] == name).collect();
    let by_path = runs.iter().position(|run| run == name);
    match (by_letter, by_label.as_slice(), by_path) {
        (Some(at), ..) | (None, _, Some(at)) => Ok(at),
        (None, [at], None) => Ok(*at),
        (None, [_, _, ..], None) => {
            let all: Vec<String> = by_label.iter().map(|i| letter(*i).to_string()).collect();
            Err(format!("several runs are named '{name}'; write {}", or_list(all)))
        }
        (None, [], None) => {
            let all = (0..runs.len()).map(|i| format!("{} ({})", letter(i), runs[i]));
            by_position
                .filter(|at| *at < runs.len())
                .ok_or_else(|| format!("no run '{name}'; write {}", or_list(all)))
        }
    }
}

/// Reads an amount with its period and currency: `0.17`, `0.17/h`, `$0.17/h`, `95 EUR/month`.
fn price(text: &str) -> Result<Price, String> {
    let (amount, period) = match text.split_once('/') {
        Some((amount, period)) => (amount.trim(), period.trim()),
        None => (text.trim(), "h"),
    };
    let hours = PERIODS.iter().find(|(word, _)| *word == period).map(|(_, hours)| *hours);
    let hours = hours.ok_or_else(|| {
        let known = PERIODS.iter().map(|(word, _)| *word);
        format!("no period '{period}'; write {}", or_list(known))
    })?;
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let from = amount.find(is_number).ok_or(FORM)?;
    let upto = amount.rfind(is_number).map_or(amount.len(), |i| i + 1);
    let number: f64 = amount[from..upto].parse().map_err(|_| {
        format!(
            "'{}' is no number; write 0.17, with a point and without spaces",
            &amount[from..upto]
        )
    })?;
    let [before, after] = [&amount[..from], &amount[upto..]].map(str::trim);
    let currency = if before.is_empty() { after } else { before };
    let sign = currency.chars().all(|c| !c.is_ascii_digit() && !"-+/=.,".contains(c));
    let fits = clean_excerpt(currency, LONGEST) == currency && sign;
    if !fits || !before.is_empty() && !after.is_empty() {
        return Err(format!("'{amount}' is no amount; {FORM}"));
    }
    let per_hour = number / hours;
    match per_hour.is_normal() && (1e-9..1e9).contains(&per_hour) {
        true => Ok(Price { per_hour, currency: currency.to_owned() }),
        false => Err(format!("a price is above 0; {FORM}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(typed: &[&str]) -> Result<Vec<(f64, String)>, String> {
        let typed: Vec<String> = typed.iter().map(|t| (*t).to_owned()).collect();
        let runs = ["old".to_owned(), "runs/new".to_owned()];
        let all = prices(&typed, &runs, &["web-1", "web-2"])?.unwrap();
        Ok(all.into_iter().map(|p| (p.per_hour, p.currency)).collect())
    }

    #[test]
    fn a_price_names_its_run_by_letter_position_label_or_path() {
        let both = Ok([0.17, 0.14].map(|p| (p, String::new())).to_vec());
        for typed in [
            ["A=0.17/h", "B=0.14/h"],
            ["b=0.14", "a=0.17"],
            ["0.17", "0.14/hour"],
            ["2=0.14/h", "1=0.17/h"],
            ["web-1=0.17", "web-2=0.14"],
            ["old=0.17", "runs/new=0.14"],
            ["B=0.14/h", "0.17/h"],
        ] {
            assert_eq!(two(&typed), both, "{typed:?}");
        }
    }

    #[test]
    fn currencies_and_periods_are_read() {
        let read = |text: &str| price(text).map(|p| (p.per_hour, p.currency));
        for (text, per_hour, currency) in [
            ("$0.17/h", 0.17, "$"),
            ("0.17 EUR/h", 0.17, "EUR"),
            ("0.17\u{20ac}", 0.17, "\u{20ac}"),
            ("USD 24/day", 1.0, "USD"),
            ("73/month", 0.1, ""),
            ("876 / year", 0.1, ""),
        ] {
            let (found, sign) = read(text).unwrap();
            assert!((found - per_hour).abs() < 1e-12 && sign == currency, "{text}: {found} {sign}");
        }
        for bad in
            ["", "/h", "0/h", "-1/h", "1,50/h", "1e999", "$1\u{20ac}/h", "1/week", "NaN", "A"]
        {
            assert!(price(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn mistakes_are_named_with_what_to_write() {
        for (typed, words) in [
            (&["A=0.17/h"][..], "no price of B (runs/new); add --price B=AMOUNT/h"),
            (&["A=1", "A=2"], "this run has two prices"),
            (&["A=$1", "B=1\u{20ac}"], "one price is in '$', another in '\u{20ac}'"),
            (&["A=$1", "B=1"], "another in no currency; give all in one currency"),
            (&["1", "2", "3"], "there are fewer runs than prices"),
            (&["C=1", "A=1"], "no run 'C'; write A (old) or B (runs/new)"),
            (&["A=1/week", "B=1"], "no period 'week'; write h, hour, d, day, month, mo, y or year"),
        ] {
            let error = two(typed).unwrap_err();
            assert!(error.contains(words), "{typed:?}: {error}");
        }
        let runs = ["x".to_owned(), "y".to_owned()];
        let error = prices(&["vm=1".to_owned()], &runs, &["vm", "vm"]).unwrap_err();
        assert!(error.contains("several runs are named 'vm'; write A or B"), "{error}");
        assert_eq!(prices(&[], &runs, &["vm", "vm"]), Ok(None));
    }
}
