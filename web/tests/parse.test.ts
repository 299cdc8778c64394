import assert from "node:assert/strict";
import { test } from "node:test";
import { isRoomName, parseMessage } from "../src/parse";
import { nextReport } from "../src/schedule";

test("messages of the server are parsed", () => {
  for (const message of [
    { type: "welcome", peer: true, settings: null, key: "0" },
    { type: "offer", sdp: "v=0" },
    { type: "candidate", candidate: { candidate: "", sdpMid: null, sdpMLineIndex: 0, usernameFragment: null } },
    { type: "start", epoch: 1.5 },
    { type: "error", reason: "room-full", message: "Two participants are in this room already." },
  ]) {
    assert.deepEqual(parseMessage(JSON.stringify(message)), message);
  }
});

test("invalid messages are rejected", () => {
  for (const text of ["", "null", "7", "[]", "{}", '{"type":"no"}', '{"type":"constructor"}', '{"type":"offer"}', '{"type":"offer","sdp":1}', '{"type":"start","epoch":null}', '{"type":"candidate","candidate":null}']) {
    assert.equal(parseMessage(text), null, text);
  }
});

test("room names follow the rule of the server", () => {
  for (const name of ["a", "monday-9", "x".repeat(64)]) assert.ok(isRoomName(name), name);
  for (const name of ["", "A", "a b", "a/b", "ä", "a\n", "x".repeat(65)]) assert.ok(!isRoomName(name), name);
});

test("reports are due at the epoch and whole intervals after it", () => {
  assert.equal(nextReport(1000, 500, 0), 1000);
  assert.equal(nextReport(1000, 500, 999.9), 1000);
  assert.equal(nextReport(1000, 500, 1000), 1500);
  assert.equal(nextReport(1000, 500, 1499.9), 1500);
  assert.equal(nextReport(1000, 500, 3601), 4000, "missed reports are skipped");
});
