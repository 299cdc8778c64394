import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallSettings, FromPage, ToPage } from "../src/generated/messages";
import { MeasuredCall } from "../src/measured";

const SETTINGS: CallSettings = {
  sends: false, audio: false, video: null, audioPriority: null, source: "devices", iceServers: [], relay: false, render: false,
  statsInterval: 1000, ims: null,
};

let socket: Socket;
let connection: Connection;

/** A WebSocket whose server side is the test. */
class Socket {
  static readonly OPEN = 1;
  readonly readyState = 1;
  readonly sent: FromPage[] = [];
  onopen?: () => void;
  onmessage?: (event: { data: string }) => void;

  constructor() {
    socket = this;
    queueMicrotask(() => this.onopen?.());
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as FromPage);
  }

  receive(message: ToPage): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

/** An RTCPeerConnection that rejects descriptions and candidates. */
class Connection {
  connectionState = "new";
  signalingState = "stable";
  onconnectionstatechange: (() => void) | null = null;
  getStats = (): Promise<unknown> => Promise.resolve(new Map());

  constructor() {
    connection = this;
  }

  become(state: string): void {
    this.connectionState = state;
    this.onconnectionstatechange?.();
  }

  setRemoteDescription({ sdp }: { sdp: string }): Promise<void> {
    return Promise.reject(new DOMException(`Failed to parse SessionDescription: ${sdp}`, "OperationError"));
  }

  addIceCandidate(): Promise<void> {
    return Promise.reject(new DOMException("none", "OperationError"));
  }

  close(): void {
    this.signalingState = "closed";
  }
}

Object.assign(globalThis, {
  WebSocket: Socket,
  RTCPeerConnection: Connection,
  MediaStream: class {},
  location: { host: "localhost" },
  addEventListener: () => {},
});

const turn = (milliseconds = 0) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A callee page that is ready and has sent nothing since. */
async function ready(): Promise<void> {
  new MeasuredCall("main", "callee", "key", { status: () => {}, local: () => {}, remote: () => {} });
  await turn();
  socket.receive({ type: "welcome", peer: true, settings: SETTINGS, key: null });
  await turn();
  assert.deepEqual(socket.sent.splice(0), [{ type: "hello", role: "callee", key: "key" }, { type: "ready" }]);
}

test("a lost connection is reported and does not end the call", async () => {
  await ready();
  connection.become("connected");
  connection.become("failed");
  assert.deepEqual(socket.sent, [
    { type: "connection-state", state: "connected" },
    { type: "connection-state", state: "failed" },
  ]);
});

test("after the stop only the final statistics are reported", async () => {
  await ready();
  const refuse: ((error: Error) => void)[] = [];
  connection.getStats = () => new Promise((_, reject) => refuse.push(reject));
  socket.receive({ type: "start", epoch: performance.timeOrigin + performance.now() + 1 });
  await turn(50);
  socket.receive({ type: "stop" });
  connection.become("failed");
  socket.receive({ type: "offer", sdp: "" });
  refuse.forEach((refuse) => refuse(new Error("late")));
  await turn();
  assert.equal(refuse.length, 2, "one regular report was pending");
  assert.deepEqual(socket.sent, [{ type: "log", message: "no final statistics available: late" }, { type: "bye" }]);
});

test("the text of a browser error about a description stays in the page", async () => {
  await ready();
  socket.receive({ type: "offer", sdp: "a=ice-pwd:secret" });
  await turn();
  const message = "The call failed: the offer of the other participant was rejected (OperationError).";
  assert.deepEqual(socket.sent, [{ type: "failed", message }]);
});

test("a rejected candidate does not end the call", async () => {
  await ready();
  const candidate = { candidate: "candidate:1", sdpMid: "0", sdpMLineIndex: 0, usernameFragment: "secret" };
  socket.receive({ type: "candidate", candidate });
  await turn();
  const message = "A candidate of the other participant was rejected (OperationError).";
  assert.deepEqual(socket.sent, [{ type: "log", message }]);
});
