//! Facts about machines, as tables of a TOML file. Unknown keys are errors: otherwise a limit with
//! a misspelt key would be checked by no rule and look kept.

use std::collections::BTreeMap;

use proofmark_model::{clean, did_you_mean};
use toml::{Spanned, Value};

use crate::machine::FACTS;
use crate::row::shown;
use crate::words::nearest;
use crate::{InputError, Machine};

/// Keys of free text, each with parts of other keys that people try for it.
pub(crate) const TEXTS: [(&str, &str); 2] = [("machine", "model"), ("note", "comment description")];

/// Returns true if TOML has a value that is not in a table.
fn has_entry_outside_tables(text: &str) -> bool {
    toml::from_str::<toml::Table>(text).is_ok_and(|all| !all.values().all(Value::is_table))
}

/// Reads the tables of a TOML file, whose numbers must be above 0.
pub fn read_machines(text: &str) -> Result<BTreeMap<String, Machine>, InputError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let at = |start: usize, why: String| {
        let line = text.bytes().take(start).filter(|b| *b == b'\n').count() + 1;
        InputError(format!("line {line}: {why}"))
    };
    let tables: BTreeMap<String, BTreeMap<Spanned<String>, Spanned<Value>>> = toml::from_str(text)
        .map_err(|e| {
            let why = match has_entry_outside_tables(text) {
                true => {
                    "facts outside a table; write [NAME] above the facts of a machine".to_owned()
                }
                false => clean(e.message()),
            };
            at(e.span().map_or(0, |span| span.start), why)
        })?;
    let mut machines = BTreeMap::new();
    for (name, facts) in tables {
        let mut machine = Machine::default();
        for (key, value) in facts {
            let found = shown(text.get(value.span()).unwrap_or_default());
            set(&mut machine, key.get_ref(), value.get_ref(), &found)
                .map_err(|why| at(key.span().start, why))?;
        }
        machines.insert(name, machine);
    }
    Ok(machines)
}

/// Stores a fact, whose value is `found` in the file, or returns why it is refused.
fn set(machine: &mut Machine, key: &str, value: &Value, found: &str) -> Result<(), String> {
    if TEXTS.iter().any(|(known, _)| *known == key) {
        let text = value.as_str().map(|_| ());
        return text.ok_or_else(|| format!("{key} = {found} is not a text; put it in quotes"));
    }
    let fact = FACTS.iter().find(|fact| fact.key == key).ok_or_else(|| unknown(key))?;
    let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    let Some(number) = number.filter(|n| n.is_finite() && *n > 0.0) else {
        return Err(format!("{key} = {found} is not a finite number above 0 ({})", fact.about));
    };
    *(fact.field)(machine) = Some(number);
    Ok(())
}

fn unknown(key: &str) -> String {
    let lower = key.to_ascii_lowercase();
    let known = || FACTS.iter().map(|fact| (fact.key, fact.tried)).chain(TEXTS);
    let tried = |parts: &str| parts.split_whitespace().any(|part| lower.contains(part));
    let hint = match known().find(|(_, parts)| tried(parts)) {
        Some((key, _)) => format!("did you mean '{key}'?"),
        None => nearest(&lower, known().map(|(key, _)| key)),
    };
    format!("unknown fact '{}'; {hint}", shown(key))
}

