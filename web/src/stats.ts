// Computes the values of the panel from the counters of the browser (W3C webrtc-stats).
import type { StatsReport } from "./generated/messages";

type Stat = Record<string, unknown>;

/** The counters of one direction. */
interface Flow {
  bytes: number;
  packets: number;
  lost: number;
  width?: number | undefined;
  height?: number | undefined;
  framesPerSecond?: number | undefined;
  frames: number;
  codec?: string | undefined;
}

/** The counters of one report. */
export interface Snapshot {
  /** Milliseconds since 1970. */
  at: number;
  sent: Flow;
  received: Flow;
  /** Seconds. */
  roundTripTime?: number | undefined;
  /** `direct` or `relayed`, and the transport protocol. */
  path?: string | undefined;
}

/** One direction between two reports. */
export interface Rates {
  /** bit/s */
  rate?: number | undefined;
  /** The share of packets lost, 0 to 1. */
  loss?: number | undefined;
  width?: number | undefined;
  height?: number | undefined;
  framesPerSecond?: number | undefined;
  codec?: string | undefined;
}

export interface PanelValues {
  sent: Rates;
  received: Rates;
  /** Seconds. */
  roundTripTime?: number | undefined;
  path?: string | undefined;
}

const number = (stat: Stat | undefined, name: string): number | undefined => {
  const value = stat?.[name];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
};
const text = (stat: Stat | undefined, name: string): string | undefined =>
  typeof stat?.[name] === "string" ? stat[name] : undefined;

export function snapshot({ at, stats }: StatsReport): Snapshot {
  const all = Object.values(stats);
  const of = (type: string) => all.filter((stat) => stat.type === type);
  const find = (id: string | undefined) => (id === undefined ? undefined : stats[id]);
  const flow = (streams: Stat[], direction: "Sent" | "Received", losses: Stat[]): Flow => {
    const video = streams.find((stat) => stat.kind === "video");
    const main = video ?? streams[0];
    return {
      bytes: sum(streams, `bytes${direction}`),
      packets: sum(streams, `packets${direction}`),
      lost: sum(losses, "packetsLost"),
      width: number(video, "frameWidth"),
      height: number(video, "frameHeight"),
      framesPerSecond: number(video, "framesPerSecond"),
      frames: number(video, direction === "Sent" ? "framesEncoded" : "framesDecoded") ?? 0,
      codec: text(find(text(main, "codecId")), "mimeType")?.split("/")[1],
    };
  };
  const remote = of("remote-inbound-rtp");
  const pair = selectedPair(of("candidate-pair"), of("transport"));
  return {
    at,
    sent: flow(of("outbound-rtp"), "Sent", remote),
    received: flow(of("inbound-rtp"), "Received", of("inbound-rtp")),
    // From RTCP if this page sends, because Firefox reports 0 for the candidate pair.
    roundTripTime: number(remote.find((stat) => "roundTripTime" in stat), "roundTripTime") ?? number(pair, "currentRoundTripTime"),
    path: path(find(text(pair, "localCandidateId")), find(text(pair, "remoteCandidateId"))),
  };
}

function sum(stats: Stat[], name: string): number {
  return stats.reduce((total, stat) => total + (number(stat, name) ?? 0), 0);
}

/** The candidate pair in use: the transport names it; Firefox marks the pair as `selected`. */
function selectedPair(pairs: Stat[], transports: Stat[]): Stat | undefined {
  const ids = transports.map((transport) => transport.selectedCandidatePairId);
  return (
    pairs.find((pair) => ids.includes(pair.id)) ??
    pairs.find((pair) => pair.selected === true) ??
    pairs.find((pair) => pair.nominated === true && pair.state === "succeeded")
  );
}

function path(local: Stat | undefined, remote: Stat | undefined): string | undefined {
  if (!local || !remote) return undefined;
  const relayed = [local, remote].some((candidate) => candidate.candidateType === "relay");
  return `${relayed ? "relayed" : "direct"}, ${(text(local, "protocol") ?? "udp").toUpperCase()}`;
}

/** The rates between two reports; undefined if a counter decreased (a new stream). */
export function rates(before: Snapshot | undefined, now: Snapshot): PanelValues {
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  const direction = (old: Flow | undefined, flow: Flow, isSender: boolean): Rates => {
    const { width, height, codec } = flow;
    if (!old || seconds <= 0) return { width, height, codec, framesPerSecond: flow.framesPerSecond };
    const [bytes, packets, lost, frames] = [
      flow.bytes - old.bytes,
      flow.packets - old.packets,
      flow.lost - old.lost,
      flow.frames - old.frames,
    ];
    const sent = isSender ? packets : packets + lost;
    return {
      width,
      height,
      codec,
      rate: bytes >= 0 ? (bytes * 8) / seconds : undefined,
      // The remote reports are older than the local counters, so the quotient is limited to 1.
      loss: sent > 0 && lost >= 0 ? Math.min(lost / sent, 1) : undefined,
      framesPerSecond: flow.framesPerSecond ?? (width && frames >= 0 ? frames / seconds : undefined),
    };
  };
  return {
    sent: direction(before?.sent, now.sent, true),
    received: direction(before?.received, now.received, false),
    roundTripTime: now.roundTripTime,
    path: now.path,
  };
}
