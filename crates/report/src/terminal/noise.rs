//! The noise of a run over time, one line of blocks per cause or placement.

use super::Page;
use crate::spark::blocks;
use crate::view::{Band, Lane, NOISE_COLUMNS, NoiseChart};

/// Columns of a lane's name, and of its share.
const NAME: usize = 18;
const SHARE: usize = 8;

impl Page {
    pub(super) fn noise(&mut self, noise: &NoiseChart) {
        self.blank();
        for group in &noise.groups {
            self.wrap("", 0, &format!("{}:", group.caption));
            group.lanes.iter().for_each(|lane| self.lane(lane, group.top));
        }
        self.bands(&noise.bands);
    }

    fn lane(&mut self, lane: &Lane, top: f64) {
        let columns = lane.columns.iter().map(|share| share.map(|s| s / top));
        let name: String = lane.name.chars().take(NAME).collect();
        let share = format!("{} %", lane.share);
        self.line(&format!("{name:<NAME$}{share:>SHARE$}  {}", blocks(columns)));
    }

    /// The names of the measured subsystems, each at its first column, where there is room.
    fn bands(&mut self, bands: &[Band]) {
        let mut text = String::new();
        for (i, band) in bands.iter().enumerate() {
            let ends = bands.get(i + 1).map_or(NOISE_COLUMNS, |next| next.columns[0]);
            let begins = band.columns[0];
            let is_free = text.chars().count() <= begins;
            if is_free && begins + band.name.chars().count() < ends {
                let filled = text.chars().count();
                text.push_str(&" ".repeat(begins - filled));
                text.push('|');
                text.push_str(&band.name);
            }
        }
        self.line(&format!("{}{text}", " ".repeat(NAME + SHARE + 2)));
    }

    /// A line without wrapping; a narrow terminal shows its beginning.
    fn line(&mut self, text: &str) {
        let fits: String = text.chars().take(self.width).collect();
        self.out.push_str(fits.trim_end());
        self.out.push('\n');
    }
}
