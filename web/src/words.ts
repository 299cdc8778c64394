// What goes wrong, in words for people.

/** The page's own failures; the message is for people. */
export class Trouble extends Error {}

const DEVICES: Record<string, string> = {
  NotAllowedError: "The browser was not allowed to use the camera or microphone. Allow it in the address bar, then join again.",
  NotFoundError: "No camera or microphone was found. Connect one, or untick Picture or Sound.",
  NotReadableError: "The camera or microphone is in use by another program. Close that, then join again.",
  OverconstrainedError: "The camera cannot do this size or frame rate. Choose another.",
  AbortError: "The camera or microphone stopped. Try again.",
};

/** Why there is no sound or picture. */
export function deviceWords(error: unknown): string {
  if (error instanceof Trouble) return error.message;
  return DEVICES[nameOf(error)] ?? `Camera and microphone cannot be used: ${messageOf(error)}`;
}

export function nameOf(error: unknown): string {
  return typeof error === "object" && error !== null && "name" in error ? String(error.name) : "";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const STATES: Record<string, string> = {
  new: "Calling…",
  connecting: "Connecting…",
  connected: "Connected",
  disconnected: "The connection is interrupted…",
  closed: "The call is over.",
};

/** `RTCPeerConnection.connectionState` in words. */
export function stateWords(state: string, relay: boolean): string {
  if (state !== "failed") return STATES[state] ?? state;
  return relay
    ? "No way to the other browser through the relay. Check the TURN server's address, user name and password."
    : "No direct way to the other browser. Check both networks, or call through a relay (TURN).";
}
