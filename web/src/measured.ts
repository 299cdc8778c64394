// A measured call: the run says when; the page tells states, statistics and failures.
import { Call } from "./call";
import type { CallSettings, FromPage, Seat, ToPage } from "./generated/messages";
import { acquire, type Media } from "./media";
import { nextReport } from "./schedule";
import { Signalling } from "./signalling";
import { deviceWords, messageOf, stateWords } from "./words";

/** Characters of a message for the run's log. */
const LONGEST = 2000;

export interface Screen {
  status(text: string, wrong?: boolean): void;
  local(stream: MediaStream): void;
  remote(stream: MediaStream, picture: boolean): void;
}

export class MeasuredCall {
  #signalling: Signalling;
  #settings: CallSettings | null = null;
  #media: Media | null = null;
  #call: Call | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The run has said stop, or is gone: from now on nothing is news. */
  #over = false;

  constructor(
    room: string,
    private readonly seat: Seat,
    key: string,
    private readonly screen: Screen,
  ) {
    this.#signalling = new Signalling(room, { type: "hello", seat, key }, false, {
      message: (message) => this.#take(message),
      broken: () => this.#over || this.#end("The server is gone.", true),
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
      return this.#failed(deviceWords(error));
    }
    if (this.#over) return this.#media.stop();
    const send = (message: FromPage) => this.#signalling.send(message);
    this.#call = new Call(settings, this.#media.stream, this.seat === "caller", send, {
      state: (state) => {
        if (this.#over) return;
        // A connection that breaks is a result; whether it ends the run is the run's to say.
        send({ type: "connection-state", state });
        this.screen.status(stateWords(state, settings.relay), state === "failed");
      },
      note: (message) => send({ type: "log", message: message.slice(0, LONGEST) }),
      failed: (message) => this.#failed(message),
    });
    if (settings.render) this.screen.local(this.#media.stream);
    this.screen.remote(this.#call.remote, settings.render);
    this.screen.status("Ready; waiting for the run.");
    send({ type: "ready" });
  }

  #start(epoch: number): void {
    if (!this.#call || !this.#settings) return this.#failed("the run has started before this page was ready");
    this.screen.status("Calling…");
    if (this.seat === "caller") this.#call.offer();
    if (this.#settings.statsInterval > 0) this.#schedule(epoch, this.#settings.statsInterval);
  }

  /** Reports at the epoch and whole intervals after it: each wait is reckoned anew, so that none adds to the next. */
  #schedule(epoch: number, interval: number): void {
    const now = () => performance.timeOrigin + performance.now();
    const next = nextReport(epoch, interval, now());
    this.#timer = setTimeout(() => {
      // A timer may fire a little early; its report is that of the next multiple all the same.
      if (now() < next) return this.#schedule(epoch, interval);
      this.#report().catch((error: unknown) => this.#failed(`no statistics: ${messageOf(error)}`));
      this.#schedule(epoch, interval);
    }, next - now());
  }

  async #report(): Promise<void> {
    if (this.#call) this.#signalling.send({ type: "stats", report: await this.#call.stats() });
  }

  async #stop(): Promise<void> {
    this.#over = true;
    clearTimeout(this.#timer);
    try {
      await this.#report();
    } catch (error) {
      this.#signalling.send({ type: "log", message: `no last statistics: ${messageOf(error)}`.slice(0, LONGEST) });
    }
    this.#signalling.send({ type: "bye" });
    this.#end("The call is over.", false);
  }

  #failed(text: string): void {
    if (this.#over) return;
    this.#signalling.send({ type: "failed", message: text.slice(0, LONGEST) });
    this.screen.status(text, true);
  }

  #end(text: string, wrong: boolean): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#call?.close();
    this.#media?.stop();
    this.screen.status(text, wrong);
  }
}
