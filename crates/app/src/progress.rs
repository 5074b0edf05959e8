//! Progress on standard error. A terminal shows a bar, with the last samples of a series. Elsewhere
//! each finished configuration has a line, and a series has one from time to time. Programs get JSON
//! lines.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofmark_model::{Ending, RawMeasurement, Trial, clean, counted, format_seconds};
use proofmark_report::view::Scale;
use proofmark_run::{Event, Observer, Step, Title};

use crate::cli::ProgressMode;
use crate::text::{ascii, is_ascii_only, progress_mode, say};

pub mod events;
mod live;
mod noise;

use events::Events;
use live::Live;
use noise::Noise;

/// Length of the bar. It shows time, since configurations take turns and end together.
const SCALE: u64 = 1000;
const BAR: usize = 16;
/// Columns after the bar of a run that shows what takes time: ` 25 s left  `.
const NOISE_PREFIX: usize = 14;

/// Progress without a bar.
enum Lines {
    /// A bar is shown instead.
    Bar,
    Plain,
    Nothing,
    Json(Events),
}

pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    estimate: Duration,
    /// Titles of the configurations, by place: first the planned ones.
    titles: Vec<Title>,
    planned: usize,
    /// The form of the lines where there is no bar.
    lines: Lines,
    samples: RefCell<Live>,
    /// The display of what takes time, instead of the figures.
    noise: Option<RefCell<Noise>>,
}

impl Progress {
    /// Starts the progress of a run with these titles of configurations, the first `planned` of
    /// which take about `estimate_s` seconds. With `noise` it shows what takes time from the threads.
    pub fn new(titles: Vec<Title>, planned: usize, estimate_s: f64, noise: bool) -> Self {
        let mode = progress_mode();
        let target = match mode {
            ProgressMode::Auto => ProgressDrawTarget::stderr_with_hz(4),
            _ => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(SCALE), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:16} {prefix}  {wide_msg}") {
            bar.set_style(if is_ascii_only() { style.progress_chars("##-") } else { style });
        }
        let lines = match mode {
            ProgressMode::Jsonl => Lines::Json(Events::new(planned, estimate_s)),
            ProgressMode::None => Lines::Nothing,
            _ if bar.is_hidden() => Lines::Plain,
            _ => Lines::Bar,
        };
        Self {
            bar,
            started: Instant::now(),
            estimate: Duration::from_secs_f64(estimate_s),
            titles,
            planned,
            lines,
            samples: RefCell::default(),
            noise: noise.then(RefCell::default),
        }
    }

    fn title(&self, place: usize) -> &str {
        self.titles.get(place).map_or("", |title| &title.whole)
    }

    fn step(&self, step: &Step) {
        let Step { event, done, .. } = *step;
        let (m, line) = (step.measurement(), describe(step, self.title(step.place)));
        if !matches!(self.lines, Lines::Bar) {
            if matches!(self.lines, Lines::Plain) && event == Event::Done {
                say(&format!("[{done}/{}] {line}", self.planned.max(done)));
            }
            return;
        }
        let (elapsed, points) = (self.started.elapsed(), self.planned.max(done));
        let left = self.estimate.saturating_sub(elapsed).as_secs_f64().max(1.0);
        let part = elapsed.as_secs_f64() / self.estimate.as_secs_f64().max(1e-3);
        self.bar.set_position((part.min(0.99) * SCALE as f64) as u64);
        let prefix = format!("{done}/{points} done, about {} left", format_seconds(left));
        let taken = self.noise.as_ref().and_then(|noise| {
            let mut noise = noise.borrow_mut();
            noise.add(&m.trials);
            noise.line(width().saturating_sub(BAR + NOISE_PREFIX))
        });
        match taken {
            Some(taken) => {
                self.bar.set_prefix(format!("{:>4} left", format_seconds(left)));
                self.bar.set_message(shown(&taken));
            }
            None => {
                self.bar.set_prefix(prefix);
                self.bar.set_message(shown(&line));
            }
        }
    }

    /// Shows a sample that began `at_s` seconds after its series.
    fn sampled(&self, step: &Step, at_s: f64, sample: &Trial) {
        let (m, title) = (step.measurement(), self.title(step.place));
        let Some(series) = &m.series else { return };
        let mut live = self.samples.borrow_mut();
        live.add(series, sample.value);
        let done_s = at_s + series.every_s;
        let time = format!("{} of {}", format_seconds(done_s), format_seconds(series.for_s));
        if !matches!(self.lines, Lines::Bar) {
            if matches!(self.lines, Lines::Plain) && live.line_is_due(series, done_s) {
                say(&format!("[{time}] {}: {}", live.figures(m), title));
            }
            return;
        }
        self.bar.set_position((done_s / series.for_s * SCALE as f64) as u64);
        let room = width().saturating_sub(BAR + time.chars().count() + 6);
        self.bar.set_message(shown(&live.line(m, title, room)));
        self.bar.set_prefix(time);
    }

    /// Prints a message above the bar.
    pub fn say(&self, text: &str) {
        match self.lines {
            Lines::Bar => self.bar.println(shown(&format!("proofmark: {text}"))),
            _ => say(&format!("proofmark: {text}")),
        }
    }

    pub fn finish(&self) {
        if let Lines::Json(events) = &self.lines {
            events.finish();
        }
        self.bar.finish_and_clear();
    }
}

