use super::*;
use crate::testing::{CUT, read_captured, refuses, replaced, with_piece};
use proofmark_model::key;

fn text(name: &str) -> &'static str {
    read_captured("iperf3", &format!("{name}.json"))
}

#[test]
fn both_ways_take_the_longer_time() {
    let longer = with_piece(
        &Iperf3,
        text("3.12-tcp-bidir"),
        "1.000788,\n\t\t\t\"bytes\":\t249686016",
        "1.005,\n\t\t\t\"bytes\":\t249686016",
    );
    assert_eq!(longer.trials[0].seconds, 1.005);
}

#[test]
fn each_run_of_a_file_is_read_whatever_stands_around_it() {
    let one = text("3.12-tcp");
    let next = replaced(one, "\"cookie\":\t\"", "\"cookie\":\t\"another");
    let twice = format!("Defaulted container \"client\" out of: client\n{one}\ndone\n{next}\n");
    let figure = crate::testing::only(&Iperf3, one);
    let both = crate::testing::only(&Iperf3, &twice);
    assert_eq!(both.trials, [&figure.trials[..]; 2].concat());
    // Version 3.17 prints its JSON twice.
    assert_eq!(crate::testing::only(&Iperf3, &format!("{one}\n{one}")), figure);
    let others = format!("{one}\n{}", text("3.12-tcp-4-streams"));
    assert_eq!(Iperf3.parse(&others).unwrap().figures.len(), 2, "not the same streams");
    let refused = text("3.12-refused");
    let before = format!("x\n{one}\n");
    let error = Iperf3.parse(&format!("{before}{refused}")).unwrap_err();
    let line = Iperf3.parse(refused).unwrap_err().line;
    assert_eq!(error.line, before.matches('\n').count() + line, "{error}");
}

fn findings(text: &str) -> Vec<(String, String)> {
    let figure = crate::testing::only(&Iperf3, text);
    let plain =
        |f: &proofmark_model::Finding| (f.check.to_string(), f.message.replace('\u{202f}', " "));
    figure.findings.iter().map(plain).collect()
}

#[test]
fn runs_between_other_machines_do_not_repeat_one_another() {
    let one = text("3.12-tcp");
    let other = one.replace("\"remote_host\":\t\"127.0.0.1\"", "\"remote_host\":\t\"192.0.2.9\"");
    let figures = Iperf3.parse(&format!("{one}\n{other}")).unwrap().figures;
    let servers: Vec<_> = figures.iter().map(|f| f.params.word("server").unwrap()).collect();
    assert_eq!(servers, ["127.0.0.1", "192.0.2.9"]);
    // The runs share the network, as parts of one test.
    let beside = replaced(one, "\"port\":\t", "\"port\":\t1");
    let both = format!("{one}\n{beside}");
    refuses(
        &Iperf3,
        &both,
        &[("", "", "line 124: this run and one before it ran at the same time")],
    );
    let later = replaced(&beside, "\"timesecs\":\t17", "\"timesecs\":\t18");
    assert_eq!(crate::testing::only(&Iperf3, &format!("{one}\n{later}")).trials.len(), 2);
}

#[test]
fn events_are_a_run() {
    let (events, whole) = (text("made-3.17-events"), text("3.12-tcp-bidir-2-streams"));
    let figure = crate::testing::only(&Iperf3, events);
    assert_eq!(figure, crate::testing::only(&Iperf3, whole));
    let other = events.replace("\"cookie\":\"", "\"cookie\":\"another");
    assert_ne!(other, events);
    assert_eq!(crate::testing::only(&Iperf3, &format!("{events}{other}")).trials.len(), 2);
    assert_eq!(crate::testing::only(&Iperf3, &format!("{events}{events}")).trials.len(), 1);
    assert_eq!(crate::testing::only(&Iperf3, &format!("{events}{whole}")).trials.len(), 1);
    assert_eq!(crate::testing::only(&Iperf3, &format!("{events}{whole}\n{whole}")).trials.len(), 1);
    refuses(
        &Iperf3,
        events,
        &[("{\"event\":\"end\"", CUT, "line 1: the events of this run have no end")],
    );
    refuses(&Iperf3, events, &[("\"event\":\"end\"", "\"event\":\"error\"", "have no end")]);
}

