//! The keys of every section of an experiment file.

use super::Shape::{
    AnyTable, Anything, Either, Flag, List, Named, Number, OverTime, Quantity, Share, Table, Text,
    Texts, Whole, Word,
};
use super::{Key, Shape, key};
use document::FromNode;
use units::{Bitrate, Bytes, Dbm, Decibels, Duration, Frequency, Metres, Speed};

const RATE: Shape = Quantity(Bitrate::WHAT);
const TIME: Shape = Quantity(Duration::WHAT);
const SIZE: Shape = Quantity(Bytes::WHAT);
const POWER: Shape = Quantity(Dbm::WHAT);
const RATIO: Shape = Quantity(Decibels::WHAT);
const DISTANCE: Shape = Quantity(Metres::WHAT);
const MARK: Shape = Either(&[Text, Whole]);

/// The keys of a file.
pub(super) static FILE: [&[Key]; 1] = [&TOP];
/// The keys of a change of a value over time.
pub(super) static CHANGE: [&[Key]; 1] = [&OVER_TIME];

static TOP: [Key; 29] = [
    key("title", Text, "The title, one line."),
    key("source", Text, "Where the experiment was published."),
    key("about", Text, "Why the parameters have their values."),
    key("runs", Whole, "Runs per cell; default: 1."),
    key("seed", Whole, "The seed of the first run; default: 1."),
    key("time_scale", Number, "The factor by which a published schedule was shortened."),
    key("today", Flag, "Whether today's Chromium makes every call."),
    key("improvement", Text, "Improvements for every controller: short-hold+aqm-loss."),
    key("advise", Table(&[&ADVISE]), "What weir advise judges and may change."),
    key(
        "grid",
        Named(&Either(&[Word(&["all"]), List(&Anything)])),
        "Paths of keys and the values that they take in turn; all for every controller.",
    ),
    key("axis", List(&Table(&[&AXIS])), "An axis whose points set several keys."),
    key("figure", List(&AnyTable), "A figure of the report."),
    key("as_printed", AnyTable, "Paths of keys and their values as the paper prints them."),
    key("quick", Table(&[&QUICK]), "The short form of the experiment."),
    key("duration", TIME, "The duration of a run."),
    key("sample_interval", TIME, "The time between samples; default: 500ms."),
    key("core_delay", OverTime(&TIME), "The delay between any two access networks; default: 0ms."),
    key("host", Named(&Table(&[&HOST])), "A host."),
    key("wifi", Named(&Table(&[&WIFI])), "A Wi-Fi cell."),
    key("lte", Named(&Table(&[&LTE])), "An LTE network."),
    key("call", Named(&Table(&[&BETWEEN, &TIMES, &TWO_WAY, &CALL])), "A call."),
    key(
        "conference",
        Named(&Table(&[&CONFERENCE, &TIMES, &CALL])),
        "A conference; its calls have the keys of a call.",
    ),
    key("tcp", Named(&Table(&[&BETWEEN, &TIMES, &TCP])), "A TCP flow."),
    key("program", Named(&Table(&[&PROGRAM, &TIMES])), "A program that runs on a host."),
    key("users", Named(&Table(&[&USERS])), "Many users from one description."),
    key("strategy", Table(&[&STRATEGY]), "How the operator's gateways help calls."),
    key("defaults", Table(&[&DEFAULTS]), "Defaults for every call and TCP flow."),
    key("measure", Table(&[&MEASURE]), "The endpoints and sources of a measured run."),
    key("ims", Table(&[&IMS]), "The IMS that the calls pass when they are measured."),
];

static ADVISE: [Key; 7] = [
    key("call", Text, "The section of the judged call; default: the first one with video."),
    key("lines", Texts, "The lines whose queues may be changed; default: all with a rate."),
    key(
        "bottleneck",
        Word(&["interface", "modem"]),
        "Where packets wait for these lines: modem means behind the device; default: interface.",
    ),
    key("share", Share, "The share of a line's rate at which a shaper sends; default: 95%."),
    key("dscp", Flag, "Whether DSCP marks reach these lines; default: true."),
    key("radio", Flag, "Whether the access point or base station may be changed; default: true."),
    key("controller", Flag, "Whether the controller may be changed; default: true."),
];

