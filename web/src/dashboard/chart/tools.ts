// The chart of a page with its buttons: zoom, further series, files.
import type { ChartHead } from "../../generated/dashboard";
import { api } from "../api";
import { readColumns } from "../columns";
import { fill, h, save, select } from "../element";
import { type Chart, chartOf } from "./model";
import { csv, png, svg } from "./picture";
import { ChartView } from "./view";

/** A chart with buttons. `query` is what the page asks the server for, without further series. */
export class ChartBox {
  readonly element = h("section", { class: "card chart-box", "aria-label": "Chart" });
  readonly view: ChartView;
  readonly #columns: string[] = [];
  readonly #runs = h("ol", { class: "run-names" });
  readonly #notes = h("p", { class: "help notes" });
  readonly #add = select([["", "Add a series …"]], "", { "aria-label": "Add a series" });
  readonly #shown = h("span", { class: "help shown", role: "status" });
  #names = "";
  #name = "weir";

  constructor(readonly onChange: () => void = () => {}) {
    const host = h("div");
    this.view = new ChartView(host);
    const button = (text: string, click: () => void, name = text): HTMLElement =>
      h("button", { type: "button", "aria-label": name, title: name, onclick: click }, text);
    const by = (factor: number): void => {
      const [from, to] = this.view.range;
      const middle = (from + to) / 2;
      this.view.zoom(middle - ((to - from) / 2) * factor, middle + ((to - from) / 2) * factor);
    };
    const move = (share: number): void => {
      const [from, to] = this.view.range;
      this.view.zoom(from + (to - from) * share, to + (to - from) * share);
    };
    const events = h("input", { type: "checkbox", checked: true });
    events.addEventListener("change", () => this.view.setEvents(events.checked));
    this.#add.addEventListener("change", () => {
      if (this.#add.value === "") return;
      this.#columns.push(this.#add.value);
      this.#add.value = "";
      this.onChange();
    });
    const tools = h(
      "div",
      { class: "tools" },
      button("−", () => by(2), "Zoom out"),
      button("+", () => by(0.5), "Zoom in"),
      button("←", () => move(-0.25), "Earlier"),
      button("→", () => move(0.25), "Later"),
      button("All", () => this.view.reset(), "Show everything"),
      h("label", { class: "check" }, events, "Events"),
      this.#add,
      h("span", { class: "gap" }),
      button("SVG", () => save(`${this.#name}.svg`, new Blob([svg(this.view)], { type: "image/svg+xml" })), "Save as SVG"),
      button("PNG", () => void png(this.view).then((blob) => blob && save(`${this.#name}.png`, blob)), "Save as PNG"),
      button("CSV", () => save(`${this.#name}.csv`, new Blob([csv(this.view)], { type: "text/csv" })), "Save as CSV"),
    );
    const help = h("p", { class: "help" }, "Drag to zoom, Shift and drag to move, double click for everything. A name below a heading switches its line off. ", this.#shown);
    this.element.append(tools, help, this.#runs, host, this.#notes);
    this.view.addEventListener("range", () => this.#say());
  }

  /** The further series, for a query. */
  get columns(): string {
    return this.#columns.map((column) => `&column=${encodeURIComponent(column)}`).join("");
  }

  /** Fetches and shows a chart; gives it, or null if there is none yet. */
  async load(path: string, name: string, end?: number): Promise<Chart | null> {
    const bytes = await api.columns(path + this.columns);
    if (!bytes) return null;
    // scripts/measure-dashboard reads these marks.
    const begun = performance.now();
    const chart = chartOf(readColumns<ChartHead>(bytes));
    this.#name = name.replace(/[^A-Za-z0-9-]+/g, "-");
    this.view.show(chart, end);
    requestAnimationFrame(() => {
      performance.measure("draw", { start: begun, end: performance.now() });
      performance.mark("drawn");
    });
    this.#choices(chart);
    fill(this.#runs, ...chart.runs.map((run) => h("li", {}, run)));
    this.#runs.hidden = chart.runs.length === 1;
    fill(this.#notes, chart.notes.join(" "));
    this.#say();
    return chart;
  }

  #say(): void {
    const [from, to] = this.view.range;
    this.#shown.textContent = `Shown: ${from.toFixed(1)} to ${to.toFixed(1)} s.`;
  }

  /** The series that can be added, those of the controllers first. */
  #choices(chart: Chart): void {
    const names = chart.columns.map((column) => `${column.stream}|${column.name}`);
    if (names.join() === this.#names) return;
    this.#names = names.join();
    const group = (label: string, isSignal: boolean): HTMLElement | null => {
      const some = chart.columns.filter((column) => column.is_signal === isSignal);
      const options = some.map(({ stream, name }) => h("option", { value: `${stream}|${name}` }, `${stream} ${name}`));
      return options.length > 0 ? h("optgroup", { label }, ...options) : null;
    };
    fill(this.#add, h("option", { value: "" }, "Add a series …"), group("Signals of the controller", true), group("Recorded", false));
  }
}
