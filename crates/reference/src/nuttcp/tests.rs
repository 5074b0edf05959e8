use super::*;
use crate::testing::{CUT, near, only, read_captured, refuses, with_piece};
use proofmark_model::key;

fn text(name: &str) -> &'static str {
    read_captured("nuttcp", &format!("{name}.txt"))
}

/// Returns the checks of a figure's findings, with their severity.
fn found(figure: &Figure) -> Vec<(&str, Severity)> {
    figure.findings.iter().map(|f| (&*f.check, f.severity)).collect()
}

const TWICE: &str = "two_accounts";

#[test]
fn a_megabyte_is_binary_and_the_rate_has_the_digits_of_the_time() {
    let t = &only(&Nuttcp, text("8.2.2-tcp")).trials[0];
    assert!(near(t.value, 26_482_692_300.0) && near(t.work, 3159.8021 * 8.0 * 1_048_576.0));
    assert!((t.seconds - 1.0).abs() < 0.005 && t.seconds != 1.0);
    let counted = t.network.as_ref().unwrap().received_bytes as f64;
    assert!((0.0..8.0).contains(&(counted * 8.0 - t.work)), "no more is claimed than counted");
}

#[test]
fn what_is_said_twice_and_differently_is_found() {
    let rate = [(TWICE, Severity::Invalid)];
    let doubt = [(TWICE, Severity::Suspect)];
    let rows = [
        ("8.2.2-tcp", "26482.6923", "25482.6923", rate),
        ("8.2.2-tcp", "3159.8021", "3259.8021", rate),
        ("8.2.2-tcp", "1.00 sec", "1.02 sec", rate),
        // The rate of the other end.
        ("8.2.2-tcp-verbose", "26423.2897", "24423.2897", rate),
        ("8.2.2-tcp-parse", "rate_Mbps=24573.8706", "rate_Mbps=23573.8706", rate),
        ("8.2.2-udp-verbose", "3749 / 99538 drop/pkt 3.77%", "3749 / 99538 drop/pkt 5.77%", doubt),
        (
            "8.2.2-udp-verbose",
            "buflen=65507, nstream=1, port=5612 udp af",
            "buflen=65, udp af",
            doubt,
        ),
        ("6.1.2-tcp-intervals", "1728.1875 MB", "4728.1875 MB", doubt),
        ("made-5.1.11-udp-intervals", "    4.7656 MB", "    1.7656 MB", doubt),
    ];
    for (name, from, to, expected) in rows {
        let figure = with_piece(&Nuttcp, text(name), from, to);
        let checks: Vec<_> = found(&figure).into_iter().filter(|(c, _)| *c == TWICE).collect();
        assert_eq!(checks, expected, "{name}: {from}");
        let as_printed = only(&Nuttcp, text(name));
        assert!(found(&as_printed).iter().all(|(check, _)| *check != TWICE), "{name}");
    }
    let both = format!("{}\n{}", text("8.2.2-tcp-verbose").trim_end(), "");
    let both = both.replace(
        "\n\nnuttcp-r",
        "\n\n228.8750 MB / 0.07 sec = 26129.8455 Mbps 14 %TX 85 %RX\n\nnuttcp-r",
    );
    assert_eq!(found(&only(&Nuttcp, &both)), [], "the one line among those of both ends");
    let figure = with_piece(
        &Nuttcp,
        &both,
        "228.8750 MB / 0.07 sec = 26129",
        "230.8750 MB / 0.07 sec = 26358",
    );
    assert_eq!(found(&figure), [rate, doubt].concat(), "the one line and the other end differ");
}

