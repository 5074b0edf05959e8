//! What follows from the figures. Each sentence is made from a [`Claim`], whose numbers are those
//! of the tables, so that no sentence can say what its table does not.
//!
//! An invalid number is in no sentence, and a suspect one bears its name. One number is called greater than another only where their intervals do not overlap, or,
//! where a fixed number of trials gives none, where every trial of the one lies above every trial
//! of the other.

mod claim;
mod drawn;

use serde::Serialize;

pub use self::claim::{Claim, Figure, Says};
use super::label::Group;
use super::part;

/// What follows from one subsystem's figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conclusion {
    /// `cpu`, `memory`, `disk` or `network`.
    pub subsystem: &'static str,
    /// The same for people: `CPU`.
    pub title: &'static str,
    /// The sentences.
    pub claims: Vec<Claim>,
}

/// The conclusions of a run; no subsystem without a sentence.
pub fn draw(groups: &[Group]) -> Vec<Conclusion> {
    let parts = part::each(groups).into_iter().map(|(part, all)| {
        let claims = drawn::claims(&all);
        Conclusion { subsystem: part.as_str(), title: part.title(), claims }
    });
    parts.filter(|c| !c.claims.is_empty()).collect()
}
