//! What tools are given of this process, what they keep from it, and how they are ended when
//! something hangs.

use super::*;

#[test]
fn names_of_secrets_are_of_those_that_no_tool_inherits() {
    for name in [proofmark_peer::KEY_VARIABLE, proofmark_peer::INVITATION] {
        assert!(name.starts_with(proofmark_reference::OWN_VARIABLES), "{name}");
    }
}

#[test]
fn what_lies_in_the_current_folder_is_no_tool() {
    let lab = Lab::new();
    fs::create_dir(lab.file("bin")).unwrap();
    for name in ["fio", "bin/fio", "getconf"] {
        lab.script(name, &format!("echo run >> {}; echo fio-9.5", lab.file("ran").display()));
    }
    for path in ["", ".", ":/nonexistent", "/nonexistent:", "bin", "./bin:../x"] {
        let _ = fs::remove_dir_all(lab.out());
        let mut command = lab.run(&["--trials", "3", "--reference", "fio"]);
        let (_, m, _) = result(command.env("PATH", path).current_dir(lab.programs.path()));
        assert_eq!(m.missing["references"], "fio: not installed (Debian: fio)", "{path}");
        assert!(!lab.file("ran").exists(), "{path}");
    }
}

#[test]
fn any_cpus_of_any_number_are_taken() {
    let tool = |cpus: &mut dyn Iterator<Item = u32>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proofmark"));
        command.arg("tool").args(cpus.map(|cpu| format!("--cpu={cpu}")));
        let output = command.args(["--", "/bin/echo", "done"]).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!words.contains("panicked"), "{words}");
        (String::from_utf8(output.stdout).unwrap(), words)
    };
    assert_eq!(tool(&mut (0..512)).0, "done\n");
    assert_eq!(tool(&mut (0..2048)).0, "done\n");
    for cpu in [2047, u32::MAX] {
        let (output, words) = tool(&mut [cpu].into_iter());
        // Few machines have that one.
        assert!(output == "done\n" || words.contains("cannot be put on its CPUs"), "{words}");
    }
}
