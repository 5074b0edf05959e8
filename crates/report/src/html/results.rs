//! Pictures of the main results on a page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::chart::{self, Figure};
use crate::view::{Picture, Results, ScreenPart};

/// The lines of each row's rounds, by subsystem.
pub fn strips(results: &Results) -> BTreeMap<&'static str, Vec<String>> {
    let of_part =
        |p: &ScreenPart| p.rows.iter().map(|r| chart::strip(&r.rounds, results.spread)).collect();
    results.parts.iter().map(|p| (p.subsystem, of_part(p))).collect()
}

/// The small pictures, by the part in whose column they are placed.
#[derive(Debug, Default, Serialize)]
pub struct Pictures {
    /// Pictures in the column of their own part.
    own: BTreeMap<&'static str, Vec<Figure>>,
    /// Pictures of a part with the longest column, below the shortest column.
    guests: BTreeMap<&'static str, Vec<Figure>>,
}

/// Draws the small pictures and assigns each to a column.
pub fn pictures(results: &Results, draw: impl Fn(&Picture) -> Figure) -> Pictures {
    let mut all = Pictures::default();
    let mut rows: Vec<(&'static str, usize)> =
        results.parts.iter().map(|p| (p.subsystem, p.rows.len())).collect();
    for picture in &results.pictures {
        let longest = rows.iter().map(|(_, n)| *n).max();
        let own = |row: &(&str, usize)| row.0 == picture.subsystem && Some(row.1) < longest;
        let at = rows.iter().position(own);
        let shortest = || (0..rows.len()).min_by_key(|i| rows[*i].1);
        let Some(at) = at.or_else(shortest) else { continue };
        // A picture takes the room of two rows.
        rows[at].1 += 2;
        let side = if rows[at].0 == picture.subsystem { &mut all.own } else { &mut all.guests };
        side.entry(rows[at].0).or_default().push(draw(picture));
    }
    all
}