/// Chooses the machine by name, else by the file's name, else the only one of the file.
pub fn choose(
    machines: &BTreeMap<String, Machine>,
    name: Option<&str>,
    stem: Option<&str>,
) -> Result<Machine, InputError> {
    let known = || machines.keys().cloned().collect::<Vec<_>>().join(", ");
    if let Some(name) = name {
        let meant = did_you_mean(name, machines.keys().map(String::as_str));
        let meant = meant.map_or_else(String::new, |hint| format!("; {hint}"));
        let unknown = || format!("unknown machine '{name}'; the file has: {}{meant}", known());
        return machines.get(name).cloned().ok_or_else(|| InputError(unknown()));
    }
    if let Some(machine) = stem.and_then(|s| machines.get(s)) {
        return Ok(machine.clone());
    }
    match machines.values().collect::<Vec<_>>().as_slice() {
        [] => Err(InputError("the file has no [table] with a machine".to_owned())),
        [only] => Ok((*only).clone()),
        _ => {
            let known = known();
            let why = format!("the file has several machines: {known}; choose one with --name");
            Err(InputError(why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    const TWO: &str = "[one]\nvcpus = 2\nnote = \"is text\"\n[two]\ncpus = 4\nvcpus = 9\n";

    #[test]
    fn a_table_is_chosen_by_name_by_file_or_because_it_is_the_only_one() {
        let (only, none) = ("[a]\ncpus = 3\n", "");
        for (text, name, stem, expected) in [
            (TWO, Some("two"), Some("one"), Ok(4.0)),
            (TWO, None, Some("one"), Ok(2.0)),
            (only, None, Some("x"), Ok(3.0)),
            (TWO, None, Some("x"), Err("the file has several machines: one, two;")),
            (TWO, Some("tow"), None, Err("did you mean 'two'")),
            (none, None, None, Err("the file has no [table]")),
        ] {
            let machine = choose(&read_machines(text).unwrap(), name, stem);
            let cpus = machine.map(|m| m.logical_cpus().unwrap().most);
            match (&cpus, expected) {
                (Err(error), Err(why)) => assert!(error.to_string().contains(why), "{error}"),
                _ => assert_eq!(cpus.ok(), expected.ok(), "{name:?} {stem:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for (text, why) in [
            ("[a]\nvcpus = 0\n", "line 2: vcpus = 0 is not a finite number above 0"),
            ("[a]\nvcpus = nan\n", "line 2: vcpus = nan is not"),
            (
                "[a]\r\ncores = 1\r\nclock_hz_nominal = -1\r\n",
                "line 3: clock_hz_nominal = -1 is not",
            ),
            ("\n[a]\nvcpus = \"two\"\n", "line 3: vcpus = \"two\" is not"),
            ("\n[a]\nmachine = 2\n", "line 3: machine = 2 is not a text; put it in quotes"),
            ("[a]\n[a.b]\ncores = 1\n", "line 2: unknown fact 'b'"),
            ("[a\n", "line 1: "),
            ("[b]\na = \n", "line 2: "),
            ("cpus = 3\n[a]\n", "line 1: facts outside a table; write [NAME] above"),
            ("[[a]]\ncpus = 3\n", "line 1: facts outside a table;"),
        ] {
            let text = read_machines(text).unwrap_err().to_string();
            assert!(text.starts_with(why) && text.lines().count() == 1, "{text}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest() {
        for (key, nearest) in [
            ("network_link_bit_per_s", "did you mean 'network_link_bits_per_s'?"),
            ("Network_Link_Bits_Per_Second", "did you mean 'network_link_bits_per_s'?"),
            ("vcpu", "did you mean 'vcpus'?"),
            ("disk_link_byte_per_s", "did you mean 'disk_link_bytes_per_s'?"),
            ("disk_limit_iops", "did you mean 'disk_limit_operations_per_s'?"),
            ("volume_iops", "did you mean 'disk_limit_operations_per_s'?"),
            ("network_limit_pps", "did you mean 'network_limit_packets_per_s'?"),
            ("cpu_mhz", "did you mean 'clock_hz_nominal'?"),
            ("comments", "did you mean 'note'?"),
            ("zzzzzzzzzzzzz", "'proofmark explain audit' lists the known ones"),
        ] {
            let text = format!("# a machine\n[a]\ncores = 2\n{key} = 1e9\n");
            let error = read_machines(&text).unwrap_err().to_string();
            assert_eq!(error, format!("line 4: unknown fact '{key}'; {nearest}"));
        }
    }

    #[test]
    fn every_fact_may_be_declared_and_is_kept_where_rules_look() {
        let all: String = FACTS.iter().map(|fact| format!("{} = 3\n", fact.key)).collect();
        let kept = format!("{:?}", machine(&all)).matches("Some(3.0)").count();
        assert_eq!(kept, FACTS.len());
    }
}
