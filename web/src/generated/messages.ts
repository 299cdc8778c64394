// Generated from crates/server/src/signalling/message.rs. To regenerate:
// WEIR_RENEW=1 cargo test -p weir-server --lib signalling::generated

export type FromPage = { "type": "hello",
/**
 * The role in a measured call; left out in an open room.
 */
role?: CallRole,
/**
 * The key of that role; in an open room the key of the room. The page that opens a room
 * has none.
 */
key?: string, } | { "type": "offer",
/**
 * The description in SDP.
 */
sdp: string, } | { "type": "answer",
/**
 * The description in SDP.
 */
sdp: string, } | { "type": "candidate",
/**
 * The candidate.
 */
candidate: IceCandidate, } | { "type": "bye" } | { "type": "ready" } | { "type": "milestone",
/**
 * The step.
 */
step: Milestone,
/**
 * Its duration, milliseconds.
 */
elapsed: number, } | { "type": "connection-state",
/**
 * The new state.
 */
state: string, } | { "type": "stats",
/**
 * The statistics.
 */
report: StatsReport, } | { "type": "log",
/**
 * The note, one line.
 */
message: string, } | { "type": "failed",
/**
 * The error, for the user.
 */
message: string, };

export type ToPage = { "type": "welcome",
/**
 * Whether the other participant is in the room already.
 */
peer: boolean,
/**
 * The settings of a measured call; `null` in an open room.
 */
settings: CallSettings | null,
/**
 * The key of an open room, which is part of its link; `null` in a measured call.
 */
key: string | null, } | { "type": "peer-joined" } | { "type": "peer-left" } | { "type": "offer",
/**
 * The description in SDP.
 */
sdp: string, } | { "type": "answer",
/**
 * The description in SDP.
 */
sdp: string, } | { "type": "candidate",
/**
 * The candidate.
 */
candidate: IceCandidate, } | { "type": "bye" } | { "type": "register" } | { "type": "start",
/**
 * The time, milliseconds since 1970.
 */
epoch: number, } | { "type": "stop" } | { "type": "error",
/**
 * The reason, for the page.
 */
reason: Reason,
/**
 * The reason, for the user.
 */
message: string, };

export type Reason = "room-name" | "room-full" | "too-many-rooms" | "no-key" | "bad-message" | "too-long" | "too-fast" | "too-slow" | "over";

export type CallRole = "caller" | "callee";

export type CallSettings = {
/**
 * Whether this page sends media; otherwise it only receives.
 */
sends: boolean,
/**
 * Whether the page sends audio.
 */
audio: boolean,
/**
 * The video that the page sends; `null` for none.
 */
video: VideoSettings | null,
/**
 * The priority of audio packets, from which the browser chooses their DSCP
 * (`RTCRtpEncodingParameters.networkPriority`, RFC 8837).
 */
audioPriority: Priority | null,
/**
 * The source of audio and video.
 */
source: Source,
/**
 * The ICE servers (`RTCConfiguration.iceServers`).
 */
iceServers: Array<IceServer>,
/**
 * Whether to use only relayed candidates (`iceTransportPolicy: "relay"`).
 */
relay: boolean,
/**
 * Whether the page shows the video. Without it, the call gets more of the processor time.
 */
render: boolean,
/**
 * The interval between two calls of `getStats`, milliseconds; 0 if the page sends no
 * statistics.
 */
statsInterval: number,
/**
 * The IP multimedia subsystem (IMS) that the call passes; `null` for none.
 */
ims: ImsSettings | null, };

export type VideoSettings = {
/**
 * The width, pixels.
 */
width: number,
/**
 * The height, pixels.
 */
height: number,
/**
 * Frames per second.
 */
frameRate: number,
/**
 * The preferred codec, `vp8`, `vp9`, `h264` or `av1`; `null` for the order of the browser.
 */
codec: string | null,
/**
 * The maximum bitrate, bit/s (`RTCRtpEncodingParameters.maxBitrate`); `null` for the limit of
 * the browser.
 */
maxBitrate: number | null,
/**
 * The priority of video packets; `null` for the default of the browser.
 */
priority: Priority | null, };

export type ImsSettings = {
/**
 * The `wss:` URL of the P-CSCF.
 */
server: string,
/**
 * The user, without domain: `alice` of `sip:alice@ims.test`.
 */
user: string,
/**
 * The home domain, which is also the realm of SIP Digest.
 */
domain: string,
/**
 * The password of SIP Digest.
 */
password: string,
/**
 * The own IPv4 address, for Contact and Via.
 */
address: string,
/**
 * The user that the page calls; `null` if it is called.
 */
callee: string | null, };

export type Milestone = "registered" | "accepted";

export type Priority = "very-low" | "low" | "medium" | "high";

export type Source = "devices" | "film";

export type IceServer = {
/**
 * The `stun:` and `turn:` URLs.
 */
urls: Array<string>,
/**
 * The user name for TURN.
 */
username?: string,
/**
 * The password for TURN.
 */
credential?: string, };

export type IceCandidate = {
/**
 * The candidate attribute (RFC 8839 § 5.1); empty after the last candidate.
 */
candidate: string,
/**
 * The identification tag (`mid`) of the media description that the candidate belongs to.
 */
sdpMid: string | null,
/**
 * The index of that media description in the session description.
 */
sdpMLineIndex: number | null,
/**
 * The user name fragment of the ICE credentials.
 */
usernameFragment: string | null, };

export type StatsReport = {
/**
 * When the page called `getStats`, milliseconds since 1970 by the page's clock.
 */
at: number,
/**
 * The statistics objects by their `id`, each with `type`, `timestamp` and its other members.
 */
stats: Record<string, Record<string, unknown>>, };
