//! What a word means that no id has: a command, an option, another tool's name for a parameter or
//! work, a misspelt id, or a word in the texts of ids.

use proofmark_model::{and_list, did_you_mean};
use proofmark_run::{BUILT_IN, meant_parameter, meant_workload};

use crate::cli;
use crate::habits::{COMMANDS, OPTIONS};

/// Maximum number of commands and ids that a hint names.
const NAMED: usize = 4;
/// Minimum length of a word that is searched for in texts.
const SHORTEST: usize = 3;

/// What `proofmark explain` knows.
pub struct Known {
    pub names: Vec<&'static str>,
    pub texts: fn(&str) -> Vec<String>,
}

/// Returns the hint for a word that is not known.
pub fn hint(typed: &str, known: &Known) -> String {
    let word = typed.trim_start_matches('-').to_lowercase();
    command(&word)
        .or_else(|| option(&word))
        .or_else(|| parameter(&word))
        .or_else(|| of_another_tool(&word))
        .or_else(|| misspelt(&word, known).filter(|_| word.contains('.')))
        .or_else(|| meant_workload(&word, &[]).filter(|_| word.len() >= SHORTEST))
        .or_else(|| in_texts(&word, known))
        .or_else(|| misspelt(&word, known))
        .unwrap_or_else(|| "see 'proofmark list'".to_owned())
}

fn misspelt(word: &str, known: &Known) -> Option<String> {
    // After a subsystem that is right, only the rest counts.
    let (first, rest) = word.split_once('.').unwrap_or(("", word));
    let begins = format!("{first}.");
    let mut rests = known.names.iter().filter_map(|name| name.strip_prefix(&*begins)).peekable();
    if rests.peek().is_some() {
        let hint = did_you_mean(rest, rests)?;
        return Some(hint.replacen('\'', &format!("'{begins}"), 1));
    }
    let commands = all_commands();
    let commands = commands.iter().map(|(name, _)| name.as_str());
    did_you_mean(word, known.names.iter().copied().chain(commands))
}

/// Every command that is shown with its name, such as `fleet run`.
pub fn all_commands() -> Vec<(String, clap::Command)> {
    let mut all = Vec::new();
    for command in cli::command().get_subcommands().filter(|c| !c.is_hide_set()) {
        let name = command.get_name();
        all.push((name.to_owned(), command.clone()));
        let inner = command.get_subcommands().filter(|c| !c.is_hide_set());
        all.extend(inner.map(|c| (format!("{name} {}", c.get_name()), c.clone())));
    }
    all
}

fn command(word: &str) -> Option<String> {
    let found = all_commands().into_iter().find(|(name, _)| name == word)?.1;
    let about = found.get_about().map(ToString::to_string).unwrap_or_default();
    Some(format!("it is a command ({about}): see `proofmark {word} --help`"))
}

fn option(word: &str) -> Option<String> {
    let has = |command: &clap::Command| {
        let shown = command.get_arguments().filter(|a| !a.is_hide_set());
        shown.filter_map(clap::Arg::get_long).any(|long| long == word)
    };
    let of: Vec<String> =
        all_commands().into_iter().filter(|(_, c)| has(c)).map(|(name, _)| name).collect();
    let first = of.first()?;
    Some(format!(
        "--{word} is an option of {}: see `proofmark {first} --help`",
        and_list(of.iter().take(NAMED))
    ))
}

fn parameter(word: &str) -> Option<String> {
    meant_parameter(word).map(|meant| format!("did you mean '{meant}'?"))
}

/// The habits of users of other tools.
fn of_another_tool(word: &str) -> Option<String> {
    let command = COMMANDS.iter().find(|(words, _)| words.contains(&word));
    let option = || {
        let typed = format!("--{word}");
        let habit = OPTIONS.iter().find(|habit| habit.typed.contains(&&*typed))?;
        Some(format!("`proofmark {}` has {}", habit.commands.first()?, habit.instead))
    };
    command.map(|(_, instead)| format!("did you mean `{instead}`?")).or_else(option)
}

/// The ids whose texts have the word, or the word without a plural's s, those that name it most
/// first.
fn in_texts(word: &str, known: &Known) -> Option<String> {
    if word.len() < SHORTEST || !word.chars().all(char::is_alphanumeric) {
        return None;
    }
    let is_it = |found: &str| {
        let found = found.to_lowercase();
        found == word
            || word.strip_suffix('s') == Some(&found)
            || found.strip_suffix('s') == Some(word)
    };
    let count = |id: &str| {
        let texts = (known.texts)(id).concat();
        texts.split(|c: char| !c.is_alphanumeric()).filter(|part| is_it(part)).count()
    };
    // A profile's text depends on this machine, and takes long.
    let is_profile = |id: &str| BUILT_IN.iter().any(|profile| profile.0 == id);
    let ids = known.names.iter().copied().filter(|id| !is_profile(id));
    let mut found: Vec<(usize, &str)> = Vec::new();
    for id in ids.filter(|id| !id.contains(' ')) {
        let times = count(id);
        if times > 0 && found.iter().all(|(_, known)| *known != id) {
            found.push((times, id));
        }
    }
    found.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    let named: Vec<String> = found.iter().take(NAMED).map(|(_, id)| format!("'{id}'")).collect();
    (!named.is_empty()).then(|| format!("see {}, whose texts have it", and_list(named)))
}
