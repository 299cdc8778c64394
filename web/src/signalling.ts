// The connection to the signalling server.
import type { FromPage, ToPage } from "./generated/messages";
import { parseMessage } from "./parse";

/** The wait before the first attempt to reconnect, milliseconds. It doubles after each failure, up to `MAX_WAIT`. */
const MIN_WAIT = 500;
const MAX_WAIT = 8000;

export interface Listener {
  /** Called with each message of the server. */
  message(message: ToPage): void;
  /** Called when the connection is lost, before an attempt to reconnect. */
  lost(): void;
}

/** A WebSocket to a room. With `reconnect` it is opened again when it is lost. */
export class Signalling {
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wait = MIN_WAIT;
  #closed = false;

  constructor(
    private readonly room: string,
    /** The first message of each connection. */
    private readonly hello: () => FromPage & { type: "hello" },
    private readonly reconnect: boolean,
    private readonly listener: Listener,
  ) {
    this.#open();
  }

  #open(): void {
    const socket = new WebSocket(`ws://${location.host}/ws/${encodeURIComponent(this.room)}`);
    this.#socket = socket;
    socket.onopen = () => this.send(this.hello());
    socket.onmessage = (event) => {
      const message = parseMessage(event.data);
      if (!message || this.#closed) return;
      // After an error the server closes the connection, and would send the same error again.
      if (message.type === "error") this.close();
      if (message.type === "welcome") this.#wait = MIN_WAIT;
      this.listener.message(message);
    };
    socket.onclose = () => {
      if (this.#closed) return;
      this.listener.lost();
      if (this.reconnect) this.#timer = setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, MAX_WAIT);
    };
  }

  /** Sends the message if there is a connection; otherwise it is discarded. After reconnecting, the call starts again. */
  send(message: FromPage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }
}
