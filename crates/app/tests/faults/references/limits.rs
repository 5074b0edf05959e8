//! Reference tools: what they inherit from this process, and how they end when something hangs.

use super::lab::{children, status, wrap};
use super::*;
use std::os::unix::process::CommandExt as _;

#[test]
fn a_tool_has_the_limits_of_the_user_and_no_key() {
    let _turn = shared();
    let lab = Lab::new();
    let inherited = lab.file("inherited");
    lab.script(
        "fio",
        &format!(
            "{{ echo \"soft $(ulimit -Sn)\"; export -p; }} >> {}\n\
             case \"$1\" in --version) echo fio-9.5; exit 0;; esac\n{CAT} {}",
            inherited.display(),
            captured()
        ),
    );
    let mut command = lab.long_run(&["--trials", "3", "--reference", "fio"]);
    command.env("PROOFMARK_KEY", "5ec2e7".repeat(10)).env("PROOFMARK_PEER", "{\"key\":\"5ec2e7\"}");
    let (_, m, words) = result(wrap(&mut command, "ulimit -Sn 333 && exec \"$0\" \"$@\""));
    assert_eq!(m.references.len(), 1, "{words} {:?}", m.findings);
    let text = fs::read_to_string(inherited).unwrap();
    let limits: Vec<_> = text.lines().filter(|line| line.starts_with("soft ")).collect();
    // One call for the version, and up to three runs: a trial on a disturbed disk may be too short
    // for fio.
    assert!((2..=4).contains(&limits.len()) && limits.iter().all(|l| *l == "soft 333"), "{text}");
    assert!(!text.contains("5ec2e7") && !text.contains("PROOFMARK_"), "{text}");
    assert!(text.contains("LC_ALL"), "it has the others");
}

#[test]
fn names_of_secrets_are_of_those_that_no_tool_inherits() {
    for name in [proofmark_peer::KEY_VARIABLE, proofmark_peer::INVITATION] {
        assert!(name.starts_with(proofmark_process::OWN_VARIABLES), "{name}");
    }
}

#[test]
fn what_lies_in_the_current_folder_is_no_tool() {
    let _turn = shared();
    let lab = Lab::new();
    fs::create_dir(lab.file("bin")).unwrap();
    for name in ["fio", "bin/fio", "getconf"] {
        lab.script(name, &format!("echo run >> {}; echo fio-9.5", lab.file("ran").display()));
    }
    for path in ["", ":.:/nonexistent:bin:./bin:../x:"] {
        let _ = fs::remove_dir_all(lab.out());
        let mut command = lab.run(&["--trials", "3", "--reference", "fio"]);
        let command = command.env("PATH", path).current_dir(lab.programs.path());
        let (run, m, stderr) = result(command);
        assert!(stderr.contains("fio (Debian: fio)"), "{stderr}");
        assert!(run.findings.iter().any(|f| f.check == "plan.reference"));
        assert_eq!(m.missing["references"], "fio: not installed (Debian: fio)", "{path}");
        assert!(!lab.file("ran").exists(), "{path}");
    }
}

#[test]
fn any_cpus_of_any_number_are_taken() {
    let tool = |cpus: &mut dyn Iterator<Item = u32>| {
        let mut command = proofmark();
        command.arg("tool").args(cpus.map(|cpu| format!("--cpu={cpu}")));
        let output = output(command.args(["--", "/bin/echo", "done"]));
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!words.contains("panicked"), "{words}");
        (String::from_utf8(output.stdout).unwrap(), words)
    };
    assert_eq!(tool(&mut (0..512)).0, "done\n");
    assert_eq!(tool(&mut (0..2048)).0, "done\n");
    for cpu in [2047, u32::MAX] {
        let (output, words) = tool(&mut [cpu].into_iter());
        // Few machines have that CPU.
        assert!(output == "done\n" || words.contains("cannot set the CPU affinity"), "{words}");
    }
}

