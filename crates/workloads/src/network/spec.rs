//! Declarations of the network workloads: parameters, units, explanations.

use std::borrow::Cow;

use proofmark_model::{
    AUTO, Parameter, Pick, PickedValue, Role, Subsystem, Unit, Work, WorkloadSpec, ceiling_id, key,
};

use super::shape::{BLOCK, CONNECTIONS, DATAGRAM_V6, MIN_RATE};
use crate::declare::{
    Words, alternative, auto_size_parameter, choice_parameter, count_parameter, main_row, pick,
    pick_value, place, rate, size_parameter, words,
};

/// Results with another machine are preferred to loopback.
const PEER: Pick = pick_value(key::PATH, "peer");
const ONE_STREAM: Pick = pick(key::STREAMS, PickedValue::Smallest);
const MAX_STREAMS: Pick = pick(key::STREAMS, PickedValue::Largest);

const STREAMS: Parameter = count_parameter(
    key::STREAMS,
    "Parallel connections, each with its own thread at both ends.",
    1..=CONNECTIONS,
    "1",
);

const fn block_size(about: &'static str, max: u64, default: &'static str) -> Parameter {
    size_parameter(key::BLOCK_SIZE, about, 1..=max, default)
}

const TCP_BLOCK: Parameter = block_size("Bytes per write call of the sender.", BLOCK, "65536");

const UDP_BLOCK: Parameter = block_size(
    "Payload bytes per datagram; auto: what fits into one packet to the server; over loopback the \
     maximum: 65,507 over IPv4, 65,527 over IPv6.",
    DATAGRAM_V6,
    AUTO,
);

const TCP_MESSAGE: Parameter =
    block_size("Payload bytes in each direction of a round trip.", BLOCK, "1");

const UDP_MESSAGE: Parameter = block_size(
    "Payload bytes in each direction of a round trip; at most 65,507 over IPv4, 65,527 over IPv6.",
    DATAGRAM_V6,
    "1",
);

const DIRECTION: Parameter = choice_parameter(
    key::DIRECTION,
    "Direction: client to server (forward), server to client (reverse), or both at once, each over \
     its own connections.",
    const { &words(["forward", "reverse", "both"]) },
    "forward",
);

const AMOUNT: Parameter = auto_size_parameter(
    key::AMOUNT,
    "Payload bytes per trial over all streams; auto: as many as fill the trial's duration.",
    1,
);

const SOCKET_BUFFER: Parameter = size_parameter(
    key::SOCKET_BUFFER,
    "Requested size of each socket's send and receive buffer; auto: TCP: set by the system; UDP: 4 \
     MiB. The system may grant another size.",
    1 << 10..=1 << 30,
    AUTO,
);

const CONGESTION: Parameter = choice_parameter(
    key::CONGESTION,
    "TCP congestion control, by its Linux name. Both ends must have it loaded \
     (net.ipv4.tcp_available_congestion_control); auto: the system's default.",
    const { &words(["cubic", "reno", "bbr", "dctcp", "vegas", "htcp"]) },
    AUTO,
);

const NO_DELAY: Parameter = choice_parameter(
    key::NO_DELAY,
    "TCP_NODELAY: small segments are sent at once (on) or wait until earlier data is acknowledged \
     (off).",
    const { &words(["on", "off"]) },
    "off",
);

const RATE: Parameter = count_parameter(
    key::RATE,
    "Total payload in bits per second over all streams, evenly paced: n datagrams take n intervals, \
     and a late sender catches up; auto: unlimited.",
    MIN_RATE..=1_000_000_000_000,
    AUTO,
);

const MODE: Parameter = choice_parameter(
    key::MODE,
    "How a thread waits for a block: sleep (block) or poll (poll), at both ends; auto: both, as \
     two results.",
    const { &words(["block", "poll"]) },
    AUTO,
);

const PLACEMENT: Parameter = choice_parameter(
    key::PLACEMENT,
    "Placement of the threads: apart (over loopback, client and server pinned to separate halves \
     of the CPUs) or free (placed by the scheduler); auto: apart over loopback except for TCP \
     streams, else free.",
    const { &words(["apart", "free"]) },
    AUTO,
);

