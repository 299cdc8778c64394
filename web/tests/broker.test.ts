import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession } from "../src/broker";

/** A server that sends this answer. */
const server = (status: number, body: unknown) => async () => new Response(JSON.stringify(body), { status });

test("a request for a relay has service, user, region and class", async () => {
  const session = { id: "0f", iceServers: [{ urls: ["turn:192.0.2.1"] }] };
  let asked: unknown;
  const ask = async (_: unknown, request?: RequestInit) => {
    asked = JSON.parse(String(request?.body));
    return new Response(JSON.stringify(session), { status: 201 });
  };
  const need = { user: "alice", region: "brittany", specialised: true };
  assert.deepEqual(await openSession(need, ask as typeof fetch), session);
  assert.deepEqual(asked, { service: "weir-page", user: "alice", region: "brittany", specialised: true });
  await openSession({ ...need, region: "" }, ask as typeof fetch);
  assert.deepEqual(asked, { service: "weir-page", user: "alice", specialised: true }, "an unknown region is left out");
});

test("an error text names the reason", async () => {
  const need = { user: "a", region: "", specialised: false };
  const text = async (status: number, body: unknown) => String(await openSession(need, server(status, body) as typeof fetch));
  assert.match(await text(404, ""), /no broker/);
  assert.match(await text(503, { detail: "all relays are full" }), /all relays are full/);
  assert.match(await text(500, {}), /status 500/);
  assert.match(await text(201, { id: "../x", iceServers: [] }), /no relay/);
  const broken = async () => Promise.reject(new Error("gone"));
  assert.match(String(await openSession(need, broken)), /does not answer/);
});