static AXIS: [Key; 2] = [
    key("name", Text, "The axis' name."),
    key("points", List(&Table(&[&POINT])), "The points of the axis."),
];

static POINT: [Key; 6] = [
    key("label", Text, "The point's label."),
    key("set", AnyTable, "Paths of keys and their values."),
    key("as_printed", AnyTable, "In the place of set: the values as the paper prints them."),
    key("calls", Texts, "The calls that take part; default: all."),
    key("tcp", Texts, "The TCP flows that take part; default: all."),
    key("programs", Texts, "The programs that take part; default: all."),
];

static QUICK: [Key; 2] = [
    key("scale", Number, "The factor of the schedule; default: 60 s over the duration."),
    key("set", AnyTable, "Paths of keys and their values in the short form."),
];

static OVER_TIME: [Key; 6] = [
    key("at", TIME, "The time of the step, or the start of the ramp."),
    key("value", Anything, "The value from then on."),
    key("ramp_to", Anything, "The value at the end of a ramp."),
    key("over", TIME, "The duration of the ramp."),
    key("every", TIME, "The time between the steps of the ramp; default: 500ms."),
    key("shape", Word(&["linear", "exponential"]), "The shape of the ramp; default: linear."),
];

static HOST: [Key; 7] = [
    key("up", Table(&[&LINE]), "The line from the host."),
    key("down", Table(&[&LINE]), "The line to the host."),
    key("wifi", Table(&[&STATION, &DEVICE]), "The host's place in a Wi-Fi cell."),
    key("lte", Table(&[&TERMINAL]), "The host's place in an LTE network."),
    key("tsq", Flag, "Whether the queue of up is on the host (TCP Small Queues); default: false."),
    key("gso", Flag, "Whether the host sends bursts (GSO); default: false."),
    key("whole_segments", Flag, "Whether TCP's windows are whole segments; default: false."),
];

static LINE: [Key; 8] = [
    key("rate", Either(&[OverTime(&RATE), Table(&[&TRACE])]), "The rate; default: unlimited."),
    key("burst", SIZE, "The bytes that may leave at once (tc-tbf); default: one after the other."),
    key("delay", OverTime(&TIME), "The propagation delay; default: 0ms."),
    key("loss", Either(&[OverTime(&Share), Table(&[&LOSS])]), "Random loss; default: none."),
    key("jitter", Either(&[TIME, Table(&[&JITTER])]), "Random delay; default: none."),
    key("queue", Text, "The queue in tc's words, such as fq_codel."),
    key("shaper", Text, "A queue that shapes in another device: before up, behind down."),
    key("overhead", SIZE, "What the line sends with each packet in addition; default: 0B."),
];

static TRACE: [Key; 1] = [key("trace", Text, "A trace file, relative to the experiment.")];

static LOSS: [Key; 5] = [
    key("model", Word(&["gilbert-elliott"]), "The model of the loss."),
    key("p", Share, "Probability of a change to the bad state."),
    key("r", Share, "Probability of a change to the good state."),
    key("bad_loss", Share, "Loss in the bad state; default: 100%."),
    key("good_loss", Share, "Loss in the good state; default: 0%."),
];

static JITTER: [Key; 4] = [
    key("model", Word(&["uniform", "half-normal", "exponential"]), "The distribution."),
    key("most", TIME, "The maximum of uniform or half-normal jitter."),
    key("deviation", TIME, "The standard deviation of half-normal jitter."),
    key("mean", TIME, "The mean of exponential jitter."),
];

static STATION: [Key; 5] = [
    key("cell", Text, "The Wi-Fi cell."),
    key("distance", DISTANCE, "The distance to the access point."),
    key("walls", Whole, "Walls between host and access point; default: 0."),
    key("shadowing", Table(&[&FADING]), "Slow changes of the signal; default: none."),
    key("fading", Table(&[&FADING]), "Fast changes of the signal; default: none."),
];

static FADING: [Key; 2] = [
    key("deviation", RATIO, "The standard deviation of the signal."),
    key("coherence", TIME, "The time after which the correlation is 1/e."),
];

