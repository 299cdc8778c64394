// Parses and checks the messages of the server.
import type { ToPage } from "./generated/messages";

type Shape = Record<string, (value: unknown) => boolean>;

const text = (value: unknown) => typeof value === "string";
const object = (value: unknown) => typeof value === "object" && value !== null;

const SHAPES: Record<ToPage["type"], Shape> = {
  welcome: {
    peer: (value) => typeof value === "boolean",
    settings: (value) => typeof value === "object",
    key: (value) => value === null || text(value),
  },
  "peer-joined": {},
  "peer-left": {},
  offer: { sdp: text },
  answer: { sdp: text },
  candidate: { candidate: object },
  bye: {},
  register: {},
  start: { epoch: Number.isFinite },
  stop: {},
  error: { reason: text, message: text },
};

/** The message of the server; null if it is not valid. */
export function parseMessage(data: unknown): ToPage | null {
  let value: unknown;
  try {
    value = JSON.parse(String(data));
  } catch {
    return null;
  }
  if (!object(value)) return null;
  const message = value as Record<string, unknown>;
  if (typeof message.type !== "string" || !Object.hasOwn(SHAPES, message.type)) return null;
  const shape = SHAPES[message.type as ToPage["type"]];
  const isValid = Object.entries(shape).every(([name, is]) => name in message && is(message[name]));
  return isValid ? (message as ToPage) : null;
}

/** Whether this is a valid room name. */
export function isRoomName(name: string): boolean {
  return /^[a-z0-9-]{1,64}$/.test(name);
}
