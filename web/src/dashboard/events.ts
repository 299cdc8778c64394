// The jobs of the server, as they change.
import type { JobView, Progress } from "../generated/dashboard";
import { part } from "../dom";
import { fill, h } from "./element";

/** How long the connection may be lost before the page says so, and the time between two attempts, ms. */
const PATIENCE = 2_000;
const RETRY = 500;

type Listener = (jobs: JobView[]) => void;

/** Follows the jobs; reconnects when the server comes back. */
export class Jobs {
  readonly #jobs = new Map<number, JobView>();
  readonly #listeners: Listener[] = [];
  #instance = "";
  #wasLost = false;
  #lost: ReturnType<typeof setTimeout> | undefined;
  #source: EventSource | undefined;

  constructor() {
    this.#connect();
    // Browsers have few connections to a server, so pages in the background have none.
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#source?.close() : this.#connect()));
    addEventListener("pagehide", () => this.#source?.close());
  }

  #connect(): void {
    this.#source?.close();
    const source = new EventSource("/api/events");
    this.#source = source;
    source.addEventListener("message", (event: MessageEvent<string>) => this.#take(JSON.parse(event.data) as Progress));
    source.addEventListener("open", () => {
      clearTimeout(this.#lost);
      this.#lost = undefined;
      if (this.#wasLost) this.#say("");
      this.#wasLost = false;
    });
    source.addEventListener("error", () => {
      // The server ends connections of a certain age, which is no news.
      this.#lost ??= setTimeout(() => {
        this.#wasLost = true;
        this.#say("Connection lost, trying again …");
      }, PATIENCE);
      // Some browsers give up when nobody listens.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.#source === source && this.#connect(), RETRY);
    });
  }

  /** Calls the listener with all known jobs, now and at each change. */
  follow(listener: Listener): void {
    this.#listeners.push(listener);
    if (this.#instance !== "") listener(this.all());
  }

  /** The newest first. */
  all(): JobView[] {
    return [...this.#jobs.values()].sort((one, other) => other.id - one.id);
  }

  #take(progress: Progress): void {
    if (this.#instance !== "" && this.#instance !== progress.instance) {
      this.#jobs.clear();
      this.#say("The server was restarted. Runs that were under way are lost; finished runs are kept.");
    }
    this.#instance = progress.instance;
    document.body.dataset.instance = progress.instance;
    for (const job of progress.jobs) this.#jobs.set(job.id, job);
    const all = this.all();
    for (const listener of this.#listeners) listener(all);
  }

  #say(text: string): void {
    fill(part("connection", HTMLElement), text === "" ? null : h("span", {}, text));
  }
}
