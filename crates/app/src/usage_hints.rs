//! The command or option that a user meant, after an unknown one.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use proofmark_model::{and_list, did_you_mean, or_list};

use crate::cli;
use crate::command::explain;
use crate::habits::{COMMANDS, OPTIONS};

/// Returns the line about an unknown command or option; `None` for other errors. `typed` are the
/// program's arguments.
pub fn line(error: &clap::Error, typed: &[String]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand)?;
            // `proofmark help WORD` is about the same commands.
            let typed =
                if typed.first().is_some_and(|t| t == "help") { &typed[1..] } else { typed };
            let within = Place::of(&typed[..typed.iter().position(|t| *t == word)?]);
            Some(format!("no command '{}'; {}", within.named(&word), within.command_hint(&word)))
        }
        ErrorKind::UnknownArgument => {
            let option = text(ContextKind::InvalidArg)?;
            let place = Place::of(typed);
            if !option.starts_with('-') {
                return Some(place.argument(&option));
            }
            let has = if place.words.is_empty() { "there is" } else { "has" };
            let name = place.words.join(" ");
            let line = format!("{name} {has} no option '{option}'; {}", place.hint(&option));
            Some(line.trim_start().to_owned())
        }
        ErrorKind::MissingRequiredArgument => {
            let Some(ContextValue::Strings(lacks)) = error.get(ContextKind::InvalidArg) else {
                return None;
            };
            let place = Place::of(typed);
            let lacks = match place.name().as_str() {
                CHECK => "--against RUN or --require REQUIREMENT".to_owned(),
                _ => and_list(lacks),
            };
            Some(format!("{} needs {lacks}; {}", place.words.join(" "), place.see_help()))
        }
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            let Some(ContextValue::Number(least)) = error.get(ContextKind::MinValues) else {
                return None;
            };
            let place = Place::of(typed);
            let of = text(ContextKind::InvalidArg)?;
            let name = place.words.join(" ");
            Some(format!("{name} needs at least {least} values of {of}; {}", place.see_help()))
        }
        ErrorKind::InvalidValue => {
            let (value, of) = (text(ContextKind::InvalidValue)?, text(ContextKind::InvalidArg)?);
            let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue) else {
                return None;
            };
            let near = did_you_mean(&value, valid.iter().map(String::as_str));
            let known = or_list(valid);
            let hint = near.unwrap_or_else(|| format!("write {known}"));
            Some(format!("invalid value '{value}' for '{of}'; {hint}"))
        }
        _ => None,
    }
}

/// The command that needs one of several options.
const CHECK: &str = "proofmark check";

/// A command that the user named.
struct Place {
    /// The whole command line.
    root: clap::Command,
    /// The words of the command, such as `fleet run`; empty for the program itself.
    words: Vec<String>,
}

impl Place {
    /// Finds the command in the arguments: the first words that name one.
    fn of(typed: &[String]) -> Self {
        let root = cli::command();
        let mut words: Vec<String> = Vec::new();
        let mut here = &root;
        for word in typed.iter().take_while(|word| !word.starts_with('-')) {
            let Some(found) = here.find_subcommand(word) else { break };
            words.push(word.clone());
            here = found;
        }
        Self { root, words }
    }

    fn command(&self) -> &clap::Command {
        self.words.iter().fold(&self.root, |at, word| at.find_subcommand(word).unwrap_or(at))
    }

