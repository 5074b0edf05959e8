//! Texts and lists, whose pieces differ in tone.

use proofmark_model::Verdict;
use serde::{Serialize, Serializer};

use crate::view::table::Term;

/// The weight of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Style {
    /// Ordinary text.
    #[default]
    Plain,
    /// Text of less weight.
    Quiet,
    /// A warning that a reader must not miss.
    Warning,
    /// The summary of the verdicts, with the id of the verdict whose colour repeats it.
    Verdict(&'static str),
}

/// Paragraphs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Text {
    /// The weight of the text.
    pub style: Style,
    /// The paragraphs, each on its own line.
    pub paragraphs: Vec<Rich>,
}

impl Text {
    /// Paragraphs of that style; empty ones are left out.
    pub fn new(style: Style, paragraphs: impl IntoIterator<Item = impl Into<Rich>>) -> Self {
        let all = paragraphs.into_iter().map(Into::into);
        Self { style, paragraphs: all.filter(|p: &Rich| !p.0.is_empty()).collect() }
    }
}

/// The emphasis of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    Plain,
    /// Text of more weight.
    Strong,
    /// Text of less weight.
    Quiet,
    /// An id, a formula, a command line.
    Code,
    /// Text in the colour of that verdict, which a word or a sign repeats.
    Verdict(Verdict),
}

/// A text whose pieces differ in tone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rich(pub Vec<(Tone, String)>);

impl Rich {
    /// Text in that tone.
    pub fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self::default().and(tone, text)
    }

    /// Adds a piece; an empty text adds none.
    pub fn and(mut self, tone: Tone, text: impl Into<String>) -> Self {
        let text = text.into();
        self.0.extend((!text.is_empty()).then_some((tone, text)));
        self
    }

    /// The text without tones.
    pub fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl From<String> for Rich {
    fn from(text: String) -> Self {
        Self::toned(Tone::Plain, text)
    }
}

impl From<&str> for Rich {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Rich {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

/// Serialises the text without tones, which carry no meaning of their own.
impl Serialize for Rich {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.plain())
    }
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// The term that the entry explains; empty where the list has no terms.
    pub term: String,
    /// The texts of the entry.
    pub texts: Vec<Rich>,
}

impl Item {
    /// The sign and words that it begins with, in the colour of that verdict.
    pub fn mark(&self) -> Option<(Verdict, &str)> {
        match self.texts.first()?.0.first()? {
            (Tone::Verdict(verdict), mark) => Some((*verdict, mark)),
            _ => None,
        }
    }
}

impl From<Rich> for Item {
    fn from(text: Rich) -> Self {
        Self { term: String::new(), texts: vec![text] }
    }
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Rich::from(text).into()
    }
}

impl From<Term> for Item {
    fn from(term: Term) -> Self {
        Self { term: term.name, texts: vec![term.meaning.into()] }
    }
}