static DEVICE: [Key; 10] = [
    key("tx_power", POWER, "The sending power; default: 20dBm."),
    key("noise", POWER, "The noise at the receiver; default: -90dBm."),
    key("spatial_streams", Whole, "Spatial streams, 1 or 2; default: 2."),
    key("guard_interval", Word(&["800ns", "400ns"]), "The guard interval; default: 800ns."),
    key("rate", Text, "The rate control: minstrel (default), or a fixed MCS such as \"mcs 7\"."),
    key("buffer", Word(&["shared", "per station"]), "One queue (default), or one per receiver."),
    key("queue", Text, "The queue in tc's words; default: pfifo limit 1000."),
    key("driver", Whole, "Packets in the driver; default: 128."),
    key(
        "driver_order",
        Word(&["round robin", "fifo"]),
        "How the driver serves its receivers: in turn (default), or the oldest packet first.",
    ),
    key("msdu_lifetime", TIME, "When the driver gives a packet up; default: never."),
];

static WIFI: [Key; 8] = [
    key("channel", Whole, "The channel, 1 to 13."),
    key("channel_width", Word(&["20MHz", "40MHz"]), "The channel width; default: 20MHz."),
    key("channel_access", Word(&["dcf", "edca"]), "The channel access; default: dcf."),
    key("aggregation", Either(&[Word(&["none"]), Table(&[&AGGREGATION])]), "Frame aggregation."),
    key("retry_limit", Whole, "Transmissions of a frame."),
    key("encryption", Word(&["wpa2", "none"]), "The encryption; default: wpa2."),
    key("path_loss", Table(&[&WIFI_PATH_LOSS]), "The path loss."),
    key("ap", Table(&[&DEVICE]), "The access point."),
];

static AGGREGATION: [Key; 4] = [
    key("ampdu_frames", Whole, "Frames in an A-MPDU; default: 64."),
    key("ampdu_bytes", SIZE, "The size of an A-MPDU; default: 65535B."),
    key("ampdu_duration", TIME, "The duration of an A-MPDU; default: 4ms."),
    key("amsdu_bytes", SIZE, "The size of an A-MSDU; default: 0B (none)."),
];

static WIFI_PATH_LOSS: [Key; 2] = [
    key("exponent", Number, "The path loss exponent; default: 3."),
    key("wall", RATIO, "The loss per wall; default: 5dB."),
];

static TERMINAL: [Key; 6] = [
    key("network", Text, "The LTE network; default: the only one."),
    key("distance", DISTANCE, "The distance to the only base station."),
    key("obstacles", RATIO, "Additional loss; default: 0dB."),
    key("speed", Quantity(Speed::WHAT), "The speed of the terminal."),
    key("tx_power", POWER, "The maximum sending power."),
    key("noise_figure", RATIO, "The noise figure of the receiver."),
];

static LTE: [Key; 18] = [
    key("bandwidth", Quantity(Frequency::WHAT), "The channel bandwidth, 1.4MHz to 20MHz."),
    key("carrier", Quantity(Frequency::WHAT), "The carrier frequency."),
    key("sites", Whole, "Base stations: 1 (default), or 7 in a hexagonal grid."),
    key("sectors", Whole, "Sectors per site, 1 or 3; with 7 sites."),
    key("inter_site_distance", DISTANCE, "The distance between sites; with 7 sites."),
    key("path_loss", Table(&[&LTE_PATH_LOSS]), "The path loss."),
    key("shadowing", Table(&[&SHADOWING]), "Shadowing; default: none."),
    key(
        "fast_fading",
        Either(&[Word(&["rayleigh", "none"]), Table(&[&TRACE])]),
        "Fast fading: a model or a trace file.",
    ),
    key("tx_power", POWER, "The sending power of a cell."),
    key("antenna_gain", RATIO, "The antenna gain of a cell."),
    key("noise_figure", RATIO, "The noise figure of the base station."),
    key("layers", Whole, "Spatial layers, 1 or 2."),
    key(
        "scheduler",
        Word(&["pf", "proportional-fair", "rr", "round-robin"]),
        "The scheduler; default: pf.",
    ),
    key("scheduler_window", TIME, "The window of proportional fair."),
    key("harq_retransmissions", Whole, "HARQ retransmissions, 0 to 7."),
    key("scheduling_request_period", TIME, "The period of scheduling requests."),
    key("handover", Table(&[&HANDOVER]), "Handovers; with 7 sites."),
    key("bearer", Named(&Table(&[&BEARER])), "A bearer of every terminal."),
];

