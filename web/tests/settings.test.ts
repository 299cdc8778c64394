import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS, fromAddress, toAddress, toSettings } from "../src/settings";

test("the address remembers what differs from the defaults, and no password", () => {
  const fields = { ...DEFAULTS, room: "a", video: "0", max: "500", relay: "1", ice: "turn:192.0.2.1", iceuser: "me" };
  const address = toAddress(fields).toString();
  assert.equal(address, "room=a&video=0&max=500&relay=1&ice=turn%3A192.0.2.1&iceuser=me");
  assert.deepEqual(fromAddress(new URLSearchParams(address)), fields);
  assert.equal(toAddress(DEFAULTS).toString(), "");
});

test("an address that says something else gives the default", () => {
  const fields = fromAddress(new URLSearchParams("size=9x9&fps=1000&codec=x&max=-3&source=7&priority=highest&icepassword=x"));
  assert.deepEqual(fields, DEFAULTS);
});

test("fields become settings", () => {
  const settings = toSettings({ ...DEFAULTS, size: "1280x720", fps: "15", codec: "vp9", max: "800", priority: "high" }, "");
  assert.ok(typeof settings !== "string");
  assert.deepEqual(settings.video, { width: 1280, height: 720, frameRate: 15, codec: "vp9", maxBitrate: 800_000, priority: "high" });
  assert.equal(settings.audioPriority, null);
  const silent = toSettings({ ...DEFAULTS, video: "0" }, "");
  assert.ok(typeof silent !== "string" && silent.video === null && silent.audio);
});

test("a cap that is none is said so", () => {
  for (const max of ["-5", "0", "0.01", "29", "100001", "x"]) {
    assert.match(String(toSettings({ ...DEFAULTS, max }, "")), /from 30 to 100000/, max);
  }
  const none = toSettings(DEFAULTS, "");
  assert.ok(typeof none !== "string" && none.video?.maxBitrate === null);
});

test("a server that cannot be used is said so", () => {
  const words = (fields: object, password = "") => toSettings({ ...DEFAULTS, ...fields }, password);
  assert.match(String(words({ relay: "1" })), /address of a TURN server/);
  assert.match(String(words({ ice: "192.0.2.1" })), /looks like/);
  assert.match(String(words({ ice: "turn:192.0.2.1", iceuser: "me" })), /password/);
  const right = words({ ice: "turn:192.0.2.1", iceuser: "me", relay: "1" }, "secret");
  assert.ok(typeof right !== "string");
  assert.deepEqual(right.iceServers, [{ urls: ["turn:192.0.2.1"], username: "me", credential: "secret" }]);
});