/// Reads a number from each of these files.
fn numbers(files: &[PathBuf]) -> Vec<u32> {
    let number = |file: &PathBuf| fs::read_to_string(file).ok()?.trim().parse().ok();
    wait_until("the tool to start all", || files.iter().all(|f| number(f).is_some()));
    files.iter().filter_map(number).collect()
}

#[test]
fn without_proc_all_that_a_tool_started_ends() {
    let _turn = shared();
    let hides = |unshare: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(unshare).args(["mount", "-t", "tmpfs", "none", "/proc"]);
        output(&mut command).status.success()
    };
    let commands: [&[&str]; 2] = [&["-m"], &["-rm"]];
    let Some(unshare) = commands.into_iter().find(|command| hides(command)) else {
        return skip("/proc may not be hidden here");
    };
    let lab = Lab::new();
    let files = ["tool", "child", "session", "below"].map(|name| lab.file(name));
    let [tool, child, session, below] = files.each_ref().map(|file| file.display().to_string());
    let script = format!(
        "trap '' TERM INT HUP; echo $$ > {tool}; sleep 301 & echo $! > {child}\n\
         setsid sh -c 'echo $$ > {session}; sleep 302 & echo $! > {below}; wait' &\nwait"
    );
    let mut command = Command::new("unshare");
    command.args(unshare).args(["sh", "-c", "mount -t tmpfs none /proc && exec \"$0\" \"$@\""]);
    command.arg(env!("CARGO_BIN_EXE_proofmark")).args(["tool", "--", "/bin/sh", "-c", &script]);
    let mut wrapper = command.process_group(0).spawn().unwrap();
    let started = numbers(&files);
    assert!(started.iter().all(|pid| is_alive(*pid)), "{started:?}");
    kill(wrapper.id(), "TERM");
    assert_eq!(wait("the wrapper to end", &mut wrapper).code(), Some(143));
    let left: Vec<_> = started.iter().filter(|pid| is_alive(**pid)).collect();
    left.iter().for_each(|pid| kill(**pid, "KILL"));
    assert!(left.is_empty(), "{left:?} of {started:?} outlived it");
}

/// Returns the process id of the `proofmark tool` of this run.
fn wrapper_of(run: &Child) -> u32 {
    let is_tool = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|b| *b == 0).nth(1) == Some(b"tool")
    };
    children(run.id()).into_iter().find(is_tool).unwrap()
}

#[test]
fn the_second_ctrl_c_ends_a_run_whose_tool_hangs() {
    let _turn = shared();
    let lab = Lab::new();
    let deaf = format!("trap '' TERM INT HUP\n{}", FORKS.replace("exec /bin", "/bin"));
    let (mut run, tool) = begun(&lab, &deaf);
    // The parent of the tool does not react, either, so that the run waits for it.
    let wrapper = wrapper_of(&run);
    kill(wrapper, "STOP");
    wait_until("the wrapper to stop", || status(wrapper, "State").starts_with('T'));
    kill(run.id(), "INT");
    let waits = |mask: String| u64::from_str_radix(&mask, 16).is_ok_and(|m| m >> 14 & 1 == 1);
    wait_until("the run to end the tool", || waits(status(wrapper, "ShdPnd")));
    // A signal that follows at once is the same request as the first.
    let ended = wait_until("the run to end at a second signal", || {
        kill(run.id(), "INT");
        thread::sleep(Duration::from_millis(50));
        run.try_wait().unwrap()
    });
    assert_eq!(ended.code(), Some(130));
    let file = saved(lab.programs.path());
    assert_eq!(file.ended, None, "the run was not ended at once, but waited for the tool");
    assert_eq!(file.measurements[0].trials.len(), 3, "what was measured is kept");
    [tool, wrapper].into_iter().for_each(wait_for_the_end_of);
    assert_eq!(fs::read_dir(lab.disk.path()).unwrap().count(), 0, "nothing is left");
}
