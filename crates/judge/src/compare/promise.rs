//! What the intervals of a comparison say of the variation between runs, in a sentence or two.

use proofmark_model::{ComparedFigure, ComparedPoint, ComparedRuns, counted};

/// Why the intervals have no variation between runs.
const UNKNOWN: &str = "The variation between runs of these machines is not known, nor is how often \
    chance alone shows a difference. To estimate both, compare several alternating runs of each (compare \
    A1 A2 A3 A4 -- B1 B2 B3 B4).";

/// Writes the sentences; empty where no figure was compared.
pub(super) fn write(points: &[ComparedPoint], letters: [char; 2]) -> String {
    let figures = points.iter().flat_map(|p| p.headline.iter().chain(&p.delivered));
    let (known, unknown): (Vec<&ComparedFigure>, Vec<_>) =
        figures.partition(|f| f.between_runs.is_some());
    if known.is_empty() {
        return if unknown.is_empty() { String::new() } else { UNKNOWN.to_owned() };
    }
    let most = |of: fn(&ComparedRuns) -> [u64; 2]| {
        let each = known.iter().filter_map(|f| Some(of(f.between_runs.as_ref()?)));
        each.fold([0, 0], |most, one| [most[0].max(one[0]), most[1].max(one[1])])
    };
    let (runs, earlier) = (most(|r| r.runs), most(|r| r.earlier));
    let side = |side: usize| {
        let earlier = match earlier[side] {
            0 => String::new(),
            n => format!(", {n} earlier"),
        };
        format!("{}: {}{earlier}", letters[side], counted(runs[side], "run"))
    };
    let among = match known.len() as u64 {
        1 => "in this figure".to_owned(),
        n => format!("among these {}", counted(n, "figure")),
    };
    let rest = match unknown.len() as u64 {
        0 => String::new(),
        n => format!(" For {} that rate is not known.", counted(n, "more figure")),
    };
    format!(
        "Intervals include the variation between runs ({}; {}). Of equal machines, at most 1 comparison \
         in 20 shows a difference {among}.{rest}",
        side(0),
        side(1),
    )
}
