//! The matrix: a row for each file size and record size, a column for each test.
//!
//! A test that was left out is blank, so a number belongs to the column above it. The widths differ
//! by version, and a column ends where its title ends, with two exceptions. Some titles end one
//! character before their numbers. Version 3.507 prints one character less for a test that is left
//! out than for one that is not.

use proofmark_model::{Better, Trial, Unit};

use super::work::{KB, Mode, Scale, Sizes};
use crate::printed::rated;
use crate::text::{number, wrong_if};
use crate::{Figure, Malformed};

/// A limit above the number of columns in any version.
const MOST: usize = 40;

/// A test and the column of its numbers.
#[derive(Debug, PartialEq)]
struct Column {
    test: String,
    /// The maximum number of characters.
    width: usize,
    /// The end of the numbers, in bytes from the start of the line.
    end: usize,
}

#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<Column>,
}

impl Table {
    /// Reads the title of a matrix from two lines, if it is one.
    pub(super) fn parse(upper: &str, lower: &str, at: usize) -> Result<Option<Self>, Malformed> {
        let mut words = words(lower);
        let first = words.next().map(|(_, word)| word.to_ascii_lowercase());
        let reclen = words.next().filter(|(_, word)| *word == "reclen");
        let (Some("kb"), Some((mut before, _))) = (first.as_deref(), reclen) else {
            return Ok(None);
        };
        let titles: Vec<_> = words.take(MOST + 1).collect();
        if titles.is_empty() || titles.len() > MOST {
            return Err(Malformed::at(at, "a matrix has from 1 to 40 columns"));
        }
        let mut columns: Vec<Column> = Vec::with_capacity(titles.len());
        let mut title_before = before;
        for (i, (title, word)) in titles.iter().enumerate() {
            let above = self::words(upper).find(|(end, _)| end == title);
            let test = above.map_or((*word).to_owned(), |(_, above)| format!("{above} {word}"));
            let plain = |c: char| c.is_ascii_lowercase() || c == ' ';
            if !test.chars().all(plain) || columns.iter().any(|c| c.test == test) {
                let test = Malformed::excerpt(&test);
                let what = format!("column {test:?} is unknown, or there are two of it");
                let why = "if spaces were removed, give the text as IOzone prints it";
                return Err(Malformed::at(at, format!("{what}; {why}")));
            }
            // If the gap to the next title is wider by two, the numbers are centred under the
            // title.
            let next = titles.get(i + 1).map(|(next, _)| next - title);
            let short = next == Some(title - title_before + 2);
            let end = title + usize::from(short);
            columns.push(Column { test, width: end.saturating_sub(before), end });
            (before, title_before) = (end, *title);
        }
        Ok(Some(Self { columns }))
    }

    pub(super) fn row(&self, mode: &Mode, line: &str, at: usize) -> Result<Vec<Figure>, Malformed> {
        let mut words = words(line);
        let mut size = |what: &str| {
            let word = words.next().map_or("", |(_, word)| word);
            let bytes = word.parse().ok().and_then(|kb: u64| kb.checked_mul(KB));
            bytes.filter(|b| *b > 0).ok_or_else(|| Malformed::quoting(at, word, what))
        };
        let file = size("is no file size in kB")?;
        let record = size("is no record size in kB")?;
        let mut figures = Vec::new();
        let mut written = false;
        for (column, value) in self.cells(words, at)?.into_iter().filter(|(_, value)| *value > 0.0)
        {
            figures.push(figure(mode, &column.test, (file, record), (value, written), at)?);
            written |= column.test.contains("write");
        }
        Ok(figures)
    }

    /// Returns the numbers of a row, each with its column.
    fn cells<'a>(
        &self,
        words: impl Iterator<Item = (usize, &'a str)>,
        at: usize,
    ) -> Result<Vec<(&Column, f64)>, Malformed> {
        let mut fields: Vec<(usize, &str)> = Vec::new();
        for (end, word) in words.take(MOST + 1) {
            self.split(end, word, &mut fields);
        }
        wrong_if(fields.len() > self.columns.len(), at, "more numbers than columns")?;
        let full = fields.len() == self.columns.len();
        let mut cells: Vec<(&Column, f64)> = Vec::with_capacity(fields.len());
        let mut next = 0;
        for (placed, (end, word)) in fields.into_iter().enumerate() {
            let here = if full { Some(placed) } else { self.under(end, next, placed) };
            let Some((here, column)) = here.and_then(|i| Some((i, self.columns.get(i)?))) else {
                return Err(Malformed::quoting(at, word, "is not under a column"));
            };
            next = here + 1;
            cells.push((column, number(word, at)?));
        }
        Ok(cells)
    }

    /// Splits numbers that touch because they fill their columns.
    fn split<'a>(&self, end: usize, word: &'a str, fields: &mut Vec<(usize, &'a str)>) {
        let (mut end, mut word, first) = (end, word, fields.len());
        while let Some(column) = self.columns.iter().find(|c| c.end == end) {
            let cut = word.len().checked_sub(column.width).filter(|cut| *cut > 0);
            let Some((left, right)) = cut.and_then(|cut| word.split_at_checked(cut)) else { break };
            fields.insert(first, (end, right));
            (end, word) = (end - column.width, left);
        }
        fields.insert(first, (end, word));
    }

    /// Finds the column of a number that ends at `end`, from column `next` on. `placed` numbers
    /// come before it.
    fn under(&self, end: usize, next: usize, placed: usize) -> Option<usize> {
        let near = |(i, column): &(usize, &Column)| {
            column.end.checked_sub(end).is_some_and(|off| off <= i - placed)
        };
        self.columns.iter().enumerate().skip(next).find(near).map(|(i, _)| i)
    }
}