#[test]
fn what_is_said_twice_must_agree() {
    let reverse = "3.12-tcp-reverse-omit-2-streams";
    // The end includes the bytes of the omitted second: esnet/iperf#443.
    let with_omitted = |text: &str| {
        let sum = text.rfind("\"sum_received\"").unwrap();
        let (before, after) = text.split_at(sum);
        let after = after.replacen("4739039232", "7022182400", 1);
        format!("{before}{}", after.replacen("18956185362.27804", "28088771733.15760", 1))
    };
    let found = findings(&with_omitted(text(reverse)));
    let says = "the intervals moved 4 739 039 232 B in 2.000 s (18.96 Gbit/s), but the end reports \
                7 022 182 400 B in 2.000 s (28.09 Gbit/s)";
    assert_eq!(found[0], ("two_accounts".to_owned(), says.to_owned()));
    let lost = "3.12-udp-lost";
    for (name, from, to, words) in [
        ("3.12-tcp", "\"bytes\":\t2557214720", "\"bytes\":\t1557214720", "the receiver got"),
        (
            lost,
            "\"lost_percent\":\t4.861548985783118",
            "\"lost_percent\":\t9.8",
            "are 4.9 %, but the output has 9.8 %",
        ),
        (lost, "\"blksize\":\t1472", "\"blksize\":\t1000", "datagrams of 1000 B, but reports"),
        (
            lost,
            "\"lost_packets\":\t16345",
            "\"lost_packets\":\t345",
            "sum_received reports 32 691 lost",
        ),
        (
            "3.12-tcp-server-output",
            "\"bytes\":\t2398617600",
            "\"bytes\":\t2388617600",
            "the server reports",
        ),
        (
            "3.12-tcp-4-streams",
            "\"retransmits\":\t6",
            "\"retransmits\":\t9",
            "sum_sent reports 9 retransmits, but its streams 6",
        ),
    ] {
        let text = text(name);
        let (head, end) = text.split_at(text.find("\"end\":\t{\n\t\t\"streams").unwrap_or(0));
        let changed = match name {
            "3.12-tcp-server-output" => {
                let own = end.rfind("\"server_output_json\"").unwrap();
                format!("{head}{}{}", &end[..own], end[own..].replace(from, to))
            }
            "3.12-tcp-4-streams" => format!(
                "{head}{}",
                replaced(end, "\"sum_sent\"", "\"sum_sent\" ").replacen(from, to, 1)
            ),
            _ => format!("{}{}", head.replace(from, to), end.replace(from, to)),
        };
        let found = findings(&changed);
        assert!(found.iter().any(|f| f.1.contains(words)), "{to}: {found:?}");
    }
}

#[test]
fn intervals_cannot_last_longer_than_the_test() {
    let mut json: serde_json::Value = serde_json::from_str(text("3.12-tcp")).unwrap();
    let received = &mut json["end"]["sum_received"];
    for (key, factor) in [("seconds", 0.1), ("bits_per_second", 10.0)] {
        received[key] = (received[key].as_f64().unwrap() * factor).into();
    }
    let found = findings(&json.to_string());
    assert!(found.iter().any(|(_, says)| says.contains("the intervals move")), "{found:?}");
}

#[test]
fn what_limits_a_rate_is_its_pace() {
    let check = |text: &str| findings(text).into_iter().map(|f| f.0).collect::<Vec<_>>();
    let default = text("3.12-udp-default");
    assert_eq!(check(default), ["udp_default_rate"]);
    let (of, other) = ("\"target_bitrate\":\t1048576", "\"target_bitrate\":\t50000000");
    assert_eq!(check(&default.replace(of, other)), [""; 0], "the link gave no more");
    let older = default.replace(",\n\t\t\t\"target_bitrate\":\t1048576", "");
    assert_eq!(check(&older), ["udp_default_rate"], "by its rate");
    let fair = replaced(text("3.18-tcp-4-streams"), "\"fqrate\":\t0", "\"fqrate\":\t100000000");
    assert_eq!(crate::testing::only(&Iperf3, &fair).test, "TCP.paced");
}

