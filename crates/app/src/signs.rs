//! Signs for terminals and locales without UTF-8: each sign in ASCII.

/// Signs that texts for people contain, and their ASCII forms.
const FORMS: &[(char, &str)] = &[
    ('\u{b1}', "+-"),
    ('\u{d7}', "x"),
    ('\u{2713}', "+"),
    ('\u{2717}', "x"),
    ('\u{2013}', "-"),
    ('\u{2014}', "-"),
    ('\u{2212}', "-"),
    ('\u{2010}', "-"),
    ('\u{2011}', "-"),
    ('\u{2192}', "->"),
    ('\u{2190}', "<-"),
    ('\u{2191}', "^"),
    ('\u{2193}', "v"),
    ('\u{b7}', "."),
    ('\u{2022}', "*"),
    ('\u{2026}', "..."),
    ('\u{2264}', "<="),
    ('\u{2265}', ">="),
    ('\u{2248}', "~"),
    ('\u{2260}', "!="),
    ('\u{b0}', "deg "),
    ('\u{b5}', "u"),
    ('\u{3bc}', "u"),
    ('\u{a0}', " "),
    ('\u{202f}', " "),
    ('\u{2018}', "'"),
    ('\u{2019}', "'"),
    ('\u{201c}', "\""),
    ('\u{201d}', "\""),
    ('\u{b2}', "2"),
    ('\u{b3}', "3"),
    ('\u{b9}', "1"),
    ('\u{2070}', "0"),
    ('\u{2074}', "4"),
    ('\u{2075}', "5"),
    ('\u{2076}', "6"),
    ('\u{2077}', "7"),
    ('\u{2078}', "8"),
    ('\u{2079}', "9"),
    ('\u{207b}', "-"),
    // Heights of a line of blocks.
    ('\u{2581}', "_"),
    ('\u{2582}', "."),
    ('\u{2583}', "-"),
    ('\u{2584}', "="),
    ('\u{2585}', "+"),
    ('\u{2586}', "*"),
    ('\u{2587}', "#"),
    ('\u{2588}', "@"),
    ('\u{2591}', "."),
    ('\u{2592}', ":"),
    ('\u{2593}', "#"),
    ('\u{25b2}', "^"),
    ('\u{25bc}', "v"),
    ('\u{25b3}', "^?"),
    ('\u{25bd}', "v?"),
    ('\u{25a0}', "#"),
    ('\u{25cf}', "o"),
    ('\u{2502}', "|"),
    ('\u{2500}', "-"),
    // Letters of names in the documents.
    ('\u{e1}', "a"),
    ('\u{e4}', "a"),
    ('\u{e8}', "e"),
    ('\u{e9}', "e"),
    ('\u{f6}', "o"),
    ('\u{fc}', "u"),
    ('\u{df}', "ss"),
];

/// Returns true if the environment asks for plain ASCII: a locale that is set and has no UTF-8, or a
/// dumb terminal.
pub fn is_ascii_only(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let has_utf8 = |locale: String| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    !locale.is_none_or(has_utf8) || set("TERM").is_some_and(|term| term == "dumb")
}

/// Returns a text in ASCII. A longer form takes the place of spaces next to it, so that columns stay in
/// line. Other letters become `?`.
pub fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    // Columns by which the line is longer than it was.
    let mut longer = 0;
    while let Some(sign) = rest.next() {
        match sign {
            '\n' => longer = 0,
            // One of several spaces makes room.
            ' ' if longer > 0 && (rest.peek() == Some(&' ') || out.ends_with(' ')) => {
                longer -= 1;
                continue;
            }
            _ => {}
        }
        if sign.is_ascii() {
            out.push(sign);
            continue;
        }
        let form = FORMS.iter().find(|(known, _)| *known == sign).map_or("?", |(_, form)| *form);
        for _ in 1..form.len() {
            // A column that is aligned to the right has its spaces before the sign.
            if out.ends_with("  ") {
                out.pop();
            } else {
                longer += 1
            }
        }
        out.push_str(form);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_locale_decides() {
        for (set, expected) in [
            (&[][..], false),
            (&[("LANG", "C.UTF-8")], false),
            (&[("LANG", "en_US.utf8")], false),
            (&[("LANG", "C")], true),
            (&[("LANG", "de_DE.ISO-8859-1")], true),
            (&[("LC_ALL", "C"), ("LANG", "C.UTF-8")], true),
            (&[("LC_ALL", "C.UTF-8"), ("LANG", "C")], false),
            (&[("LC_CTYPE", "POSIX"), ("LANG", "C.UTF-8")], true),
            (&[("LC_ALL", ""), ("LANG", "C.UTF-8")], false),
            (&[("TERM", "dumb"), ("LANG", "C.UTF-8")], true),
            (&[("TERM", "xterm")], false),
        ] {
            let value =
                |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
            assert_eq!(is_ascii_only(value), expected, "{set:?}");
        }
    }

    #[test]
    fn columns_stay_in_line() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a      \u{b1}  b", "a     +-  b"),
            ("\u{b1}  b   c", "+- b   c"),
            ("\u{b1} b", "+- b"),
            ("\u{2713} valid", "+ valid"),
            ("\u{2581}\u{2588}\u{b7}", "_@."),
            ("\u{4f60}", "?"),
            ("a \u{2192} b\nc  d", "a -> b\nc  d"),
        ] {
            assert_eq!(ascii(text), expected, "{text}");
        }
    }

    #[test]
    fn every_sign_of_the_sources_has_a_form() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
        let (mut seen, mut lacking) = (0, Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                if path.is_dir() && !["tests", "html", "captured", "target"].contains(&&*name) {
                    folders.push(path);
                } else if name.ends_with(".rs") && name != "tests.rs" {
                    let text = fs::read_to_string(&path).unwrap();
                    let text = text.split("#[cfg(test)]").next().unwrap();
                    let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
                    let signs = code.flat_map(str::chars).filter(|c| !c.is_ascii());
                    for sign in signs {
                        seen += 1;
                        if !FORMS.iter().any(|(known, _)| *known == sign) {
                            lacking.push(format!("{}: {sign} ({:x})", path.display(), sign as u32));
                        }
                    }
                }
            }
        }
        assert!(lacking.is_empty(), "{lacking:#?}");
        assert!(seen > 50, "the sources were not read: {seen}");
    }
}