const PATH: Parameter = choice_parameter(
    key::PATH,
    "Location of the server: this machine (loopback) or another one (peer); auto: detected.",
    const { &words(["loopback", "peer"]) },
    AUTO,
);

/// The text that the `detail` of every workload shares, after its own sentences.
macro_rules! detail {
    ($own:literal) => {
        concat!(
            $own,
            " The server is another process: on this machine, which the report then calls \
             loopback, or `proofmark serve` on another machine with the same key. proofmark reads \
             the interface and protocol counters of both ends around each trial."
        )
    };
}

const TCP_STREAM_DETAIL: &str = detail!(
    "Each stream is one TCP connection. One thread writes blocks of block_size, and another reads \
     them at the other end. A trial ends when the server's count of received bytes has come back. \
     So data that only filled a socket buffer does not count. The rate is the received payload \
     over all streams. Each block of 16 B and more carries its number; proofmark checks one number \
     in each piece read. A wrong number, or a count that differs from the bytes sent, makes the \
     trial invalid. Connections stay open from trial to trial."
);

const UDP_STREAM_DETAIL: &str = detail!(
    "Each stream is a pair of connected UDP sockets. One sends datagrams of block_size, as fast as \
     it can or at the given rate; the other receives them. The rate is the receiver's payload; \
     each datagram counts once. Timing ends at the last datagram sent or received. A datagram is \
     lost if it has not arrived 20 ms (loopback) or 200 ms after the last one was sent. This wait \
     is not timed. Datagrams of 16 B and more carry their number and send time. They show \
     duplicates, reordering and, where a rate is set, the jitter of RFC 3550. Shorter ones are \
     only counted."
);

const TCP_RTT_DETAIL: &str = detail!(
    "Each stream is one TCP connection with TCP_NODELAY. A block goes to the server, and the same \
     block comes back before the next is sent. A latency is one full round trip, from before the \
     block is written until its answer is read. Each is timed, and none is halved. A block carries \
     its number, or the number's low bytes if it is shorter than 8 B. The answer must carry the \
     same. With mode=poll both ends poll without sleeping, which takes one CPU each."
);

const UDP_RTT_DETAIL: &str = detail!(
    "Each stream is a pair of connected UDP sockets. A datagram goes to the server, and the same \
     datagram comes back before the next is sent. A latency is one full round trip, from before \
     the datagram is sent until its answer has arrived. Each is timed, and none is halved. \
     Datagrams carry their number, or its low bytes if shorter than 8 B. Only the answer with the \
     same number counts. An answer that takes longer than 200 ms counts as lost, not as a latency. \
     With mode=poll both ends poll without sleeping, which takes one CPU each."
);

const TCP_CONNECT_DETAIL: &str = detail!(
    "Each stream is a thread that makes one TCP connection after another to a thread of the \
     server. It sends 16 bytes, a token that identifies the run. The server answers with one byte. \
     The client then resets the connection, so that no port stays in use. A latency is the time \
     from before the socket is created until the byte has arrived and the socket is closed. That \
     is two round trips, the first being the handshake, and the work of both systems. \
     Verification: the server must have accepted the same number of connections."
);

pub(super) static TCP_STREAM: WorkloadSpec = spec(
    Words {
        id: "network.tcp.stream",
        title: "TCP throughput",
        summary: "TCP payload in bits per second, counted by the receiver.",
        detail: TCP_STREAM_DETAIL,
        method: 1,
    },
    Unit::BitPerSecond,
    const {
        &[
            STREAMS,
            TCP_BLOCK,
            DIRECTION,
            SOCKET_BUFFER,
            CONGESTION,
            NO_DELAY,
            PLACEMENT,
            PATH,
            AMOUNT,
        ]
    },
    key::STREAMS.name(),
    const {
        Role {
            main_rows: Cow::Borrowed(
                const {
                    &[
                        main_row(1, "TCP throughput", const { &[PEER, ONE_STREAM] }),
                        main_row(2, "TCP throughput", const { &[PEER, MAX_STREAMS] }),
                    ]
                },
            ),
            tables: Cow::Borrowed(&[place("network_throughput", 1, "TCP")]),
            ..Role::NONE
        }
    },
);

