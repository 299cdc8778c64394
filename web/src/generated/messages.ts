// Made of crates/server/src/signalling/message.rs; renew with
// WEIR_RENEW=1 cargo test -p weir-server --lib signalling::generated

export type FromPage = { "type": "hello",
/**
 * The seat in a measured call.
 */
seat?: Seat,
/**
 * The key of that seat.
 */
key?: string, } | { "type": "offer", sdp: string, } | { "type": "answer", sdp: string, } | { "type": "candidate", candidate: IceCandidate, } | { "type": "bye" } | { "type": "ready" } | { "type": "connection-state", state: string, } | { "type": "stats", report: StatsReport, } | { "type": "log", message: string, } | { "type": "failed", message: string, };

export type ToPage = { "type": "welcome",
/**
 * Whether the other end is there already.
 */
peer: boolean,
/**
 * What a measured call's page is to do; null in a room for people.
 */
settings: CallSettings | null, } | { "type": "peer-joined" } | { "type": "peer-left" } | { "type": "offer", sdp: string, } | { "type": "answer", sdp: string, } | { "type": "candidate", candidate: IceCandidate, } | { "type": "bye" } | { "type": "start",
/**
 * Milliseconds since 1970.
 */
epoch: number, } | { "type": "stop" } | { "type": "error",
/**
 * For the page.
 */
reason: Reason,
/**
 * For people.
 */
message: string, };

export type Reason = "room-name" | "room-full" | "too-many-rooms" | "no-key" | "bad-message" | "too-long" | "too-fast" | "too-slow" | "over";

export type Seat = "caller" | "callee";

export type CallSettings = {
/**
 * Whether this end sends at all; otherwise it only receives.
 */
sends: boolean,
/**
 * Whether it sends audio.
 */
audio: boolean,
/**
 * The video that it sends; none if left out.
 */
video: VideoSettings | null,
/**
 * The priority of audio packets, by which the browser marks them (`RTCRtpEncodingParameters.networkPriority`, RFC 8837).
 */
audioPriority: Priority | null,
/**
 * Where sound and picture come from.
 */
source: Source,
/**
 * ICE servers, as `RTCConfiguration.iceServers` has them.
 */
iceServers: Array<IceServer>,
/**
 * Whether only relayed candidates are used (`iceTransportPolicy: "relay"`).
 */
relay: boolean,
/**
 * Whether the pictures are shown; a page that does not show them leaves more of the machine to the call.
 */
render: boolean,
/**
 * Milliseconds between two calls of `getStats`; 0: none are sent to the server.
 */
statsInterval: number, };

export type VideoSettings = {
/**
 * Pixels.
 */
width: number,
/**
 * Pixels.
 */
height: number,
/**
 * Frames a second.
 */
frameRate: number,
/**
 * The codec that is preferred, `vp8`, `vp9`, `h264` or `av1`; the browser's own order if left out.
 */
codec: string | null,
/**
 * The most that is sent, bit/s (`RTCRtpEncodingParameters.maxBitrate`); the browser's own if left out.
 */
maxBitrate: number | null,
/**
 * The priority of its packets.
 */
priority: Priority | null, };

export type Priority = "very-low" | "low" | "medium" | "high";

export type Source = "devices" | "film";

export type IceServer = {
/**
 * `stun:` and `turn:` addresses.
 */
urls: Array<string>,
/**
 * For TURN.
 */
username?: string,
/**
 * For TURN.
 */
credential?: string, };

export type IceCandidate = {
/**
 * The candidate-attribute of RFC 8839, section 5.1; empty after the last.
 */
candidate: string,
/**
 * The media description that it belongs to.
 */
sdpMid: string | null,
/**
 * The place of that description.
 */
sdpMLineIndex: number | null,
/**
 * The ICE credentials' user fragment.
 */
usernameFragment: string | null, };

export type StatsReport = {
/**
 * When it was asked for, milliseconds since 1970 by the page's clock.
 */
at: number,
/**
 * The statistics objects by their `id`, each with `type`, `timestamp` and its members.
 */
stats: Record<string, Record<string, unknown>>, };
