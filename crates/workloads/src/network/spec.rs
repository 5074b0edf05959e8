//! What the network workloads declare: parameters, units, explanations.

use std::borrow::Cow;

use proofmark_model::{AUTO, Parameter, ParameterKind, Role, Subsystem, Unit, Work, WorkloadSpec};

use super::shape::{BLOCK, CONNECTIONS, DATAGRAM_V6, Kind, LEAST_RATE};
use crate::declare::{
    Words, alternative, choice, parameter, place, rate, size_parameter, tool_test,
};

const STREAMS: Parameter = parameter(
    "streams",
    "Connections at once, each with a thread of its own at both ends.",
    ParameterKind::Count { min: 1, max: CONNECTIONS },
    "1",
);

const TCP_BLOCK: Parameter = parameter(
    "block_size",
    "Bytes that the sender hands to its system at a time.",
    ParameterKind::Size { min: 1, max: BLOCK },
    "65536",
);

const UDP_BLOCK: Parameter = parameter(
    "block_size",
    "Bytes of payload of a datagram; auto: as many as go to the server in one packet, over \
     loopback the most that there can be: 65,507 over IPv4, 65,527 over IPv6.",
    ParameterKind::Size { min: 1, max: DATAGRAM_V6 },
    AUTO,
);

const TCP_MESSAGE: Parameter = parameter(
    "block_size",
    "Bytes of payload there, and as many back.",
    ParameterKind::Size { min: 1, max: BLOCK },
    "1",
);

const UDP_MESSAGE: Parameter = parameter(
    "block_size",
    "Bytes of payload there, and as many back; at most 65,507 over IPv4, 65,527 over IPv6.",
    ParameterKind::Size { min: 1, max: DATAGRAM_V6 },
    "1",
);

const DIRECTION: Parameter = parameter(
    "direction",
    "From here to the server (forward), from there (reverse), or both at once, each way over \
     connections of its own.",
    choice(&[Cow::Borrowed("forward"), Cow::Borrowed("reverse"), Cow::Borrowed("both")]),
    "forward",
);

const AMOUNT: Parameter = size_parameter(
    "amount",
    "Bytes of payload sent in one trial over all streams; auto: as many as fill the trial's \
     duration.",
    1,
);

const SOCKET_BUFFER: Parameter = parameter(
    "socket_buffer",
    "Bytes asked for as each socket's send and receive buffer; auto: of TCP, those that the \
     system makes and resizes, of UDP 4 MiB. The system may give other ones.",
    ParameterKind::Size { min: 1 << 10, max: 1 << 30 },
    AUTO,
);

const CONGESTION: Parameter = parameter(
    "congestion",
    "Congestion control of TCP, by the kernel's name, of those that the kernels of both ends have \
     loaded (net.ipv4.tcp_available_congestion_control); auto: the system's own choice.",
    choice(&[
        Cow::Borrowed("cubic"),
        Cow::Borrowed("reno"),
        Cow::Borrowed("bbr"),
        Cow::Borrowed("dctcp"),
        Cow::Borrowed("vegas"),
        Cow::Borrowed("htcp"),
    ]),
    AUTO,
);

const NO_DELAY: Parameter = parameter(
    "no_delay",
    "Whether small pieces are sent at once (TCP_NODELAY), or wait until what went before is \
     acknowledged.",
    choice(&[Cow::Borrowed("on"), Cow::Borrowed("off")]),
    "off",
);

const RATE: Parameter = parameter(
    "rate",
    "Bits of payload a second that all streams together send, evenly spread (who is late catches up); auto: as fast as \
     they can.",
    ParameterKind::Count { min: LEAST_RATE, max: 1_000_000_000_000 },
    AUTO,
);

const MODE: Parameter = parameter(
    "mode",
    "Whether who waits for a block sleeps (block) or looks again and again (poll), at both \
     ends; auto: both, as two points.",
    choice(&[Cow::Borrowed("block"), Cow::Borrowed("poll")]),
    AUTO,
);

const PLACEMENT: Parameter = parameter(
    "placement",
    "Where the threads of both ends run: pinned, over loopback each end to its half of the CPUs that it \
     may use (apart), or where the scheduler puts them (free); auto: apart over loopback, but for TCP \
     streams, free elsewhere.",
    choice(&[Cow::Borrowed("apart"), Cow::Borrowed("free")]),
    AUTO,
);