    /// `proofmark run`.
    fn name(&self) -> String {
        ["proofmark"]
            .into_iter()
            .chain(self.words.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn named(&self, word: &str) -> String {
        self.words.iter().map(String::as_str).chain([word]).collect::<Vec<_>>().join(" ")
    }

    /// The command that an unknown word may stand for.
    fn command_hint(&self, word: &str) -> String {
        let top = self.words.is_empty();
        let habit = COMMANDS.iter().find(|(words, _)| words.contains(&word)).filter(|_| top);
        if let Some((_, instead)) = habit {
            return format!("did you mean `{instead}`?");
        }
        let subsystem = proofmark_model::Subsystem::ALL.iter().any(|s| s.as_str() == word);
        if top && (subsystem || proofmark_workloads::find(word).is_some()) {
            return format!("to measure it: `proofmark run {word}`");
        }
        if top && !explain::texts(word).is_empty() {
            return format!("did you mean `proofmark explain {word}`?");
        }
        let known = self.command().get_subcommands().filter(|c| !c.is_hide_set());
        did_you_mean(word, known.map(clap::Command::get_name)).unwrap_or_else(|| self.see_help())
    }

    fn see_help(&self) -> String {
        format!("see `{} --help`", self.name())
    }

    /// The option that an unknown one may stand for: by habit, by its spelling, or of another command.
    fn hint(&self, option: &str) -> String {
        let own = self.words.join(" ");
        let habit = OPTIONS
            .iter()
            .find(|h| h.typed.contains(&option) && h.commands.contains(&own.as_str()));
        if let Some(habit) = habit {
            return format!("use {}", habit.instead);
        }
        let long = option.strip_prefix("--");
        if let Some(other) = long.and_then(|long| self.other_with(long)) {
            return format!("`proofmark {other}` has it");
        }
        let near = long.and_then(|long| did_you_mean(long, longs(self.command())));
        near.map(|near| near.replacen('\'', "'--", 1)).unwrap_or_else(|| self.see_help())
    }

    /// The line about an argument that the command does not take. One without any argument may write
    /// to what `--out` names.
    fn argument(&self, argument: &str) -> String {
        let command = self.command();
        let takes_some = command.get_positionals().next().is_some();
        let has_out = !takes_some && longs(command).any(|name| name == "out");
        let name = self.words.join(" ");
        let hint = if has_out { format!("use --out {argument}") } else { self.see_help() };
        let no = if takes_some { "no further argument" } else { "no argument" };
        format!("{name} takes {no} '{argument}'; {hint}")
    }

    /// The first command that has an option of that name.
    fn other_with(&self, long: &str) -> Option<String> {
        let has = |c: &clap::Command| longs(c).any(|name| name == long);
        let visible = self.root.get_subcommands().filter(|c| !c.is_hide_set());
        visible
            .flat_map(|c| {
                let inner = c.get_subcommands().filter(|s| !s.is_hide_set() && has(s));
                let inner = inner.map(|s| format!("{} {}", c.get_name(), s.get_name()));
                has(c).then(|| c.get_name().to_owned()).into_iter().chain(inner).collect::<Vec<_>>()
            })
            .next()
    }
}

fn longs(command: &clap::Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter(|a| !a.is_hide_set()).filter_map(clap::Arg::get_long)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line about these arguments.
    fn said(arguments: &str) -> String {
        let typed: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        let all = ["proofmark".to_owned()].into_iter().chain(typed.clone());
        let error = cli::command().try_get_matches_from(all).unwrap_err();
        line(&error, &typed).unwrap_or_default()
    }

    #[test]
    fn each_habit_names_options_and_commands_that_exist() {
        let root = cli::command();
        let exists = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().skip(1).collect();
            let place = Place::of(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
            let has = |option: &str| {
                let option = option.trim_start_matches("--");
                option == "version" || longs(place.command()).any(|name| name == option)
            };
            assert!(!place.words.is_empty() || text.contains("--version"), "{text}");
            assert!(words.iter().filter(|w| w.starts_with("--")).all(|w| has(w)), "{text}");
        };
        COMMANDS.iter().for_each(|(_, instead)| exists(instead));
        for habit in OPTIONS {
            for (i, part) in habit.instead.split('`').enumerate() {
                match i % 2 {
                    1 if part.starts_with("proofmark") => exists(part),
                    1 => panic!("{part}"),
                    _ => {}
                }
            }
            // Options outside of quoted commands are those of the command itself.
            let bare: String = habit.instead.split('`').step_by(2).collect();
            let bare = bare.split(" has ").next().unwrap_or_default().split(';').next().unwrap();
            for command in habit.commands {
                let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
                let place = Place::of(&words);
                assert_eq!(place.words, words, "{command}");
                let names: Vec<&str> = longs(place.command()).collect();
                for option in bare.split([' ', ',']).filter_map(|w| w.strip_prefix("--")) {
                    assert!(
                        names.contains(&option),
                        "{command} has no --{option}: {}",
                        habit.instead
                    );
                }
                for typed in habit.typed.iter().filter_map(|t| t.strip_prefix("--")) {
                    assert!(!names.contains(&typed), "{command} has --{typed} itself");
                }
            }
        }
        for (words, _) in COMMANDS {
            for word in *words {
                assert!(root.find_subcommand(word).is_none(), "{word} is a command");
            }
        }
    }

    #[test]
    fn the_hint_is_what_the_user_meant() {
        for (arguments, hint) in [
            ("benchmark", "`proofmark run`"),
            ("rn", "did you mean 'run'?"),
            ("compar a b", "did you mean 'compare'?"),
            ("disk", "`proofmark run disk`"),
            ("cpu.flops", "`proofmark run cpu.flops`"),
            ("help environment", "`proofmark explain environment`"),
            ("suspect", "`proofmark explain suspect`"),
            ("qwertyuiop", "see `proofmark --help`"),
            ("fleet rn", "no command 'fleet rn'; did you mean 'run'?"),
            ("run -o X", "run has no option '-o'; use --out DIR"),
            ("run cpu --output=X", "use --out DIR"),
            ("report . -o X", "use --out FILE"),
            ("run --runtime=30", "--budget TIME"),
            ("endure cpu.clock --budget 5s", "--for TIME"),
            ("run -c 10.0.0.1", "--peer HOST"),
            ("run -t 4", "--threads N"),
            ("run --thredas 4", "did you mean '--threads'?"),
            ("run --export-json x", "--json FILE"),
            ("noise --dry-run", "`proofmark run` has it"),
            ("run --against x", "`proofmark check` has it"),
            ("fleet run --ssh n1 --quick", "use --profile quick"),
            ("fleet run --ssh n1 --thorough", "use --profile thorough"),
            ("info --at-once 3", "`proofmark fleet run` has it"),
            ("man pages", "man takes no argument 'pages'; use --out pages"),
            ("list workload", "invalid value 'workload' for '[TOPIC]'; did you mean 'workloads'?"),
            ("completions tcsh", "invalid value 'tcsh' for '<SHELL>'; write bash, zsh or fish"),
            ("report a b", "report takes no further argument 'b'; see `proofmark report --help`"),
            ("serve x", "serve takes no argument 'x'; see `proofmark serve --help`"),
            ("endure", "endure needs <WORKLOAD>; see `proofmark endure --help`"),
            ("check a", "check needs --against RUN or --require REQUIREMENT; see"),
            ("-v", "there is no option '-v'; see `proofmark --help`"),
            ("run --zebra", "see `proofmark run --help`"),
        ] {
            let line = said(arguments);
            assert!(line.contains(hint) && !line.contains('\n'), "{arguments}: {line}");
        }
        assert_eq!(said("run --budget 5"), "", "a known option with a wrong value");
    }
}
