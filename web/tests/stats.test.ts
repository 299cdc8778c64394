import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatsReport } from "../src/generated/messages";
import { rates, snapshot } from "../src/stats";

/** A report as Chromium gives it. */
function report(at: number, more: number): StatsReport {
  return {
    at,
    stats: {
      T: { type: "transport", id: "T", selectedCandidatePairId: "P2" },
      P1: { type: "candidate-pair", id: "P1", nominated: true, state: "succeeded", currentRoundTripTime: 9 },
      P2: { type: "candidate-pair", id: "P2", currentRoundTripTime: 0.05, localCandidateId: "L", remoteCandidateId: "R" },
      L: { type: "local-candidate", id: "L", candidateType: "host", protocol: "udp" },
      R: { type: "remote-candidate", id: "R", candidateType: "relay" },
      C: { type: "codec", id: "C", mimeType: "video/VP8" },
      OV: { type: "outbound-rtp", kind: "video", bytesSent: 1000 + 100_000 * more, packetsSent: 100 * more, codecId: "C", frameWidth: 640, frameHeight: 360, framesPerSecond: 30 },
      OA: { type: "outbound-rtp", kind: "audio", bytesSent: 25_000 * more, packetsSent: 50 * more },
      RV: { type: "remote-inbound-rtp", kind: "video", packetsLost: 3 * more },
      IV: { type: "inbound-rtp", kind: "video", bytesReceived: 50_000 * more, packetsReceived: 90 * more, packetsLost: 10 * more, framesDecoded: 24 * more, frameWidth: 320, frameHeight: 180 },
    },
  };
}

test("counters become rates", () => {
  const values = rates(snapshot(report(1000, 1)), snapshot(report(2000, 2)));
  assert.equal(values.sent.rate, 1_000_000);
  assert.equal(values.sent.loss, 3 / 150);
  assert.deepEqual([values.sent.width, values.sent.height, values.sent.framesPerSecond, values.sent.codec], [640, 360, 30, "VP8"]);
  assert.equal(values.received.rate, 400_000);
  assert.equal(values.received.loss, 0.1);
  assert.equal(values.received.framesPerSecond, 24, "computed from the frames if the browser gives no rate");
  assert.equal(values.roundTripTime, 0.05, "from the pair that the transport names");
  assert.equal(values.path, "relayed, UDP");
});

test("the round-trip time is taken from RTCP if available", () => {
  const { at, stats } = report(1000, 1);
  stats.RV = { ...stats.RV, roundTripTime: 0.07 };
  assert.equal(snapshot({ at, stats }).roundTripTime, 0.07);
});

test("without a previous report there are no rates", () => {
  const values = rates(undefined, snapshot(report(1000, 1)));
  assert.equal(values.sent.rate, undefined);
  assert.equal(values.received.loss, undefined);
  assert.equal(values.sent.width, 640);
});

test("decreasing counters give no rates", () => {
  const values = rates(snapshot(report(1000, 2)), snapshot(report(2000, 1)));
  assert.equal(values.sent.rate, undefined);
  assert.equal(values.received.loss, undefined);
});

test("two reports with the same time give no rates", () => {
  assert.equal(rates(snapshot(report(1000, 1)), snapshot(report(1000, 2))).sent.rate, undefined);
});

test("a report that is empty or has members of other types gives no values", () => {
  const none = snapshot({ at: 0, stats: {} });
  assert.deepEqual([none.sent.bytes, none.roundTripTime, none.path], [0, undefined, undefined]);
  const odd = snapshot({ at: 0, stats: { X: { type: "inbound-rtp", kind: "video", bytesReceived: "7", frameWidth: NaN } } });
  assert.deepEqual([odd.received.bytes, odd.received.width], [0, undefined]);
});

test("the pair in use is found in reports of Firefox", () => {
  const stats = {
    P1: { type: "candidate-pair", id: "P1", nominated: true, state: "succeeded", currentRoundTripTime: 1 },
    P2: { type: "candidate-pair", id: "P2", selected: true, currentRoundTripTime: 2 },
  };
  assert.equal(snapshot({ at: 0, stats }).roundTripTime, 2);
});