static LTE_PATH_LOSS: [Key; 3] = [
    key("at_a_kilometre", RATIO, "The loss at 1 km."),
    key("exponent", Number, "The path loss exponent."),
    key("penetration", RATIO, "The penetration loss."),
];

static SHADOWING: [Key; 2] = [
    key("deviation", RATIO, "The standard deviation of the shadowing."),
    key("distance", DISTANCE, "The correlation distance."),
];

static HANDOVER: [Key; 3] = [
    key("hysteresis", RATIO, "The hysteresis."),
    key("time_to_trigger", TIME, "The time to trigger."),
    key("interruption", TIME, "The interruption of a handover."),
];

static BEARER: [Key; 8] = [
    key("qci", Whole, "The QoS class identifier, 1 to 9."),
    key("gbr", RATE, "The guaranteed bit rate of a QCI of 1 to 4."),
    key("rlc", Word(&["am", "um"]), "The RLC mode; default: am."),
    key("queue", Text, "The queues of both directions, in tc's words."),
    key("up", Text, "The queue of the uplink."),
    key("down", Text, "The queue of the downlink."),
    key("discard_timer", TIME, "The PDCP discard timer, or infinity (default)."),
    key(
        "filter",
        Either(&[Table(&[&FILTER]), List(&Table(&[&FILTER]))]),
        "The packets of the bearer.",
    ),
];

static IMS: [Key; 9] = [
    key("pcscf", Text, "The host of the P-CSCF."),
    key("icscf", Text, "The host of the I-CSCF."),
    key("scscf", Text, "The host of the S-CSCF."),
    key("hss", Text, "The host of the HSS."),
    key("pcrf", Text, "The host of the PCRF; default: none, and no bearers."),
    key("agw", Text, "The host of the access gateway."),
    key("max_gbr", RATE, "The highest guaranteed bit rate of a bearer; default: 5Mbit/s."),
    key("rlc", Word(&["um", "am"]), "The RLC mode of the bearers; default: um."),
    key(
        "fault",
        Word(&[
            "wrong-password",
            "unknown-user",
            "pcrf-down",
            "pcrf-silent",
            "bearer-refused",
            "agw-down",
            "pcscf-killed",
        ]),
        "What fails; default: nothing.",
    ),
];

static FILTER: [Key; 6] = [
    key("dscp", MARK, "The DSCP mark."),
    key("protocol", Either(&[Text, Whole]), "The protocol: udp, tcp, icmp or a number."),
    key("from", Text, "The sending host."),
    key("to", Text, "The receiving host."),
    key("src_port", Whole, "The source port."),
    key("dst_port", Whole, "The destination port."),
];

static BETWEEN: [Key; 2] =
    [key("from", Text, "The sending host."), key("to", Text, "The receiving host.")];

static TIMES: [Key; 2] = [
    key("start", TIME, "The start; default: that of the run."),
    key("stop", TIME, "The stop; default: the end of the run."),
];

static TWO_WAY: [Key; 1] = [key("two_way", Flag, "Whether both hosts send; default: false.")];

