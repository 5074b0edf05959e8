use std::fs::{Permissions, read_to_string, set_permissions, write};

use super::*;

#[test]
fn a_key_is_written_as_it_is_read() {
    let key = Key::generate().unwrap();
    assert_eq!(Key::parse(&format!(" {}\n", key.to_hex().to_uppercase()), "").unwrap(), key);
    assert_ne!(Key::generate().unwrap(), key);
    assert!(Key::parse(&key.to_hex()[1..], "").is_err());
}

#[test]
fn neither_debug_nor_errors_show_it() {
    let key = Key::generate().unwrap();
    let shown = format!("{key:?} {:?}", Some(&key));
    let error = Key::parse(&format!("{}0", key.to_hex()), "").unwrap_err();
    for text in [shown, error.to_string(), format!("{error:?}")] {
        assert!(!text.contains(&key.to_hex()[..8]), "{text}");
    }
}

#[test]
fn the_named_file_goes_before_the_variable_and_that_before_the_home() {
    let place = |file: Option<&str>, set: &[(&str, &str)]| {
        let variable = |name: &str| {
            let found = set.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        };
        place(file.map(Path::new), variable)
    };
    let file = |path: &str| Place::File(path.into());
    let (key, xdg, home) = (("PROOFMARK_KEY", "00"), ("XDG_CONFIG_HOME", "/x"), ("HOME", "/h"));
    assert_eq!(place(Some("k"), &[key, xdg, home]).unwrap(), file("k"));
    assert_eq!(place(None, &[key, xdg, home]).unwrap(), Place::Text("00".into()));
    assert_eq!(place(None, &[xdg, home]).unwrap(), file("/x/proofmark/key"));
    assert_eq!(place(None, &[home]).unwrap(), file("/h/.config/proofmark/key"));
    let empty = ("XDG_CONFIG_HOME", "");
    assert_eq!(place(None, &[empty, home]).unwrap(), file("/h/.config/proofmark/key"));
    assert!(place(None, &[]).unwrap_err().0.starts_with("neither XDG_CONFIG_HOME nor HOME"));
}

#[test]
fn a_made_file_is_for_its_owner_alone_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/key");
    let (key, source) = Key::find_or_make(Some(&path)).unwrap();
    assert_eq!(source, KeySource::Made(path.clone()));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o7777, 0o700);
    assert_eq!(read_to_string(&path).unwrap().trim(), key.to_hex());
    assert_eq!(Key::find(Some(&path)).unwrap(), key);
    assert_eq!(Key::find_or_make(Some(&path)).unwrap(), (key, KeySource::File(path)));
}

#[test]
fn a_file_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    Key::find_or_make(Some(&path)).unwrap();
    for mode in [0o640, 0o604, 0o620, 0o601] {
        set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        for error in [Key::find(Some(&path)).err(), Key::find_or_make(Some(&path)).err()] {
            let text = error.unwrap().to_string();
            assert!(text.contains(&format!("(mode {mode:04o}); run `chmod 600 ")), "{text}");
        }
    }
    set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
    Key::find(Some(&path)).unwrap();
}

#[test]
fn a_file_without_a_key_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    assert!(Key::find(Some(&path)).unwrap_err().0.starts_with("no key in "));
    write(&path, "not a key\n").unwrap();
    set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let none = Key::find_or_make(Some(&path)).unwrap_err();
    assert!(none.0.contains("does not hold a key of 64"), "{none}");
    assert_eq!(read_to_string(&path).unwrap(), "not a key\n");
    let folder = Key::find_or_make(Some(folder.path())).unwrap_err();
    let says = ["cannot read or create", "is accessible to other users"];
    assert!(says.iter().any(|says| folder.0.contains(says)), "{folder}");
}