pub(super) static UDP_STREAM: WorkloadSpec = spec(
    Words {
        id: "network.udp.stream",
        title: "UDP throughput",
        summary: "UDP payload in bits per second, counted by the receiver.",
        detail: UDP_STREAM_DETAIL,
        // In version 1 paced datagrams took one interval less.
        method: 2,
    },
    Unit::BitPerSecond,
    const { &[STREAMS, UDP_BLOCK, DIRECTION, RATE, SOCKET_BUFFER, PLACEMENT, PATH, AMOUNT] },
    key::STREAMS.name(),
    const {
        Role {
            main_rows: Cow::Borrowed(
                const {
                    &[main_row(
                        3,
                        "UDP throughput",
                        const { &[PEER, pick_value(key::RATE, "auto")] },
                    )]
                },
            ),
            tables: Cow::Borrowed(&[place("network_throughput", 2, "UDP")]),
            ..Role::NONE
        }
    },
);

pub(super) static TCP_RTT: WorkloadSpec = spec(
    Words {
        id: "network.tcp.rtt",
        title: "TCP round trip",
        summary: "TCP round trips per second, one in flight per stream, and the time of each.",
        detail: TCP_RTT_DETAIL,
        method: 1,
    },
    Unit::OpPerSecond,
    const { &[STREAMS, TCP_MESSAGE, MODE, PLACEMENT, PATH] },
    key::BLOCK_SIZE.name(),
    const {
        Role {
            main_rows: Cow::Borrowed(
                const {
                    &[main_row(
                        4,
                        "TCP round trip",
                        const { &[PEER, ONE_STREAM, pick_value(key::MODE, "block")] },
                    )]
                },
            ),
            tables: Cow::Borrowed(&[place("network_round_trips", 1, "TCP")]),
            ..Role::NONE
        }
    },
);

pub(super) static UDP_RTT: WorkloadSpec = spec(
    Words {
        id: "network.udp.rtt",
        title: "UDP round trip",
        summary: "UDP round trips per second, one in flight per stream, and the time of each.",
        detail: UDP_RTT_DETAIL,
        method: 1,
    },
    Unit::OpPerSecond,
    const { &[STREAMS, UDP_MESSAGE, MODE, PLACEMENT, PATH] },
    key::BLOCK_SIZE.name(),
    const {
        Role {
            tables: Cow::Borrowed(&[place("network_round_trips", 2, "UDP")]),
            counterparts: Cow::Borrowed(&[alternative(
                "network.tcp.rtt",
                const {
                    &words([
                        key::NO_DELAY.name(),
                        key::SOCKET_BUFFER.name(),
                        key::CONGESTION.name(),
                    ])
                },
            )]),
            ..Role::NONE
        }
    },
);

pub(super) static TCP_CONNECT: WorkloadSpec = spec(
    Words {
        id: "network.tcp.connect",
        title: "TCP connections",
        summary: "TCP connections made and accepted per second, one in flight per stream, and the time \
                  of each.",
        detail: TCP_CONNECT_DETAIL,
        method: 1,
    },
    Unit::OpPerSecond,
    const { &[STREAMS, PLACEMENT, PATH] },
    key::STREAMS.name(),
    Role::NONE,
);

const fn spec(
    words: Words,
    unit: Unit,
    parameters: &'static [Parameter],
    axis: &'static str,
    role: Role,
) -> WorkloadSpec {
    let what = (Subsystem::Network, unit);
    rate(words, what, parameters, Some(axis), CEILINGS, Work::DEVICE, role)
}

const CEILINGS: &[Cow<str>] =
    &words([ceiling_id::NETWORK_LIMIT, ceiling_id::NETWORK_LINK, ceiling_id::NETWORK_LOOPBACK]);