const PATH: Parameter = parameter(
    "path",
    "Whether the server is this machine (loopback) or another (peer); auto: as it is.",
    choice(&[Cow::Borrowed("loopback"), Cow::Borrowed("peer")]),
    AUTO,
);

const TCP_STREAM_PARAMETERS: &[Parameter] =
    &[STREAMS, TCP_BLOCK, DIRECTION, SOCKET_BUFFER, CONGESTION, NO_DELAY, PLACEMENT, PATH, AMOUNT];
const UDP_STREAM_PARAMETERS: &[Parameter] =
    &[STREAMS, UDP_BLOCK, DIRECTION, RATE, SOCKET_BUFFER, PLACEMENT, PATH, AMOUNT];
const TCP_RTT_PARAMETERS: &[Parameter] = &[STREAMS, TCP_MESSAGE, MODE, PLACEMENT, PATH];
const UDP_RTT_PARAMETERS: &[Parameter] = &[STREAMS, UDP_MESSAGE, MODE, PLACEMENT, PATH];
const CONNECT_PARAMETERS: &[Parameter] = &[STREAMS, PLACEMENT, PATH];

/// What is the same in the `detail` of every workload. It follows on sentences of its own.
macro_rules! detail {
    ($own:literal) => {
        concat!(
            $own,
            " The server is another process: on this machine, which the report then calls \
             loopback, or `proofmark serve` on another, which has proved the same key. Both ends' \
             counters of the interface and of the protocol are read around each trial."
        )
    };
}

const TCP_STREAM: &str = detail!(
    "Each stream is one TCP connection, on which one thread writes blocks of block_size and \
     another, at the other end, reads them. A trial ends when the server's count of what it \
     received has come back, so nothing counts that only filled a socket's buffer; the rate is \
     that of payload received, over all streams. Each block of 16 B and more carries its number, \
     and of each piece that is read one number is checked; a wrong one, or another count than was \
     sent, makes the trial invalid. Connections stay open from trial to trial."
);

const UDP_STREAM: &str = detail!(
    "Each stream is a pair of connected UDP sockets, of which one sends datagrams of block_size, \
     as fast as it can or at the rate asked for, and the other receives. The rate is the \
     receiver's: payload of the datagrams that arrived, each counted once by its number, until \
     the last one came, or the last was sent if that was later. Lost are those that had not come 20 ms (loopback) or 200 ms after the last \
     was sent, a wait that is not part of the time. Datagrams of 16 B and more carry their number and \
     when they were sent: so those that come twice or out of order are told, and the jitter of \
     RFC 3550 where a rate is asked for; shorter ones are only counted."
);

const TCP_RTT: &str = detail!(
    "Each stream is one TCP connection without delay (TCP_NODELAY), on which a block goes to the \
     server and the same block comes back before the next is sent. A latency is one such full \
     round trip, from before the block is written until all of its answer is read; each is timed, \
     and none is halved. A block carries its number, one of less than 8 B the number's low bytes, \
     and its answer must carry the same. With mode=poll both ends look for what comes without sleeping, which takes a CPU each."
);

const UDP_RTT: &str = detail!(
    "Each stream is a pair of connected UDP sockets, over which a datagram goes to the server and \
     the same comes back before the next is sent. A latency is one such full round trip, from \
     before the datagram is sent until its answer is there; each is timed, and none is halved. \
     Datagrams carry their number, those of less than 8 B its low bytes, and only the answer with \
     the same number counts. One that has not come after 200 ms is lost: it is counted so, and is no latency. With \
     mode=poll both ends look for what comes without sleeping, which takes a CPU each."
);

const CONNECT: &str = detail!(
    "Each stream is a thread that makes one TCP connection after the other to a thread of the far \
     end and sends 16 bytes, a token by which the server knows its own; that answers with one byte, \
     and the client ends the connection by a reset, so that no ports stay taken. A latency is the \
     time from before the socket is made until that byte has come and the socket is closed: two \
     round trips, of which the first is the handshake, and the work of both systems. The server's count of accepted \
     connections must be the same."
);