#[test]
fn the_default_pace_of_udp_is_no_measurement() {
    let default = ("udp_default_rate", Severity::Invalid);
    assert_eq!(found(&only(&Nuttcp, text("6.1.2-udp"))), [default]);
    // A higher rate was requested, and the rest was lost.
    let (as_is, lost) = ("0 / 16 drop/pkt 0.00 %loss", "16 / 32 drop/pkt 50.00 %loss");
    assert_eq!(found(&with_piece(&Nuttcp, text("6.1.2-udp"), as_is, lost)), []);
    let verbose = text("6.1.2-udp-parse-verbose");
    assert_eq!(found(&only(&Nuttcp, verbose)), []);
    let figure = with_piece(&Nuttcp, verbose, "rate_limit=300.000", "rate_limit=1.000");
    assert_eq!((found(&figure), figure.params.get(key::RATE)), (vec![default], Some(1_000_000)));
    assert_eq!(
        found(&with_piece(
            &Nuttcp,
            text("8.2.2-tcp"),
            "3159.8021 MB /   1.00 sec = 26482.6923",
            "0.1192 MB / 1.00 sec = 1.0000"
        )),
        []
    );
}

#[test]
fn cpu_time_is_of_the_end_that_has_it() {
    let of = |name| {
        let trial = only(&Nuttcp, text(name)).trials.remove(0);
        let network = trial.network.unwrap();
        [network.client, network.server]
            .map(|end| end.own_cpu_s.map(|own| (100.0 * own / trial.seconds).round()))
    };
    assert_eq!(of("8.2.2-tcp"), [Some(14.0), Some(82.0)]);
    assert_eq!(of("8.2.2-tcp-verbose"), [Some(14.0), Some(85.0)]);
    assert_eq!(of("6.1.2-tcp-reverse-verbose"), [Some(54.0), Some(34.0)]);
    // The transmitter may have been paced, and polls meanwhile.
    assert_eq!(of("6.1.2-tcp-paced-parse-verbose"), [None, Some(2.0)]);
    assert_eq!(of("8.2.2-udp-reverse-verbose"), [Some(3.0), None]);
    assert_eq!(of("6.1.2-udp-lost"), [None, Some(9.0)]);
    assert_eq!(of("8.2.2-udp-verbose"), [Some(94.0), Some(21.0)]);
}

#[test]
fn the_rate_is_the_receivers_or_is_called_the_senders() {
    let f = only(&Nuttcp, text("made-3.1.10-classic-sender"));
    assert_eq!((&*f.test, f.proof, f.trials[0].network.clone()), ("TCP.sent", None, None));
    let f = only(&Nuttcp, text("made-5.1.3-classic"));
    assert!(f.test == TCP && f.proof.is_some());
    let f = with_piece(&Nuttcp, text("made-5.1.3-classic"), "%RX", "%TX");
    assert_eq!((&*f.test, f.proof), ("TCP.sent", None));
    let f = with_piece(&Nuttcp, text("6.1.2-udp-lost"), " 38558 / 64780 drop/pkt", "");
    assert_eq!((&*f.test, &f.trials[0].network), (UDP, &None));
    let f =
        with_piece(&Nuttcp, text("8.2.2-tcp-verbose"), "nuttcp-t: 228.8750", "nuttcp-t: 229.8750");
    let n = f.trials[0].network.as_ref().unwrap();
    assert_eq!(n.sent_bytes - n.received_bytes, 1 << 20, "each end has its own count");
}

#[test]
fn a_size_that_is_not_certain_is_absent() {
    let block = |name| only(&Nuttcp, text(name)).params.get(key::BLOCK_SIZE);
    assert_eq!(block("6.1.2-udp-lost"), Some(32_768));
    assert_eq!(block("6.1.2-udp"), None, "of 16 datagrams");
    assert_eq!(block("8.2.2-tcp"), None);
    let f = with_piece(&Nuttcp, text("6.1.2-udp-lost"), "38558", "38557");
    assert_eq!(f.params.get(key::BLOCK_SIZE), None);
}

