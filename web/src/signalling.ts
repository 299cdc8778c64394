// The connection to the server.
import type { FromPage, ToPage } from "./generated/messages";
import { parseMessage } from "./parse";

/** Milliseconds to the first new attempt, doubled up to the last after each that fails. */
const FIRST_WAIT = 500;
const LAST_WAIT = 8000;

export interface Listener {
  /** The server has said this. */
  message(message: ToPage): void;
  /** The connection has broken; a new one is tried unless it was the only one wanted. */
  broken(): void;
}

/** A WebSocket to a room, opened anew when it breaks if `again` says so. */
export class Signalling {
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wait = FIRST_WAIT;
  #closed = false;

  constructor(
    private readonly room: string,
    private readonly hello: FromPage & { type: "hello" },
    private readonly again: boolean,
    private readonly listener: Listener,
  ) {
    this.#open();
  }

  #open(): void {
    const socket = new WebSocket(`ws://${location.host}/ws/${encodeURIComponent(this.room)}`);
    this.#socket = socket;
    socket.onopen = () => this.send(this.hello);
    socket.onmessage = (event) => {
      const message = parseMessage(event.data);
      if (!message || this.#closed) return;
      // After an error the server closes, and would give the same answer again.
      if (message.type === "error") this.close();
      if (message.type === "welcome") this.#wait = FIRST_WAIT;
      this.listener.message(message);
    };
    socket.onclose = () => {
      if (this.#closed) return;
      this.listener.broken();
      if (this.again) this.#timer = setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, LAST_WAIT);
    };
  }

  /** Sends, if there is a connection; what is lost with a broken one is said anew in the next. */
  send(message: FromPage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }
}
