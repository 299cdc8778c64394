import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS, fromAddress, inCall, keyOf, toAddress, toLink, toSettings } from "../src/settings";

test("the address has the fields that differ from the defaults, but no password", () => {
  const fields = { ...DEFAULTS, room: "a", video: "0", max: "500", relay: "1", ice: "turn:192.0.2.1", iceuser: "me" };
  const address = toAddress(fields).toString();
  assert.equal(address, "room=a&video=0&max=500&relay=1&ice=turn%3A192.0.2.1&iceuser=me");
  assert.deepEqual(fromAddress(new URLSearchParams(address)), fields);
  assert.equal(toAddress(DEFAULTS).toString(), "");
});

test("the link of a room has its key, and the link of another room has not", () => {
  const known = { room: "monday", key: "0123456789abcdef0123456789abcdef" };
  const fields = { ...DEFAULTS, room: "monday", max: "500" };
  assert.equal(toLink(fields, known), `?room=monday&max=500#${known.key}`);
  assert.equal(toLink({ ...fields, room: "tuesday" }, known), "?room=tuesday&max=500");
  assert.equal(toLink(fields, { room: "monday", key: "" }), "?room=monday&max=500");
  assert.deepEqual([keyOf("monday", known), keyOf("tuesday", known)], [known.key, ""]);
});

test("an invalid field in the address gives the default", () => {
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

test("an invalid maximum bitrate is an error", () => {
  for (const max of ["-5", "0", "0.01", "29", "100001", "x"]) {
    assert.match(String(toSettings({ ...DEFAULTS, max }, "")), /from 30 to 100000/, max);
  }
  const none = toSettings(DEFAULTS, "");
  assert.ok(typeof none !== "string" && none.video?.maxBitrate === null);
});

test("a relay chosen by the broker needs no address, and a specialised session is marked", () => {
  const basic = toSettings({ ...DEFAULTS, relay: "basic" }, "");
  const specialised = toSettings({ ...DEFAULTS, relay: "specialised", priority: "low" }, "");
  assert.ok(typeof basic !== "string" && typeof specialised !== "string");
  assert.deepEqual([basic.relay, basic.iceServers, basic.audioPriority], [true, [], null]);
  assert.deepEqual([specialised.video?.priority, specialised.audioPriority], ["high", "high"]);
});

test("the address has the region, and an invalid region is an error", () => {
  const fields = { ...DEFAULTS, relay: "basic", region: "brittany" };
  assert.equal(toAddress(fields).toString(), "relay=basic&region=brittany");
  assert.equal(fromAddress(toAddress(fields)).region, "brittany");
  assert.equal(fromAddress(new URLSearchParams("region=a:b")).region, "");
  assert.ok(typeof toSettings(fields, "") !== "string");
  for (const region of ["a:b", "a b", "x".repeat(65)]) {
    assert.match(String(toSettings({ ...fields, region }, "")), /region/, region);
    assert.ok(typeof toSettings({ ...fields, region, relay: "0" }, "") !== "string", "without the broker the region is ignored");
  }
});

test("during a call only the maximum bitrate and the priorities change", () => {
  const joined = { ...DEFAULTS, room: "a", relay: "basic", region: "brittany" };
  const form = { ...DEFAULTS, room: "b", relay: "specialised", video: "0", codec: "vp9", ice: "turn:192.0.2.1", max: "500", priority: "low", audiopriority: "medium" };
  const fields = inCall(joined, form);
  assert.deepEqual(fields, { ...joined, max: "500", priority: "low", audiopriority: "medium" });
  const settings = toSettings(fields, "");
  assert.ok(typeof settings !== "string");
  assert.deepEqual([settings.video?.maxBitrate, settings.video?.priority, settings.audioPriority], [500_000, "low", "medium"], "a basic session stays unmarked");
  const marked = toSettings(inCall({ ...joined, relay: "specialised" }, { ...form, relay: "basic" }), "");
  assert.ok(typeof marked !== "string");
  assert.deepEqual([marked.video?.priority, marked.audioPriority], ["high", "high"], "a specialised session stays marked");
});

test("an invalid ICE server is an error", () => {
  const result = (fields: object, password = "") => toSettings({ ...DEFAULTS, ...fields }, password);
  assert.match(String(result({ relay: "1" })), /address of a TURN server/);
  assert.match(String(result({ ice: "192.0.2.1" })), /not valid/);
  assert.match(String(result({ ice: "turn:192.0.2.1", iceuser: "me" })), /password/);
  const right = result({ ice: "turn:192.0.2.1", iceuser: "me", relay: "1" }, "secret");
  assert.ok(typeof right !== "string");
  assert.deepEqual(right.iceServers, [{ urls: ["turn:192.0.2.1"], username: "me", credential: "secret" }]);
});
