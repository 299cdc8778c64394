import assert from "node:assert/strict";
import { test } from "node:test";
import { accessDescription, browserDescription } from "../src/sdp";

const OFFER = [
  "v=0",
  "o=- 1 2 IN IP4 127.0.0.1",
  "s=-",
  "t=0 0",
  "m=audio 40000 UDP/TLS/RTP/SAVPF 111",
  "c=IN IP4 10.0.0.1",
  "a=mid:0",
  "m=video 40001 UDP/TLS/RTP/SAVPF 96",
  "c=IN IP4 10.0.0.1",
  "a=mid:1",
  "",
].join("\r\n");

test("the P-CSCF gets an address, a profile and a bandwidth that it understands", () => {
  const sdp = accessDescription(OFFER, "10.0.0.1", { video: 2750 });
  const lines = sdp.split("\r\n");
  assert.deepEqual(lines.slice(3, 5), ["c=IN IP4 10.0.0.1", "t=0 0"]);
  assert.ok(lines.includes("m=audio 40000 RTP/SAVP 111") && lines.includes("m=video 40001 RTP/SAVP 96"));
  assert.equal(lines.indexOf("b=AS:2750"), lines.lastIndexOf("c=IN IP4 10.0.0.1") + 1);
  assert.equal(lines.filter((line) => line.startsWith("b=")).length, 1);
});

test("the browser gets its own profile back", () => {
  assert.equal(browserDescription(accessDescription(OFFER, "10.0.0.1", {})).replace("c=IN IP4 10.0.0.1\r\nt=", "t="), OFFER);
});