fn figure(
    mode: &Mode,
    test: &str,
    (file, record): (u64, u64),
    (value, written): (f64, bool),
    at: usize,
) -> Result<Figure, Malformed> {
    let sizes = Sizes { file, record: Some(record), processes: 1 };
    let rate = match mode.scale {
        Scale::Kb => value * KB as f64,
        Scale::Operations => value * record as f64,
        Scale::Microseconds => record as f64 / (value * 1e-6),
    };
    let trial_of_bytes = rated(Unit::BytePerSecond, file as f64, rate, at)?;
    let seconds = trial_of_bytes.seconds;
    let figure = mode.figure(test, sizes, trial_of_bytes, written);
    if mode.scale != Scale::Microseconds {
        return Ok(figure);
    }
    let records = file as f64 / record as f64;
    Ok(Figure {
        test: format!("{test}.time").into(),
        unit: Unit::Second,
        better: Better::Lower,
        trials: vec![Trial::new(Unit::Second, records, seconds)],
        ..figure
    })
}

/// Returns the words of a line, each with its end.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    line.split(' ').filter_map(move |word| {
        let end = at + word.len();
        at = end + 1;
        (!word.is_empty()).then_some((end, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPPER: &str = "                                                              random    random     bkwd    record    stride";
    const LOWER: &str = "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread";
    const UPPER_OLD: &str = "                                                            random  random    bkwd   record   stride";
    const LOWER_OLD: &str = "              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread";

    fn table(upper: &str, lower: &str) -> Table {
        Table::parse(upper, lower, 1).unwrap().unwrap()
    }

    fn cells(table: &Table, row: &str) -> Result<Vec<(String, f64)>, Malformed> {
        let cells = table.cells(words(row).skip(2), 7)?;
        Ok(cells.into_iter().map(|(c, v)| (c.test.clone(), v)).collect())
    }

    fn expect(cells: &[(&str, f64)]) -> Vec<(String, f64)> {
        cells.iter().map(|(t, v)| ((*t).to_owned(), *v)).collect()
    }

    #[test]
    fn columns_end_where_their_numbers_do() {
        let ends = |t: &Table| t.columns.iter().map(|c| c.end).collect::<Vec<_>>();
        let found = ends(&table(UPPER, LOWER));
        assert_eq!(found, [33, 42, 51, 60, 69, 78, 87, 97, 107, 116, 125, 134, 143]);
        // Rows of older versions, such as 3.397.
        let found = ends(&table(UPPER_OLD, LOWER_OLD));
        assert_eq!(found, [32, 40, 49, 58, 66, 74, 82, 91, 100, 109, 118, 126, 135]);
        let tests: Vec<_> = table(UPPER, LOWER).columns.into_iter().map(|c| c.test).collect();
        assert_eq!(
            tests[2..9].join(","),
            "read,reread,random read,random write,bkwd read,record rewrite,stride read"
        );
    }

    #[test]
    fn numbers_that_touch_are_taken_apart() {
        let row = format!("{:16}{:8}{:9}{:9}{:9}{:9}", 128, 4, 1234, 128_000_000, 256_000_000, 7);
        assert!(row.contains("128000000256000000"));
        let expected = [("write", 1234.0), ("rewrite", 128e6), ("read", 256e6), ("reread", 7.0)];
        assert_eq!(cells(&table(UPPER, LOWER), &row).unwrap(), expect(&expected));
    }

    #[test]
    fn numbers_that_overflow_their_columns_are_refused() {
        let row = format!("{:16}{:8}{:9}{:9}{:9}", 128, 4, 1234, 1_280_000_000_u64, 5);
        assert_eq!(cells(&table(UPPER, LOWER), &row).unwrap_err().line, 7);
    }

    #[test]
    fn a_number_may_be_left_by_the_tests_left_out() {
        let row = |left: usize| format!("{:16}{:8}{:9}{:left$}", 512, 64, 5, 6, left = 36 - left);
        let table = table(UPPER, LOWER);
        for left in 0..=3 {
            let expected = expect(&[("write", 5.0), ("random read", 6.0)]);
            assert_eq!(cells(&table, &row(left)).unwrap(), expected, "{left}");
        }
        assert!(cells(&table, &row(4)).is_err(), "three are left out");
        assert!(cells(&table, &format!("{}  7", row(3))).is_err(), "two in one column");
        assert!(cells(&table, &format!("{} ", row(0)).replacen("5 ", "5  ", 1)).is_err());
    }

    #[test]
    fn a_full_row_needs_no_place() {
        let row = "64 4 1 2 3 4 5 6 7 8 9 10 11 12 13";
        assert_eq!(cells(&table(UPPER, LOWER), row).unwrap().len(), 13);
        assert!(cells(&table(UPPER, LOWER), &format!("{row} 14")).is_err());
    }

    #[test]
    fn titles_that_name_no_test_are_refused() {
        let many: String = ('a'..='z').flat_map(|c| [format!(" {c}"), format!(" z{c}")]).collect();
        let many = format!("kB reclen{many}");
        for lower in ["kB reclen", "kB reclen read read", "kB reclen re4d", &many] {
            assert_eq!(Table::parse("", lower, 3).unwrap_err().line, 3, "{lower}");
        }
        assert!(Table::parse("", "kB write", 3).unwrap().is_none());
    }
}
