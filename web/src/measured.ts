// A measured call: the run starts and stops it; the page reports states, statistics and errors.
import { Call, type AnyCall, type CallListener } from "./call";
import type { CallRole, CallSettings, FromPage, ToPage } from "./generated/messages";
import type { ImsCall } from "./ims";
import { acquire, type Media } from "./media";
import { nextReport } from "./schedule";
import { Signalling } from "./signalling";
import { mediaErrorText, messageOf, stateText } from "./texts";

/** The module of calls through an IMS. Its address is not a literal, so that it stays a file of its own: it is larger than the page. */
const IMS: string = "/ims.js";
/** The maximum length of a note or error text, characters. */
const MAX_NOTE = 2000;

/** The elements of the page that show a call. */
export interface Screen {
  /** Shows the state of the call, or an error. */
  status(text: string, isError?: boolean): void;
  /** Shows the local video. */
  local(stream: MediaStream): void;
  /** Plays the received media; without `showVideo` only the audio. */
  remote(stream: MediaStream, showVideo: boolean): void;
}

export class MeasuredCall {
  #signalling: Signalling;
  #settings: CallSettings | null = null;
  #media: Media | null = null;
  #call: AnyCall | null = null;
  #ims: ImsCall | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The run has stopped the call or has ended; from now on nothing is reported. */
  #over = false;

  constructor(
    room: string,
    private readonly role: CallRole,
    key: string,
    private readonly screen: Screen,
  ) {
    this.#signalling = new Signalling(room, () => ({ type: "hello", role, key }), false, {
      message: (message) => this.#take(message),
      lost: () => this.#over || this.#end("The connection to the server is lost.", true),
    });
    addEventListener("error", (event) => this.#failed(`error in the page: ${event.message}`));
    addEventListener("unhandledrejection", (event) => this.#failed(`error in the page: ${messageOf(event.reason)}`));
  }

  #take(message: ToPage): void {
    if (this.#over) return;
    switch (message.type) {
      case "welcome":
        if (message.settings) void this.#prepare(message.settings);
        break;
      case "register":
        this.#ims?.register();
        break;
      case "start":
        this.#start(message.epoch);
        break;
      case "stop":
        void this.#stop();
        break;
      case "offer":
      case "answer":
      case "candidate":
        this.#call?.take(message);
        break;
      case "error":
        this.#end(message.message, message.reason !== "over");
        break;
      case "peer-joined":
      case "peer-left":
      case "bye":
        break;
    }
  }

  async #prepare(settings: CallSettings): Promise<void> {
    this.#settings = settings;
    try {
      this.#media = await acquire(settings, true);
    } catch (error) {
      return this.#failed(mediaErrorText(error));
    }
    if (this.#over) return this.#media.stop();
    const send = (message: FromPage) => this.#signalling.send(message);
    const listener: CallListener = {
      state: (state) => {
        if (this.#over) return;
        // A lost connection is a result. The run decides whether to end the call.
        send({ type: "connection-state", state });
        this.screen.status(stateText(state, settings.relay), state === "failed");
      },
      note: (message) => send({ type: "log", message: message.slice(0, MAX_NOTE) }),
      failed: (message) => this.#failed(message),
    };
    if (settings.ims) {
      try {
        const module = (await import(IMS)) as typeof import("./ims");
        this.#call = this.#ims = new module.ImsCall(settings, settings.ims, this.#media.stream, send, listener);
      } catch (error) {
        return this.#failed(`no call through an IMS is possible: ${messageOf(error)}`);
      }
    } else {
      this.#call = new Call(settings, this.#media.stream, this.role === "caller", send, listener);
    }
    if (settings.render) this.screen.local(this.#media.stream);
    this.screen.remote(this.#call.remote, settings.render);
    this.screen.status("Ready. Waiting for the run to start the call.");
    send({ type: "ready" });
  }

  #start(epoch: number): void {
    if (!this.#call || !this.#settings) return this.#failed("the run started the call before this page was ready");
    this.screen.status("Calling…");
    if (this.role === "caller") this.#call.offer();
    if (this.#settings.statsInterval > 0) this.#schedule(epoch, this.#settings.statsInterval);
  }

  /** Reports at the epoch and then every interval. Each wait is computed from the epoch, so that timer errors do not add up. */
  #schedule(epoch: number, interval: number): void {
    const now = () => performance.timeOrigin + performance.now();
    const next = nextReport(epoch, interval, now());
    this.#timer = setTimeout(() => {
      // A timer may fire slightly early; then it is set again for the same report.
      if (now() < next) return this.#schedule(epoch, interval);
      this.#report().catch((error: unknown) => this.#failed(`no statistics available: ${messageOf(error)}`));
      this.#schedule(epoch, interval);
    }, next - now());
  }

  async #report(): Promise<void> {
    const report = await this.#call?.stats();
    if (report) this.#signalling.send({ type: "stats", report });
  }

  async #stop(): Promise<void> {
    this.#over = true;
    clearTimeout(this.#timer);
    try {
      await this.#report();
    } catch (error) {
      this.#signalling.send({ type: "log", message: `no final statistics available: ${messageOf(error)}`.slice(0, MAX_NOTE) });
    }
    // In an IMS, the run ends only after the other functions know that the call is over.
    await this.#ims?.close();
    this.#signalling.send({ type: "bye" });
    this.#end("The call is over.", false);
  }

  #failed(text: string): void {
    if (this.#over) return;
    this.#signalling.send({ type: "failed", message: text.slice(0, MAX_NOTE) });
    this.screen.status(text, true);
  }

  #end(text: string, isError: boolean): void {
    this.#over = true;
    clearTimeout(this.#timer);
    void this.#call?.close();
    this.#media?.stop();
    this.screen.status(text, isError);
  }
}