/// The declaration of a workload.
pub(super) const fn spec(kind: Kind) -> WorkloadSpec {
    let (id, title, summary, detail, unit, parameters, axis) = match kind {
        Kind::TcpStream => (
            "network.tcp.stream",
            "TCP throughput",
            "Bits of payload a second over TCP, as the receiver counts them.",
            TCP_STREAM,
            Unit::BitPerSecond,
            TCP_STREAM_PARAMETERS,
            "streams",
        ),
        Kind::UdpStream => (
            "network.udp.stream",
            "UDP throughput",
            "Bits of payload a second over UDP, as the receiver counts them.",
            UDP_STREAM,
            Unit::BitPerSecond,
            UDP_STREAM_PARAMETERS,
            "streams",
        ),
        Kind::TcpRtt => (
            "network.tcp.rtt",
            "TCP round trip",
            "Round trips a second over TCP, one in flight a stream, with the time of each.",
            TCP_RTT,
            Unit::OpPerSecond,
            TCP_RTT_PARAMETERS,
            "block_size",
        ),
        Kind::UdpRtt => (
            "network.udp.rtt",
            "UDP round trip",
            "Round trips a second over UDP, one in flight a stream, with the time of each.",
            UDP_RTT,
            Unit::OpPerSecond,
            UDP_RTT_PARAMETERS,
            "block_size",
        ),
        Kind::TcpConnect => (
            "network.tcp.connect",
            "TCP connections",
            "Connections made and accepted a second, one in flight a stream, with the time of each.",
            CONNECT,
            Unit::OpPerSecond,
            CONNECT_PARAMETERS,
            "streams",
        ),
    };
    let words = Words { id, title, summary, detail, method: 1 };
    let what = (Subsystem::Network, unit);
    rate(words, what, parameters, Some(axis), CEILINGS, Work::DEVICE, role(kind))
}

/// What the figures of a workload are used for.
const fn role(kind: Kind) -> Role {
    match kind {
        Kind::TcpStream => TCP_STREAM_ROLE,
        Kind::UdpStream => UDP_STREAM_ROLE,
        Kind::TcpRtt => TCP_RTT_ROLE,
        Kind::UdpRtt => UDP_RTT_ROLE,
        Kind::TcpConnect => Role::NONE,
    }
}

const TCP_STREAM_ROLE: Role = Role {
    lead: Some(1),
    tables: Cow::Borrowed(&[place("network_throughput", 1, "TCP")]),
    compare_with: Cow::Borrowed(&[
        tool_test("iperf3", "TCP"),
        tool_test("iperf", "TCP"),
        tool_test("netperf", "TCP_STREAM"),
        tool_test("netperf", "TCP_MAERTS"),
    ]),
    ..Role::NONE
};
const UDP_STREAM_ROLE: Role = Role {
    lead: Some(3),
    tables: Cow::Borrowed(&[place("network_throughput", 2, "UDP")]),
    compare_with: Cow::Borrowed(&[
        tool_test("iperf3", "UDP"),
        tool_test("iperf", "UDP"),
        tool_test("netperf", "UDP_STREAM"),
    ]),
    ..Role::NONE
};
const TCP_RTT_ROLE: Role = Role {
    lead: Some(2),
    tables: Cow::Borrowed(&[place("network_round_trips", 1, "TCP")]),
    compare_with: Cow::Borrowed(&[
        tool_test("netperf", "TCP_RR"),
        tool_test("sockperf", "TCP ping-pong"),
    ]),
    ..Role::NONE
};
const UDP_RTT_ROLE: Role = Role {
    lead: Some(4),
    tables: Cow::Borrowed(&[place("network_round_trips", 2, "UDP")]),
    counterparts: Cow::Borrowed(&[alternative(
        "network.tcp.rtt",
        &[Cow::Borrowed("no_delay"), Cow::Borrowed("socket_buffer"), Cow::Borrowed("congestion")],
    )]),
    compare_with: Cow::Borrowed(&[
        tool_test("netperf", "UDP_RR"),
        tool_test("sockperf", "UDP ping-pong"),
    ]),
    ..Role::NONE
};

const CEILINGS: &[Cow<str>] = &[
    Cow::Borrowed("network.limit"),
    Cow::Borrowed("network.link"),
    Cow::Borrowed("network.loopback"),
];
