import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallSettings, FromPage, ToPage } from "../src/generated/messages";
import { MeasuredCall } from "../src/measured";

const SETTINGS: CallSettings = {
  sends: false, audio: false, video: null, audioPriority: null, source: "devices", iceServers: [], relay: false, render: false,
  statsInterval: 1000,
};

let socket: Socket;
let connection: Connection;

/** The server, as a page hears it and is heard. */
class Socket {
  static readonly OPEN = 1;
  readonly readyState = 1;
  readonly said: FromPage[] = [];
  onopen?: () => void;
  onmessage?: (event: { data: string }) => void;

  constructor() {
    socket = this;
    queueMicrotask(() => this.onopen?.());
  }

  send(text: string): void {
    this.said.push(JSON.parse(text) as FromPage);
  }

  tell(message: ToPage): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

/** A browser that refuses descriptions and candidates. */
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

/** A callee's page that is ready, and has said nothing since. */
async function ready(): Promise<void> {
  new MeasuredCall("main", "callee", "key", { status: () => {}, local: () => {}, remote: () => {} });
  await turn();
  socket.tell({ type: "welcome", peer: true, settings: SETTINGS });
  await turn();
  assert.deepEqual(socket.said.splice(0), [{ type: "hello", seat: "callee", key: "key" }, { type: "ready" }]);
}

test("a connection that breaks is told, and fails nothing", async () => {
  await ready();
  connection.become("connected");
  connection.become("failed");
  assert.deepEqual(socket.said, [
    { type: "connection-state", state: "connected" },
    { type: "connection-state", state: "failed" },
  ]);
});

test("after the stop only the last statistics are told", async () => {
  await ready();
  const refuse: ((error: Error) => void)[] = [];
  connection.getStats = () => new Promise((_, reject) => refuse.push(reject));
  socket.tell({ type: "start", epoch: performance.timeOrigin + performance.now() + 1 });
  await turn(50);
  socket.tell({ type: "stop" });
  connection.become("failed");
  socket.tell({ type: "offer", sdp: "" });
  refuse.forEach((refuse) => refuse(new Error("late")));
  await turn();
  assert.equal(refuse.length, 2, "one was under way");
  assert.deepEqual(socket.said, [{ type: "log", message: "no last statistics: late" }, { type: "bye" }]);
});

test("what a browser says of a description stays in the page", async () => {
  await ready();
  socket.tell({ type: "offer", sdp: "a=ice-pwd:secret" });
  await turn();
  const message = "The call cannot be made: the other end's offer is not taken (OperationError).";
  assert.deepEqual(socket.said, [{ type: "failed", message }]);
});

test("a candidate that is refused fails nothing", async () => {
  await ready();
  const candidate = { candidate: "candidate:1", sdpMid: "0", sdpMLineIndex: 0, usernameFragment: "secret" };
  socket.tell({ type: "candidate", candidate });
  await turn();
  const message = "A candidate of the other end is not taken (OperationError).";
  assert.deepEqual(socket.said, [{ type: "log", message }]);
});