impl Observer for &Progress {
    fn observe(&mut self, step: &Step) {
        if let Lines::Json(events) = &self.lines {
            return events.step(step);
        }
        match step.event {
            Event::Sample { at_s, trial } => self.sampled(step, at_s, trial),
            Event::Pair { turn, of, tool } => {
                let title = self.title(step.place);
                let pair = format!("pair {turn} of {of} with {tool}: {title}");
                self.bar.set_message(shown(&pair));
            }
            Event::Paired { taken, of, tool } if matches!(self.lines, Lines::Plain) => {
                let part = if taken < of { format!("{taken} of ") } else { String::new() };
                let pairs = counted(of as u64, "pair");
                say(&format!("{part}{pairs} with {tool}: {}", self.title(step.place)));
            }
            Event::Paired { .. } => {}
            Event::SetUp | Event::Warm | Event::Trial | Event::Done => {
                self.step(step);
            }
        }
    }
}

/// Text for the bar, without control characters, in signs that the terminal has.
fn shown(text: &str) -> String {
    ascii(&clean(text)).into_owned()
}

fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(w, _)| usize::from(w.0))
}

/// The scale on which the report's tables show such a result.
fn scale(m: &RawMeasurement, largest: f64) -> Scale {
    let spec = proofmark_workloads::find(&m.workload).map(|w| w.spec());
    let random = spec.is_some_and(|spec| spec.work.is_random());
    Scale::for_result([largest], m.unit, (m.subsystem, random), &m.params)
}

/// Describes a step: `66.12 GFLOP/s after 6 trials: FP peak, 1 CPU, avx2`. The figure is first,
/// since a narrow terminal cuts the end off.
fn describe(step: &Step, title: &str) -> String {
    let m = step.measurement();
    let state = match (&m.ending, step.event) {
        (Ending::Crashed { .. }, _) => "crashed".to_owned(),
        (Ending::Refused { reason }, _) => format!("refused ({reason})"),
        (Ending::LeftOut { .. }, _) => "left out for the time limit".to_owned(),
        (Ending::Limited { limit, .. }, _) => format!("ended by {}", limit.cause()),
        (Ending::Unverified { .. }, _) => "wrong result".to_owned(),
        (_, Event::SetUp) => "setting up".to_owned(),
        (_, Event::Warm) => "warming up".to_owned(),
        _ => match step.summary() {
            Some(s) => {
                let rounds: usize = m.trials.iter().map(|t| t.rounds.len()).sum();
                let after = match (m.series.is_some(), rounds) {
                    (true, _) => counted(s.trials.n, "sample"),
                    (false, 0) => counted(s.trials.n, "trial"),
                    (false, rounds) => counted(rounds as u64, "round"),
                };
                match s.figure(s.headline).value {
                    Some(value) => {
                        let shown = scale(m, value).with_label(value).unwrap_or_default();
                        format!("{shown} after {after}")
                    }
                    None => format!("no undisturbed time after {after}"),
                }
            }
            None => "not measured".to_owned(),
        },
    };
    format!("{state}: {title}")
}
