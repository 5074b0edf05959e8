//! Colours of the terminal: the 8 standard ones, which every theme maps to its own.

use anstyle::{AnsiColor, Effects, Style};
use proofmark_model::{Severity, Verdict};

/// Paints text, or leaves it as it is.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    /// True if escape sequences are used at all.
    pub color: bool,
}

impl Paint {
    fn with(self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Paints a heading.
    pub fn bold(self, text: &str) -> String {
        self.with(Style::new().effects(Effects::BOLD), text)
    }

    /// Paints the source of a value.
    pub fn dim(self, text: &str) -> String {
        self.with(Style::new().effects(Effects::DIMMED), text)
    }

    /// Paints a finding's mark.
    pub fn severity(self, severity: Severity, text: &str) -> String {
        let style = match severity {
            Severity::Note | Severity::NotRun => Style::new(),
            Severity::Suspect => AnsiColor::Yellow.on_default(),
            Severity::Invalid => AnsiColor::Red.on_default().effects(Effects::BOLD),
        };
        self.with(style, text)
    }

    /// Paints a verdict in a table.
    pub fn verdict(self, verdict: Verdict, text: &str) -> String {
        let style = match verdict {
            Verdict::Valid => AnsiColor::BrightGreen.on_default(),
            // Wide intervals and missing results are neither good nor bad.
            Verdict::Coarse | Verdict::NoInterval | Verdict::NotRun => Style::new(),
            Verdict::Suspect => AnsiColor::BrightYellow.on_default(),
            Verdict::Invalid => AnsiColor::BrightRed.on_default(),
        };
        self.with(style, text)
    }
}