#[test]
fn the_receivers_count_is_the_proof_and_warnings_are_reported() {
    let one = text("3.12-tcp");
    let figure = crate::testing::only(&Iperf3, one);
    assert!(figure.proof.is_some());
    let network = figure.trials[0].network.as_ref().unwrap();
    assert!(network.sent_bytes > network.received_bytes, "iperf3 stops with bytes in flight");
    let back = crate::testing::only(&Iperf3, text("3.12-tcp-reverse-omit-2-streams"));
    let back = back.trials[0].network.as_ref().unwrap();
    let again = [network, back].map(|n| [n.client.retransmits, n.server.retransmits]);
    assert!(matches!(again, [[Some(_), None], [None, Some(_)]]), "{again:?}");
    let four = crate::testing::only(&Iperf3, text("3.12-tcp-4-streams"));
    assert_eq!(four.trials[0].network.as_ref().unwrap().client.retransmits, Some(6));
    let warned = "warning: UDP block size 8192 exceeds TCP MSS 1448, may result in fragmentation";
    let found = findings(&format!("{warned}\n{}", text("3.12-udp")));
    assert_eq!(found[0].0, "tool_warning");
    assert!(found[0].1.contains("UDP block size 8192"), "{found:?}");
}

#[test]
fn parameters_are_ours() {
    let udp = |from, to| with_piece(&Iperf3, text("3.12-udp"), from, to).params;
    let more = udp("\"num_streams\":\t1", "\"num_streams\":\t4");
    assert_eq!(more.get(key::RATE), Some(400_000_000), "of all streams");
    let buffer = udp("\"sock_bufsize\":\t0", "\"sock_bufsize\":\t65536");
    assert_eq!(buffer.get(key::SOCKET_BUFFER), Some(65_536));
    let (here, peer) = ("\"remote_host\":\t\"127.0.0.1\"", "\"remote_host\":\t\"192.0.2.1\"");
    let tcp = |from, to| with_piece(&Iperf3, text("3.12-tcp"), from, to);
    assert_eq!(tcp(here, peer).params.get(key::PATH), None);
    assert_eq!(tcp("\"TCP\"", "\"SCTP\"").test, "SCTP");
}

#[test]
fn a_test_that_failed_is_an_error() {
    for (name, words) in [
        ("3.12-refused", "line 10: error ended the test: unable to connect to server"),
        ("3.12-interrupted-refused", "error ended the test: interrupt - the client has terminated"),
        ("3.18-refused", "error ended the test: unable to connect to server"),
        ("3.9-refused", "test_start is not there"),
        ("3.12-server-refused", "is a server's: give the client's output"),
    ] {
        assert!(Iperf3.recognises(text(name)), "{name}");
        refuses(&Iperf3, text(name), &[("", "", words)]);
    }
}

#[test]
fn what_does_not_add_up_is_refused() {
    let lost = text("3.12-udp-lost");
    let rate = "941710528,\n\t\t\t\"bits_per_second\":\t7531763624.27581";
    let changes = [
        ("941710528", "999999999", "does not follow"),
        ("941710528", "-941710528", "is negative"),
        (rate, "0,\"bits_per_second\":0", "no byte"),
        ("\"UDP\"", "\"DCCP\"", "none of TCP"),
        ("1795297654", "9e15", "no time"),
        ("1795297654", "1e61", "is not a number"),
        ("1795297654", "\"x\"", "line 18: timestamp.timesecs is not a number, or is negative"),
        ("\"connecting_to\"", "\"accepted_connection\"", "a server"),
        (lost, "{\"start\": \"iperf 3\"\n,}", "line 2: "),
    ];
    refuses(&Iperf3, lost, &changes);
    // Several objects have these keys.
    for (from, to, why) in [
        ("\"lost_packets\":\t32691", "\"lost_packets\":\t932691", "more than packets"),
        ("\"packets\":\t672440", "\"packets\":\t6.5", "whole number"),
        ("\"seconds\":\t1.000255", "\"seconds\":\t0", "seconds is zero"),
    ] {
        refuses(&Iperf3, lost, &[(lost, &lost.replace(from, to), why)]);
    }
    let brief = text("3.9-tcp-bidir");
    refuses(&Iperf3, brief, &[(brief, &brief.replace("1.042199", "1e-55"), "out of range")]);
}