#[test]
fn runs_of_a_file_are_trials_unless_they_are_named() {
    let three = only(&Nuttcp, text("8.2.2-tcp-three-runs"));
    assert_eq!(three.trials.len(), 3);
    let verbose = text("8.2.2-tcp-verbose");
    assert_eq!(only(&Nuttcp, &verbose.repeat(2)).trials.len(), 2);
    let mixed = format!("{}{verbose}{}", text("8.2.2-tcp"), text("8.2.2-tcp"));
    let figures = Nuttcp.parse(&mixed).unwrap().figures;
    assert_eq!(figures.iter().map(|f| f.trials.len()).collect::<Vec<_>>(), [2, 1]);
    let one = text("8.2.2-tcp-streams-label");
    let two = format!("{one}{}", one.replace("lab1", "lab2"));
    let figures = Nuttcp.parse(&two).unwrap().figures;
    let names: Vec<_> = figures.iter().map(|f| f.params.word("identifier")).collect();
    assert_eq!(names, [Some("lab1"), Some("lab2")]);
}

#[test]
fn what_it_warns_of_is_said_once() {
    let note = ("tool_warning", Severity::Note);
    let figure = only(&Nuttcp, text("8.2.2-tcp-streams-label"));
    assert_eq!(found(&figure), [note]);
    assert!(figure.findings[0].message.contains("send window size 4194304 < requested"));
    // A failed run among others is reported.
    let others = [text("8.2.2-tcp"), text("6.1.2-refused"), text("8.2.2-tcp")].concat();
    let figure = only(&Nuttcp, &others);
    assert_eq!(figure.trials.len(), 2);
    let severe = figure.findings.iter().any(|f| f.severity != Severity::Note);
    assert!(!severe && found(&figure).iter().filter(|found| **found == note).count() == 3);
    let parse = "nuttcp-t: Warning=\"send_window_size_1_<_requested_window_size_2\"\n";
    let figure = only(&Nuttcp, &format!("{parse}{}", text("8.2.2-tcp-parse")));
    assert_eq!(found(&figure), [note]);
    let late = format!("{}nuttcp-t: v8.2.2: Error: timeout\n", text("8.2.2-tcp-verbose"));
    assert_eq!(found(&only(&Nuttcp, &late)), [note], "of a run without an amount");
    let within = "nuttcp-r: accept";
    let figure = with_piece(
        &Nuttcp,
        text("8.2.2-tcp-verbose"),
        within,
        "nuttcp-r: Error: poll\nnuttcp-r: accept",
    );
    assert_eq!(found(&figure), [("tool_warning", Severity::Suspect)]);
}

#[test]
fn what_is_no_whole_run_is_refused() {
    for (name, words) in [
        ("6.1.2-refused", "line 3: nuttcp ended with an error: connect: Connection refused"),
        ("6.1.2-data-refused", "line 1: nuttcp ended with an error"),
        ("6.1.2-udp-nothing-refused", "line 6: nuttcp ended with an error: not receiving data"),
    ] {
        assert!(Nuttcp.recognises(text(name)), "{name}");
        refuses(&Nuttcp, text(name), &[("", "", words)]);
    }
    let changes = [
        ("\n 4781.6250", CUT, "this is a part of a run without its total"),
        ("4781.6250", "0.0000", "line 5: no byte arrived"),
        ("25073.2157", "1e61", "not a number"),
    ];
    refuses(&Nuttcp, text("6.1.2-tcp-intervals"), &changes);
    let changes = [
        ("nuttcp-t: 228.8750 MB in", CUT, "the end of the run is missing"),
        ("nstream=1", "nstream=x", "not a whole number"),
    ];
    refuses(&Nuttcp, text("8.2.2-tcp-verbose"), &changes);
    let changes = [
        ("38558 /", "64781 /", "more datagrams are lost than sent"),
        ("819.4375 MB /   0.50 sec", "81943750000 MB / 0.00 sec", "the time is zero"),
    ];
    refuses(&Nuttcp, text("6.1.2-udp-lost"), &changes);
    refuses(&Nuttcp, "no nuttcp", &[("no", "this is no", "line 1: there is no amount")]);
    assert!(
        !Nuttcp.recognises("ttcp-t: 16777216 bytes in 1.50 real seconds = 10922.67 KB/sec +++")
    );
}