static CALL: [Key; 19] = [
    key("pauses", List(&List(&TIME)), "Begin and end of each pause of the media; default: none."),
    key("relay", Text, "The host of a media relay; default: none."),
    key(
        "dscp",
        Either(&[Text, Whole, Table(&[&MARKS])]),
        "The DSCP marks, such as af41; default: be.",
    ),
    key("media_timeout", TIME, "The time without media after which an end abandons the call."),
    key(
        "audio",
        Either(&[Flag, Word(&["opus", "amr"]), Table(&[&AUDIO])]),
        "The audio; default: none.",
    ),
    key("video", Either(&[Flag, Table(&[&VIDEO])]), "The video; default: true."),
    key("controller", Text, "The controller, such as gcc:libwebrtc."),
    key("settings", AnyTable, "Settings of the controller."),
    key("start_rate", RATE, "The controller's start rate; default: 300kbit/s."),
    key("min_rate", RATE, "The controller's minimum rate; default: 5kbit/s."),
    key("max_rate", RATE, "The controller's maximum rate; default: 1Gbit/s."),
    key(
        "burst_time",
        TIME,
        "The interval of the pacer; default: the controller's (gcc:libwebrtc: 40ms), else 5ms.",
    ),
    key("nack", Flag, "Whether lost packets are retransmitted; default: true."),
    key("circuit_breaker", Flag, "Whether RFC 8083 may stop the sender; default: false."),
    key("fec", Word(&["off", "hybrid"]), "Forward error correction; default: off."),
    key("estimate", Word(&["video", "transport"]), "What the estimate covers; default: video."),
    key("report_interval", TIME, "The interval of RTCP reports; default: 1s."),
    key("feedback_interval", TIME, "The interval of transport feedback; default: 100ms."),
    key("feedback", Word(&["rtcp", "ideal"]), "How feedback travels; default: rtcp."),
];

static MARKS: [Key; 2] =
    [key("audio", MARK, "The mark of audio."), key("video", MARK, "The mark of video.")];

static AUDIO: [Key; 6] = [
    key("codec", Word(&["opus", "amr"]), "The codec; default: opus."),
    key("spurts", Either(&[Flag, Table(&[&SPURTS])]), "Talk spurts and pauses."),
    key("rate", RATE, "The rate of Opus."),
    key("interval", TIME, "The interval of Opus packets."),
    key("deviation", Share, "The relative deviation of packet sizes."),
    key("correlation", Share, "The correlation of successive packet sizes."),
];

static SPURTS: [Key; 4] = [
    key("spurt", TIME, "The mean duration of a talk spurt."),
    key("pause", TIME, "The mean duration of a pause."),
    key("silence", SIZE, "The size of a silence descriptor."),
    key("silence_interval", TIME, "The interval of silence descriptors."),
];

static VIDEO: [Key; 9] = [
    key("width", Whole, "The width in pixels; default: 1280."),
    key("height", Whole, "The height in pixels; default: 720."),
    key("fps", Whole, "Frames per second; default: 30."),
    key("max_rate", RATE, "The encoder's maximum rate; default: 2.5Mbit/s."),
    key("min_rate", RATE, "The encoder's minimum rate."),
    key("frames", Text, "A file with the sizes of encoded frames."),
    key("codec", Word(&["vp8", "vp9", "h264", "csv"]), "The codec; default: vp8."),
    key("model", Word(&["fitted", "rfc8593"]), "The encoder's model; default: fitted."),
    key("ladder", Word(&["none", "alternating", "halves"]), "The resolution steps."),
];

static CONFERENCE: [Key; 4] = [
    key("parties", Texts, "The hosts of the participants."),
    key("topology", Word(&["mesh", "sfu"]), "The topology."),
    key("sfu", Text, "The host of the Selective Forwarding Unit."),
    key("bitrate", RATE, "The rate that the room asks for; default: 262144bit/s."),
];

static READING: [Key; 1] = [key("mean", TIME, "The mean of exponential reading times.")];

static TCP: [Key; 13] = [
    key("bytes", SIZE, "The bytes that are sent; default: unlimited."),
    key("on", TIME, "The sending time of a flow with pauses."),
    key("off", TIME, "The pause of a flow with pauses."),
    key("pages", Whole, "The number of web pages that are sent."),
    key("page_size", Either(&[SIZE, List(&SIZE)]), "The size of a web page, or two limits."),
    key(
        "reading",
        Either(&[List(&TIME), Table(&[&READING])]),
        "The minimum and maximum reading time of a page, or an exponential distribution.",
    ),
    key("reads_first", Flag, "Whether a reading time precedes the first page; default: false."),
    key("congestion_control", Text, "The congestion control: cubic (default), reno, bbr, prague."),
    key("receive_window", SIZE, "The receive window; default: 3MiB."),
    key("ecn", Flag, "Whether ECN is used; default: false."),
    key("dscp", MARK, "The DSCP mark; default: be."),
    key("flows", Whole, "The number of equal flows; default: 1."),
    key("hz", Whole, "The timer frequency of the kernels: 100, 250 (default), 1000."),
];

