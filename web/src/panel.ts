// The panel with the statistics of the call.
import { frameSize, frames, plain, rate, share, sparkline, time } from "./format";
import { rates, snapshot, type PanelValues, type Rates, type Snapshot } from "./stats";
import type { StatsReport } from "./generated/messages";

/** The number of values in a small plot, one per second. */
const LENGTH = 60;
/** The viewBox of the plots in call.html without the margin for the line width. */
const WIDTH = 240;
const HEIGHT = 44;

type Plot = "sent" | "received" | "rtt";

export class Panel {
  #previous: Snapshot | undefined;
  #plots: Record<Plot, (number | undefined)[]> = { sent: [], received: [], rtt: [] };

  constructor(private readonly root: HTMLElement) {}

  /** Shows the next report. */
  show(report: StatsReport): void {
    const now = snapshot(report);
    const values = rates(this.#previous, now);
    this.#previous = now;
    this.#direction("sent", values.sent);
    this.#direction("received", values.received);
    this.#path(values);
  }

  clear(): void {
    this.#previous = undefined;
    this.#plots = { sent: [], received: [], rtt: [] };
    this.#direction("sent", {});
    this.#direction("received", {});
    this.#path({ sent: {}, received: {} });
  }

  #direction(name: "sent" | "received", values: Rates): void {
    this.#set(`${name}-rate`, rate(values.rate));
    this.#set(`${name}-loss`, share(values.loss));
    this.#set(`${name}-size`, frameSize(values.width, values.height));
    this.#set(`${name}-frames`, frames(values.framesPerSecond));
    this.#set(`${name}-codec`, plain(values.codec));
    this.#plot(name, values.rate, rate);
  }

  #path(values: PanelValues): void {
    this.#set("rtt", time(values.roundTripTime));
    this.#set("path", plain(values.path));
    this.#plot("rtt", values.roundTripTime, time);
  }

  #set(name: string, text: string): void {
    const element = this.root.querySelector(`[data-value="${name}"]`);
    if (element) element.textContent = text;
  }

  #plot(name: Plot, value: number | undefined, format: (value: number | undefined) => string): void {
    const values = this.#plots[name];
    if (value !== undefined || values.length > 0) values.push(value);
    if (values.length > LENGTH) values.shift();
    const points = sparkline(values, LENGTH, WIDTH, HEIGHT);
    const svg = this.root.querySelector(`[data-plot="${name}"]`);
    if (!svg) return;
    svg.querySelector("polyline")?.setAttribute("points", points);
    const ends = points.split(" ");
    const area = points && `${ends[0]?.split(",")[0]},${HEIGHT} ${points} ${ends.at(-1)?.split(",")[0]},${HEIGHT}`;
    svg.querySelector("polygon")?.setAttribute("points", area);
    const known = values.filter((value) => value !== undefined);
    this.#set(`${name}-top`, known.length > 0 ? `max. ${format(Math.max(...known))}` : "");
  }
}
