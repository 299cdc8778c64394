import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession } from "../src/broker";

/** A server that answers so. */
const server = (status: number, body: unknown) => async () => new Response(JSON.stringify(body), { status });

test("a relay is asked for with the page's service, user, region and class", async () => {
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
  assert.deepEqual(asked, { service: "weir-page", user: "alice", specialised: true }, "a region that is not known is left out");
});

test("why there is no relay is said", async () => {
  const need = { user: "a", region: "", specialised: false };
  const words = async (status: number, body: unknown) => String(await openSession(need, server(status, body) as typeof fetch));
  assert.match(await words(404, ""), /no broker/);
  assert.match(await words(503, { detail: "all relays are full" }), /all relays are full/);
  assert.match(await words(500, {}), /status 500/);
  assert.match(await words(201, { id: "../x", iceServers: [] }), /no relay/);
  const broken = async () => Promise.reject(new Error("gone"));
  assert.match(String(await openSession(need, broken)), /does not answer/);
});