static PROGRAM: [Key; 5] = [
    key("host", Text, "The host on which the program runs."),
    key("ping", Either(&[Text, Table(&[&PING])]), "Echo requests to a host."),
    key("iperf3", Either(&[Text, Table(&[&IPERF3])]), "A client of iperf3, or \"server\"."),
    key("upload", Either(&[Text, Table(&[&UPLOAD])]), "An upload to a host."),
    key("command", Text, "A command for sh -c."),
];

static PING: [Key; 3] = [
    key("to", Text, "The host that answers."),
    key("interval", TIME, "The time between requests; default: 1s."),
    key("size", SIZE, "The data in a request; default: 56B."),
];

static IPERF3: [Key; 8] = [
    key("to", Text, "The host of the server."),
    key("congestion_control", Text, "Linux's name of the congestion control."),
    key("udp_rate", RATE, "The rate per flow of UDP; default: TCP."),
    key("flows", Whole, "Parallel flows; default: 1."),
    key("bytes", SIZE, "The bytes that are sent; default: from start to stop."),
    key("reverse", Flag, "Whether the server sends; default: false."),
    key("dscp", MARK, "The DSCP mark; default: be."),
    key("port", Whole, "The server's port; default: 5201 or the next free one."),
];

static UPLOAD: [Key; 7] = [
    key("to", Text, "The host of the server."),
    key("bytes", SIZE, "The bytes that are sent; default: unlimited."),
    key("on", TIME, "The sending time of an upload with pauses."),
    key("off", TIME, "The pause of an upload with pauses."),
    key("congestion_control", Text, "Linux's name of the congestion control."),
    key("dscp", MARK, "The DSCP mark; default: be."),
    key("port", Whole, "The server's port; default: 5601."),
];

static USERS: [Key; 7] = [
    key("present", Whole, "The number of users at a time."),
    key("lifetime", TIME, "The time for which a user stays."),
    key("peer", Text, "The host at the other end."),
    key("direction", Word(&["down", "up", "both"]), "The direction of calls; default: down."),
    key("host", Table(&[&HOST]), "The host of a user."),
    key("call", Table(&[&CALL]), "The call of a user; default: none."),
    key("web", Table(&[&TCP]), "The web session of a user; default: none."),
];

static STRATEGY: [Key; 6] = [
    key("kind", Word(&["none", "neutral", "ott", "enterprise"]), "The strategy; default: none."),
    key("lines", Texts, "The gateways' lines; default: every wired line with a rate."),
    key("queue", Text, "The queue for all packets, or for best effort."),
    key("class", Table(&[&CLASS]), "The class of eligible packets."),
    key("calls", Texts, "The eligible calls; * stands for any characters."),
    key("relay", Text, "The host of the eligible media relay."),
];

static CLASS: [Key; 2] = [
    key("rate", Share, "The assured rate, or a share of the line's rate; default: 20%."),
    key("prio", Word(&["high", "same", "low"]), "The priority for remaining capacity."),
];

static DEFAULTS: [Key; 2] = [
    key("call", Table(&[&BETWEEN, &TIMES, &TWO_WAY, &CALL]), "Defaults for every call."),
    key("tcp", Table(&[&BETWEEN, &TIMES, &TCP]), "Defaults for every TCP flow."),
];

static MEASURE: [Key; 11] = [
    key("endpoint", Text, "The endpoint of every host; default: chromium."),
    key("endpoints", Named(&Text), "Other endpoints, by host."),
    key("browser", Text, "The former name of endpoint."),
    key("browsers", Named(&Text), "The former name of endpoints."),
    key("width", Whole, "The source's width in pixels."),
    key("height", Whole, "The source's height in pixels."),
    key("frame_rate", Whole, "The source's frames per second."),
    key("video", Text, "A video file; default: generated."),
    key("audio", Text, "An audio file; default: generated."),
    key("stats_interval", TIME, "The time between two getStats; default: sample_interval."),
    key("render", Flag, "Whether the pages show the video; default: false."),
];
