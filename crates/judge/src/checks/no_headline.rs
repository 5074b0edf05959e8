//! `no_headline`: the run had too little undisturbed time to show what the hardware does.

use proofmark_model::{Finding, Measurement};

use super::{Check, Class, Examine};
use crate::Context;

pub(super) static CHECK: Check = Check {
    id: "no_headline",
    class: Class::claim("the run's own speed is measured; that of undisturbed hardware is unknown"),
    title: "No headline figure",
    about: "Attainable and typical figures need 20 ms of windows in which nothing was taken. With \
         less, the result has no headline figure, and no other figure replaces it. The result is \
         suspect. Its delivered figure, all work / all time, has its own column. Repeat when other \
         load is gone, or without the CPU quota.",
    examine: Examine::Ours(check),
};

fn check(_: &Context, m: &Measurement) -> Option<Finding> {
    let summary = m.summary.as_ref()?;
    let figure = summary.figure(summary.headline);
    if figure.value.is_some() {
        return None;
    }
    let why = figure.missing.as_deref().unwrap_or("no reason was recorded");
    let message = format!("no {} figure: {why}", summary.headline.as_str());
    let advice = "repeat when other load is gone, or without the CPU quota; the delivered figure is \
                  what this run got";
    Some(CHECK.suspect(message, advice))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Cut, Round, Unit, Verdict, summarise_trials};

    use super::*;
    use crate::testing::*;

    /// A result of a busy machine, with that many seconds of clean windows per round.
    fn busy(clean_s: f64) -> Measurement {
        let m = each(flops(1), |_, t| {
            let round =
                Round { seconds: t.seconds, delivered: t.value, clean_s, ..Round::default() };
            t.rounds = vec![Round { typical: Some(t.value), attainable: Some(t.value), ..round }];
        });
        let summary = summarise_trials(Cut::Core, Unit::FlopPerSecond, &m.trials, true);
        Measurement { summary, ..m }
    }

    #[test]
    fn too_little_clean_time_makes_a_result_suspect_and_gives_it_no_other_headline() {
        CHECK.expect([
            (
                "1 ms in all",
                busy(1e-4),
                suspect("^no attainable figure: undisturbed time ... 1.0 ms"),
            ),
            ("1 s in all", busy(0.1), SILENT),
            ("nothing at all", Measurement { summary: None, trials: vec![], ..flops(1) }, SILENT),
        ]);
        let m = judged(&host(), busy(1e-4), &[]);
        assert_eq!((m.verdict, m.efficiency), (Verdict::Suspect, None), "{:?}", m.findings);
        let s = m.summary.unwrap();
        assert!(s.value().is_nan() && s.ci95().is_none() && s.delivered.value.is_some());
    }
}
