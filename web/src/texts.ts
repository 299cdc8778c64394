// Texts about states and errors for the user.

/** An error of the page whose message is for the user. */
export class PageError extends Error {}

const DEVICES: Record<string, string> = {
  NotAllowedError: "The browser has no permission to use the camera or microphone. Allow it in the address bar, then join again.",
  NotFoundError: "No camera or microphone was found. Connect one, or switch off Video or Audio.",
  NotReadableError: "Another program uses the camera or microphone. Close that program, then join again.",
  OverconstrainedError: "The camera does not support this size or frame rate. Choose another one.",
  AbortError: "The camera or microphone stopped. Join again.",
};

/** Why the media is not available. */
export function mediaErrorText(error: unknown): string {
  if (error instanceof PageError) return error.message;
  return DEVICES[nameOf(error)] ?? `Camera or microphone cannot be used: ${messageOf(error)}`;
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
  disconnected: "The connection is interrupted. Waiting…",
  closed: "The call is over.",
};

/** The text for an `RTCPeerConnection.connectionState`. */
export function stateText(state: string, relay: boolean): string {
  if (state !== "failed") return STATES[state] ?? state;
  return relay
    ? "No path to the other browser through the relay. Check the address, user name and password of the TURN server."
    : "No direct path to the other browser. Check both networks, or use a relay (TURN).";
}
