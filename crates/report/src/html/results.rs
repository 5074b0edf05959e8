//! The pictures that the main results have on a page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::chart::{self, Figure};
use crate::view::{Picture, Results, ScreenPart};

/// The line of each row's rounds, by subsystem.
pub fn strips(results: &Results) -> BTreeMap<&'static str, Vec<String>> {
    let of_part = |p: &ScreenPart| p.rows.iter().map(|r| chart::strip(&r.rounds)).collect();
    results.parts.iter().map(|p| (p.subsystem, of_part(p))).collect()
}

/// The small pictures, by the part in whose column they are.
#[derive(Debug, Default, Serialize)]
pub struct Pictures {
    /// In their own.
    own: BTreeMap<&'static str, Vec<Figure>>,
    /// Where their own is the longest, below the shortest.
    guests: BTreeMap<&'static str, Vec<Figure>>,
}

/// The small pictures, each in its place.
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
