use super::*;
use crate::read as read_by_any;

const HPL: &str = include_str!("../hpl/captured/2.0-hpcc-1.5.0-debian13-1-process.txt");

fn read(text: &str) -> Option<usize> {
    let (tool, output) = read_by_any(text)?;
    assert_eq!(tool.id(), "hpl");
    Some(output.unwrap().figures.len())
}

#[test]
fn encodings_are_told_apart() {
    let text = "Grösse: 5 µs\nsecond\n";
    let units: Vec<u16> = text.encode_utf16().collect();
    let of = |bytes: fn(u16) -> [u8; 2]| units.iter().flat_map(|u| bytes(*u)).collect::<Vec<u8>>();
    let (little, big) = (of(u16::to_le_bytes), of(u16::to_be_bytes));
    let latin1: Vec<u8> = text.chars().map(|c| c as u8).collect();
    for bytes in [
        text.as_bytes().to_vec(),
        [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        [b"\xFF\xFE", &little[..]].concat(),
        [b"\xFE\xFF", &big[..]].concat(),
        little,
        big,
        latin1,
    ] {
        assert_eq!(decoded(&bytes), text, "{bytes:?}");
    }
    assert_eq!(decoded(b""), "");
    let mail = b"> sent =3D 4096 B, tho=\nugh 5 =C2=B5s=20\n> next=\r\n!\nlast\n";
    assert_eq!(decoded(mail), "> sent = 4096 B, though 5 \u{b5}s \n\n> next!\n\nlast\n");
    assert_eq!(decoded(b"a=3D, b=x, c=y\n"), "a=3D, b=x, c=y\n");
    assert_eq!(decoded(b"50 %\r100 %\rdone\r\n\r\r\nnext\r"), "done\n\nnext");
    assert_eq!(decoded(b"old\rlines\r"), "old\nlines\n");
    assert_eq!(decoded(b"\x1b[1;32mok\x1b[0m 5\x1b[K\n\x1b["), "ok 5\n");
}

#[test]
fn what_other_programs_put_before_each_line_is_left_out() {
    let figures = read(HPL).unwrap();
    let before =
        |prefix: &str| -> String { HPL.lines().map(|line| format!("{prefix}{line}\n")).collect() };
    for prefix in [
        "[1,0]<stdout>:",
        "[prterun-node1-77@1,0]<stdout>: ",
        "[pod/hpl-0/main] ",
        "2024-01-02T03:04:05.678901234Z ",
        "2024-01-02 03:04:05 ",
        "[2024-01-02T03:04:05Z] ",
        "Jan  2 03:04:05 node1 hpl[77]: ",
        "hpl-1  | ",
        "3: ",
        "node01: ",
        "run #2: ",
        "> ",
        "> > ",
        "bench\tRun HPL\t2024-01-02T03:04:05.678Z ",
        "2024-01-02T03:04:05+01:00 node1 hpl[77]: ",
        "        ",
        "\t",
        "2024-01-02T03:04:05.678Z [1,0]<stdout>:",
        "    0: ",
        "[STDOUT] ",
        "<h2>: ",
        " * ",
        "// ",
        "03:04:05  ",
        "[03:04:05] ",
        "hpl-0 main ",
        "out.txt:",
        "+",
        "|",
        "2024-01-02T03:04:05.678901234Z stdout F ",
        "2024-01-02T03:04:05.678901Z 01O ",
        "Mon Jan  2 03:04:05 UTC 2024: ",
        "_bk;t=1700000000000\u{7}",
    ] {
        assert_eq!(read(&before(prefix)), Some(figures), "{prefix:?}");
    }
    let list: String = HPL
        .lines()
        .map(|line| format!("    {},\n", serde_json::to_string(line).unwrap()))
        .collect();
    assert_eq!(
        read(&format!("ok: [node1] => {{\n  \"stdout_lines\": [\n{list}  ]\n}}\n")),
        Some(figures)
    );
    let play = format!("TASK [Results] ***\nok: [node1] =>\n  stdout: |-\n{}", before("    "));
    assert_eq!(read(&play), Some(figures));
    assert_eq!(read("nothing\n"), None);
}

#[test]
fn outputs_are_found_within_json() {
    let figures = read(HPL).unwrap();
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let play = format!("{{\n  \"rc\": 0,\n  \"stdout\": {}\n}}\n", quoted(HPL));
    assert_eq!(read(&play), Some(figures));
    let log: String = HPL
        .lines()
        .map(|line| format!("{{\"log\":{},\"stream\":\"stdout\"}}\n", quoted(&format!("{line}\n"))))
        .collect();
    assert_eq!(read(&log), Some(figures));
    const FIO: &str = include_str!("../fio/captured/3.33-direct-steady.json");
    let (_, alone) = read_by_any(FIO).unwrap();
    for text in [
        format!("{{\"a\": {{\"b\": {FIO}}}}}"),
        format!("[{FIO}, {FIO}]"),
        format!("{{\"rc\": 0, \"stdout\": {}}}", quoted(FIO)),
        FIO.replace("\"bw_dev\" : 0.000000", "\"bw_dev\" : -nan"),
    ] {
        let (tool, output) = read_by_any(&text).unwrap();
        assert_eq!((tool.id(), output), ("fio", alone.clone()), "{}", &text[..60]);
    }
}

#[test]
fn the_lines_of_each_program_are_an_output() {
    let mixed = |[a, b]: [&str; 2]| -> String {
        HPL.lines().map(|line| format!("{a}{line}\n{b}{line}\n")).collect()
    };
    let trials = |text: &str| -> Vec<usize> {
        let (_, output) = read_by_any(text).unwrap();
        output.unwrap().figures.iter().map(|f| f.trials.len()).collect()
    };
    let alone = trials(HPL);
    let twice: Vec<usize> = alone.iter().map(|n| 2 * n).collect();
    assert_eq!(trials(&mixed(["run 1: ", "run 2: "])), twice);
    // The results of two machines, or of two tasks at once, are no repetitions.
    for names in [
        ["node1 | ", "node2 | "],
        ["[pod/a/main] ", "[pod/b/main] "],
        ["0: ", "1: "],
        ["[1,0]<stdout>:", "[1,1]<stdout>:"],
    ] {
        assert_eq!(trials(&mixed(names)), [&*alone, &*alone].concat(), "{names:?}");
    }
    let (_, output) = read_by_any(&mixed(["node1: ", "node2: "])).unwrap();
    let figures = output.unwrap().figures;
    let places: Vec<_> = figures.iter().filter_map(|f| f.params.word("from")).collect();
    assert_eq!((places.len(), places[0], places[alone.len()]), (2 * alone.len(), "node1", "node2"));
    // Only the first rank prints a report.
    let ranks: String = HPL.lines().map(|line| format!("0: {line}\n1: warning\n")).collect();
    assert_eq!(trials(&ranks), alone);
    let damaged = mixed(["0: ", "1: "]).replace("1: WR", "1: W");
    assert!(read_by_any(&damaged).is_none_or(|(_, output)| output.is_err()), "of the second");
}

#[test]
fn every_captured_output_is_found_behind_prefixes() {
    for (folder, path) in crate::captured::folders() {
        for (name, text) in crate::captured::outputs(&path) {
            let Some((tool, output)) = read_by_any(&text) else { continue };
            for prefix in ["node-1  | ", "[1,0]<stdout>:", "      "] {
                let behind: String = text.lines().map(|line| format!("{prefix}{line}\n")).collect();
                let found = read_by_any(&behind).unwrap_or_else(|| panic!("{folder}/{name}"));
                assert_eq!(found.0.id(), tool.id(), "{folder}/{name} behind {prefix:?}");
                assert_eq!(found.1, output, "{folder}/{name} {prefix:?}");
            }
        }
    }
}

/// Returns the places of the results and the trials of each.
fn places(text: &str) -> Vec<(String, usize)> {
    let (_, output) = read_by_any(text).unwrap();
    let figures = output.unwrap_or_else(|e| panic!("{e}: {}", &text[..80])).figures;
    let place = |f: &crate::Figure| f.params.word("from").unwrap_or_default().to_owned();
    let mut all: Vec<_> = figures.iter().map(|f| (place(f), f.trials.len())).collect();
    all.dedup();
    all
}

fn at(places: &[&str], trials: usize) -> Vec<(String, usize)> {
    places.iter().map(|place| ((*place).to_owned(), trials)).collect()
}

const STREAM: &str = include_str!("../stream/captured/5.10-debian12-2-threads.txt");
const FIO: &str = include_str!("../fio/captured/3.33-direct-steady.json");

#[test]
fn outputs_of_several_keys_in_json_are_no_repetitions() {
    let quoted = serde_json::to_string(STREAM).unwrap();
    let result = format!("{{\"rc\": 0, \"stderr\": \"a\\nb\", \"stdout\": {quoted}}}");
    let plays = format!(
        "{{\"plays\": [{{\"tasks\": [{{\"hosts\": {{\"node1\": {result}, \"node2\": {result}}}}}]}}]}}"
    );
    let ad_hoc = format!("node1 | CHANGED => {result}\nnode2 | CHANGED => {result}\n");
    let play = format!("ok: [node1] => {result}\nchanged: [node2] => {result}\n");
    let deep = format!("{{\"node1\": {{\"a\": {FIO}}}, \"node2\": {{\"a\": {FIO}}}}}");
    let lists = format!("{{\n\"node1\": [\n{FIO}\n],\n\"node2\": [\n{FIO}\n]\n}}");
    for text in [
        plays,
        ad_hoc,
        play,
        deep,
        lists,
        format!("{{\"node1\": {quoted}, \"node2\": {quoted}}}"),
        format!("{{\"node1\": {FIO}, \"node2\": {FIO}}}"),
        format!("Results \"of 2:\n{{\n\"node1\":\n{FIO},\n\"node2\":\n{FIO}}}"),
    ] {
        assert_eq!(places(&text), at(&["node1", "node2"], 1), "{}", &text[..60]);
    }
    // The keys of repetitions.
    for [a, b] in [["run1", "run2"], ["1", "2"]] {
        let text = format!(
            "{{\"{a}\": {quoted}, \"{b}\": {}}}",
            quoted.replace("Solution", "*\\nSolution")
        );
        assert_eq!(places(&text), at(&[""], 2), "{a}");
    }
    let list = format!("{{\"all\": [{{\"stdout\": {quoted}}}, {{\"stdout\": {quoted}}}]}}");
    assert_eq!(places(&list), at(&[""], 1), "a text that is there twice");
    let many: Vec<_> = (0..40).map(|n| format!("\"node{n}\": {FIO}")).collect();
    assert_eq!(places(&format!("{{{}}}", many.join(","))).len(), 40);
    // Prefixes in the strings.
    let timed: String = STREAM.lines().map(|l| format!("2024-01-02T03:04:05Z {l}\n")).collect();
    let timed = serde_json::to_string(&timed).unwrap();
    let text = format!("{{\"node1\": {timed}, \"node2\": {timed}}}");
    assert_eq!(places(&text), at(&["node1", "node2"], 1));
}

#[test]
fn prefixes_with_other_digits_are_other_machines() {
    let before = |prefix: &str| -> String {
        STREAM.lines().map(|line| format!("{prefix}{line}\n")).collect()
    };
    for (a, b, [first, second]) in [
        ("node1.txt:", "node2.txt:", ["node1.txt", "node2.txt"]),
        ("hpl-0 main ", "hpl-1 main ", ["hpl-0 main", "hpl-1 main"]),
        ("03:04:05 n1> ", "03:04:06 n2> ", ["n1", "n2"]),
        ("10.0.0.1 ) ", "10.0.0.2 ) ", ["10.0.0.1", "10.0.0.2"]),
        ("replica-1 | ", "replica-2 | ", ["replica-1", "replica-2"]),
        ("runner1: ", "runner2: ", ["runner1", "runner2"]),
        ("repo1: ", "repo2: ", ["repo1", "repo2"]),
        ("passau01: ", "passau02: ", ["passau01", "passau02"]),
        ("test1: ", "test2: ", ["test1", "test2"]),
    ] {
        assert_eq!(places(&(before(a) + &before(b))), at(&[first, second], 1), "{a}");
        let mixed: String = HPL.lines().map(|l| format!("{a}{l}\n{b}{l}\n")).collect();
        let mut found: Vec<String> = places(&mixed).into_iter().map(|(place, _)| place).collect();
        found.dedup();
        assert_eq!(found, [first, second], "{a} mixed");
    }
    for (a, b) in [
        ("03:04:05  ", "03:04:06  "),
        ("Mon Jan  2 03:04:05 UTC 2024: ", "Mon Jan  3 03:04:05 UTC 2024: "),
        ("_bk;t=1700000000000\u{7}", "_bk;t=1700000000001\u{7}"),
        ("(12.345) ", "(13.345) "),
        ("run1.txt:", "run2.txt:"),
        ("test 1: ", "test 2: "),
        ("attempt 1: ", "attempt 2: "),
        ("sample 1: ", "sample 2: "),
        ("Iteration #1: ", "Iteration #2: "),
    ] {
        assert_eq!(places(&(before(a) + &before(b))), at(&[""], 2), "{a}");
    }
    let counted: String =
        STREAM.lines().enumerate().map(|(n, l)| format!("out {:02}) {l}\n", n + 10)).collect();
    assert_eq!(places(&counted), at(&[""], 1), "a counter");
    // Lines with two layers.
    let numbered = |name: &str| -> String {
        STREAM.lines().enumerate().map(|(n, l)| format!("{name}.txt:{n}:{l}\n")).collect()
    };
    assert_eq!(
        places(&(numbered("node1") + &numbered("node2"))),
        at(&["node1.txt", "node2.txt"], 1)
    );
}

#[test]
fn tasks_and_blocks_of_machines_are_no_repetitions() {
    let before = |prefix: &str| -> String {
        STREAM.lines().map(|line| format!("{prefix}{line}\n")).collect()
    };
    for (a, b) in [(" 8: ", "10: "), ("[1,8]<stdout>:", "[1,10]<stdout>: ")] {
        let text = before(a) + &before(b);
        assert_eq!(places(&text), at(&["task 8", "task 10"], 1), "{a}");
    }
    let block = |name: &str| format!("----------------\n{name}\n----------------\n{STREAM}");
    assert_eq!(places(&(block("n1") + &block("n2"))), at(&["n1", "n2"], 1));
    assert_eq!(places(&(block("n1") + &block("n1"))), at(&[""], 2), "one machine");
    assert_eq!(places(&(block("run1") + &block("run2"))), at(&[""], 2));
    // A machine whose output is cut does not leave the others' to be taken for all.
    let cut = block("n2").replace("Solution Validates", "");
    assert!(read_by_any(&(block("n1") + &cut)).is_none_or(|(_, output)| output.is_err()));
}

#[test]
fn work_grows_with_the_text_alone() {
    let timed = |what: &str, text: String| {
        let began = std::time::Instant::now();
        let _ = read_by_any(&text);
        assert!(began.elapsed().as_secs() < 60, "{what}: {:?}", began.elapsed());
    };
    let mib = |piece: &str| piece.repeat((1 << 19) / piece.len());
    timed("events", mib("{\"event\":\"\"}"));
    timed("events of lines", mib("\n{\"event\":\"\"}"));
    timed("runs of fio", mib("{\"fio version\":\"\"},"));
    let keys: String = (0..20_000).map(|n| format!("\"n{n}\":{{\"event\":\"\"}},\n")).collect();
    timed("keys", format!("{{{keys}\"a\":0}}"));
    let long = "n".repeat(40);
    let keys: String = (0..20_000).map(|n| format!("\"{long}{n}\":\"a\\nb\",\n")).collect();
    timed("strings", format!("{{{keys}\"a\":0}}"));
    timed("braces", mib("{\"a\":"));
    let nodes: String = (0..20_000).map(|n| format!("---- n{n} ----\nx\n")).collect();
    timed("blocks", nodes);
    let names = "\"filename\":\"/dev/sd\",".repeat(100_000);
    timed(
        "filenames",
        format!(
            "{{\"fio version\":\"fio-3.33\",\"jobs\":[{{\"job options\":{{{names}\"a\":\"\"}}}}]}}"
        ),
    );
    const IPERF3: &str = include_str!("../iperf3/captured/3.12-tcp.json");
    let mut run: serde_json::Value = serde_json::from_str(IPERF3).unwrap();
    run["intervals"] = serde_json::Value::Null;
    let runs = (0..2000_u64).map(|n| {
        run["start"]["timestamp"]["timesecs"] = (1_700_000_000 + 1000 * n).into();
        format!("{run}\n\n\n")
    });
    timed("runs of iperf3", "\n".repeat(1 << 20) + &runs.collect::<String>());
}
