// Draws a chart: panels below one another that share one time axis.
//
// Drag: zoom. Shift and drag: move. Wheel with Ctrl: zoom. Double click or 0: everything. Keys of a focused panel:
// arrows move, + and − zoom.
import uPlot from "uplot";
import { fill, h } from "../element";
import type { Chart, Line, Panel } from "./model";
import { DASHES, colour, ink, stateColour } from "./palette";
import { labels, number, shown } from "./scale";

const HEIGHT = 190;
const NARROW = 150;
/** The width of the vertical axis, so that all panels begin at the same place. */
const AXIS = 58;

interface Drawn {
  panel: Panel;
  plot: uPlot;
  figure: HTMLElement;
  values: HTMLElement[];
}

/** The event "range" tells which times are shown. */
export class ChartView extends EventTarget {
  readonly #host: HTMLElement;
  #chart: Chart | null = null;
  #drawn: Drawn[] = [];
  readonly #hidden = new Set<string>();
  #range: [number, number] = [0, 1];
  #end = 1;
  #isZoomed = false;
  #isSetting = false;
  #showsEvents = true;

  constructor(host: HTMLElement) {
    super();
    this.#host = host;
    host.classList.add("chart");
    new ResizeObserver(() => this.#resize()).observe(host);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#redraw());
  }

  /** The times that are shown, in seconds. */
  get range(): [number, number] {
    return this.#range;
  }

  get chart(): Chart | null {
    return this.#chart;
  }

  /** The panels with their drawings, and the names of the lines that are switched off. */
  get drawn(): readonly { panel: Panel; plot: uPlot }[] {
    return this.#drawn;
  }

  isHidden(panel: Panel, line: Line): boolean {
    return this.#hidden.has(key(panel, line));
  }

  /** Shows a chart until the time `end`; keeps what is zoomed to and switched off. */
  show(chart: Chart, end = chart.duration): void {
    this.#end = Math.max(end, 1e-3);
    if (!this.#isZoomed) this.#range = [0, this.#end];
    const isSame = this.#chart !== null && shape(this.#chart) === shape(chart);
    this.#chart = chart;
    if (!isSame) {
      this.#redraw();
      return;
    }
    this.#drawn.forEach((drawn, index) => {
      const panel = chart.panels[index];
      if (!panel) return;
      drawn.panel = panel;
      drawn.plot.setData(panel.data, false);
    });
    this.#apply();
  }

  /** Shows these times in all panels. */
  zoom(from: number, to: number): void {
    const least = this.#end / 1e5;
    const width = Math.min(Math.max(to - from, least), this.#end);
    const start = Math.min(Math.max(from, 0), this.#end - width);
    this.#range = [start, start + width];
    this.#isZoomed = width < this.#end * (1 - 1e-9);
    this.#apply();
    this.dispatchEvent(new Event("range"));
  }

  reset(): void {
    this.zoom(0, this.#end);
  }

  /** Draws or hides the events. */
  setEvents(shows: boolean): void {
    this.#showsEvents = shows;
    for (const { plot } of this.#drawn) plot.redraw(false);
  }

  #apply(): void {
    const [min, max] = this.#range;
    this.#isSetting = true;
    for (const { plot } of this.#drawn) {
      plot.batch(() => {
        plot.setScale("x", { min, max });
      });
    }
    this.#isSetting = false;
    this.#host.dataset.from = min.toFixed(3);
    this.#host.dataset.to = max.toFixed(3);
  }

  #redraw(): void {
    for (const { plot } of this.#drawn) plot.destroy();
    this.#drawn = [];
    fill(this.#host);
    const panels = this.#chart?.panels ?? [];
    panels.forEach((panel, index) => this.#add(panel, index === panels.length - 1));
    this.#apply();
  }

  #add(panel: Panel, isLast: boolean): void {
    const title = h("figcaption", {}, title_(panel));
    const canvas = h("div", { class: "canvas", tabindex: "0", role: "application", "aria-label": `${panel.label} over time. Arrow keys move, plus and minus zoom, 0 shows everything.` });
    const values: HTMLElement[] = [];
    const legend = h("ul", { class: "legend" });
    const figure = h("figure", { "data-panel": panel.label }, title, legend, canvas);
    this.#host.append(figure);
    const plot = new uPlot(this.#options(panel, isLast), panel.data, canvas);
    const drawn: Drawn = { panel, plot, figure, values };
    this.#drawn.push(drawn);
    panel.lines.forEach((line, index) => {
      const value = h("span", { class: "value" });
      values.push(value);
      legend.append(h("li", {}, this.#switch(drawn, line, index, value)));
    });
    this.#states(panel, legend);
    canvas.addEventListener("keydown", (event) => this.#key(event));
    this.#pointer(plot);
  }

  /** The button that switches a line on and off, with its value at the cursor. */
  #switch(drawn: Drawn, line: Line, index: number, value: HTMLElement): HTMLElement {
    const swatch = h("span", { class: "swatch" });
    swatch.style.borderTopColor = line.isReference ? ink().soft : colour(line.colour);
    swatch.style.borderTopStyle = ["solid", "dashed", "dotted", "dashed"][line.dash] ?? "solid";
    const isOn = !this.isHidden(drawn.panel, line);
    const button = h("button", { type: "button", "aria-pressed": String(isOn) }, swatch, line.name, value);
    button.addEventListener("click", () => {
      const name = key(drawn.panel, line);
      const hides = !this.#hidden.delete(name);
      if (hides) this.#hidden.add(name);
      button.setAttribute("aria-pressed", String(!hides));
      drawn.plot.setSeries(index + 1, { show: !hides });
    });
    return button;
  }

  /** What the coloured bands of a panel stand for. */
  #states(panel: Panel, legend: HTMLElement): void {
    if (!isOfSignals(panel)) return;
    const words = new Map((this.#chart?.bands ?? []).map((band) => [band.word, band.state]));
    for (const [word, state] of words) {
      const swatch = h("span", { class: "swatch state" });
      swatch.style.backgroundColor = stateColour(state);
      legend.append(h("li", { class: "word" }, swatch, word));
    }
  }

  #options(panel: Panel, isLast: boolean): uPlot.Options {
    const { text, grid } = ink();
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 }, font: "12px system-ui, sans-serif" };
    const series: uPlot.Series[] = [{}, ...panel.lines.map((line) => this.#series(panel, line))];
    const rest = panel.data.length - series.length;
    for (let index = 0; index < rest; index += 1) series.push({ show: true, stroke: "transparent", width: 0, points: { show: false } });
    const band = (one: Panel["bands"][number]): uPlot.Band => {
      const line = panel.lines[one.line];
      return { series: [one.high, one.low], fill: `${colour(line?.colour ?? 0)}38` };
    };
    return {
      width: this.#width(),
      height: (this.#width() < 500 ? NARROW : HEIGHT) + (isLast ? 26 : 0),
      legend: { show: false },
      cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false, setScale: true }, focus: { prox: 24 }, points: { size: 6 } },
      scales: { x: { time: false, range: (_, min, max) => [min, max] }, y: { range: (_, min, max) => span(min, max) } },
      axes: [
        { ...axis, show: true, size: isLast ? 44 : 18, values: isLast ? (_, ticks) => labels(ticks) : (_, ticks) => ticks.map(() => ""), ...(isLast ? { label: "time (s)", labelSize: 18, labelFont: "12px system-ui, sans-serif" } : {}) },
        { ...axis, size: AXIS, values: (_, ticks) => labels(ticks) },
      ],
      series,
      bands: panel.bands.map(band),
      hooks: {
        setScale: [(plot, name) => this.#scaled(plot, name)],
        setCursor: [(plot) => this.#cursor(plot)],
        drawClear: [(plot) => this.#background(panel, plot)],
        draw: [(plot) => this.#marks(plot)],
      },
    };
  }

  #series(panel: Panel, line: Line): uPlot.Series {
    const stroke = line.isReference ? ink().soft : colour(line.colour);
    const steps = uPlot.paths.stepped?.({ align: 1 });
    return {
      label: line.name,
      show: !this.isHidden(panel, line),
      stroke,
      width: line.isReference ? 1.25 : 1.75,
      dash: DASHES[line.dash] ?? [],
      points: line.isDots ? { show: true, size: 3, fill: stroke } : { show: false },
      ...(line.isDots ? { paths: () => null } : {}),
      ...(line.isStep && steps ? { paths: steps } : {}),
    };
  }

  /** A panel was zoomed by dragging: the others follow. */
  #scaled(plot: uPlot, name: string): void {
    if (name !== "x" || this.#isSetting) return;
    const { min, max } = plot.scales.x ?? {};
    if (min === undefined || max === undefined || min === null || max === null) return;
    const [from, to] = this.#range;
    if (Math.abs(min - from) + Math.abs(max - to) < 1e-9) return;
    // uPlot is still setting its own scale.
    queueMicrotask(() => this.zoom(min, max));
  }

  /** Shows the values at the cursor in the legend. */
  #cursor(plot: uPlot): void {
    const drawn = this.#drawn.find((one) => one.plot === plot);
    if (!drawn) return;
    const index = plot.cursor.idx;
    drawn.values.forEach((element, line) => {
      const value = index === null || index === undefined ? null : nearest(plot.data[line + 1], index);
      element.textContent = value === null ? "" : ` ${shown(value, drawn.panel.scale)}`;
    });
    const time = index === null || index === undefined ? undefined : plot.data[0][index];
    drawn.figure.dataset.time = time === undefined ? "" : `${number(time)} s`;
  }

  /** The states of the controllers as coloured bands, one lane per stream. */
  #background(panel: Panel, plot: uPlot): void {
    if (!isOfSignals(panel)) return;
    const bands = this.#chart?.bands ?? [];
    const lanes = [...new Set(bands.map((band) => `${band.run} ${band.stream}`))];
    const { left, top, width, height } = plot.bbox;
    const context = plot.ctx;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    for (const band of bands) {
      const lane = lanes.indexOf(`${band.run} ${band.stream}`);
      const from = plot.valToPos(band.from, "x", true);
      const to = plot.valToPos(band.to, "x", true);
      if (to < left || from > left + width) continue;
      context.fillStyle = stateColour(band.state);
      context.fillRect(from, top + (lane * height) / lanes.length, Math.max(to - from, 1), height / lanes.length);
    }
    context.restore();
  }

  /** Events as short lines at the top. */
  #marks(plot: uPlot): void {
    if (!this.#showsEvents) return;
    const { left, top, width } = plot.bbox;
    const context = plot.ctx;
    context.save();
    context.strokeStyle = ink().lost;
    context.lineWidth = devicePixelRatio * 1.5;
    for (const event of this.#chart?.events ?? []) {
      const x = plot.valToPos(event.at, "x", true);
      if (x < left || x > left + width) continue;
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x, top + 7 * devicePixelRatio);
      context.stroke();
    }
    context.restore();
  }

  #key(event: KeyboardEvent): void {
    const [from, to] = this.#range;
    const width = to - from;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.zoom(from - width / 4, to - width / 4),
      ArrowRight: () => this.zoom(from + width / 4, to + width / 4),
      "+": () => this.zoom(from + width / 4, to - width / 4),
      "=": () => this.zoom(from + width / 4, to - width / 4),
      "-": () => this.zoom(from - width / 2, to + width / 2),
      "0": () => this.reset(),
      Home: () => this.reset(),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move();
  }

  /** Wheel with Ctrl zooms, Shift and drag moves, two fingers do both. */
  #pointer(plot: uPlot): void {
    const { over } = plot;
    const at = (x: number): number => plot.posToVal(x, "x");
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      event.preventDefault();
      const [from, to] = this.#range;
      if (event.ctrlKey) {
        const centre = at(event.offsetX);
        const factor = event.deltaY > 0 ? 1.25 : 0.8;
        this.zoom(centre - (centre - from) * factor, centre + (to - centre) * factor);
      } else {
        const step = (event.deltaX / over.clientWidth) * (to - from);
        this.zoom(from + step, to + step);
      }
    }, { passive: false });
    over.addEventListener("mousedown", (event) => {
      if (!event.shiftKey) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      const [from, to] = this.#range;
      const start = event.clientX;
      const move = (next: MouseEvent): void => {
        const step = ((start - next.clientX) / over.clientWidth) * (to - from);
        this.zoom(from + step, to + step);
      };
      addEventListener("mousemove", move);
      addEventListener("mouseup", () => removeEventListener("mousemove", move), { once: true });
    }, true);
    over.addEventListener("dblclick", (event) => {
      event.stopImmediatePropagation();
      this.reset();
    }, true);
    this.#touch(over, at);
  }

  #touch(over: HTMLElement, at: (x: number) => number): void {
    let begun: { values: [number, number]; range: [number, number] } | null = null;
    const places = (event: TouchEvent): [number, number] | null => {
      const [one, other] = [event.touches[0], event.touches[1]];
      const left = over.getBoundingClientRect().left;
      return one && other ? [one.clientX - left, other.clientX - left] : null;
    };
    over.addEventListener("touchstart", (event) => {
      const both = places(event);
      begun = both && { values: [at(both[0]), at(both[1])], range: this.#range };
    }, { passive: true });
    over.addEventListener("touchmove", (event) => {
      const both = places(event);
      if (!both || !begun) return;
      event.preventDefault();
      // The times under both fingers stay under them.
      const scale = (begun.values[1] - begun.values[0]) / (both[1] - both[0] || 1);
      const from = begun.values[0] - both[0] * scale;
      this.zoom(from, from + over.clientWidth * Math.abs(scale));
    }, { passive: false });
    over.addEventListener("touchend", () => (begun = null));
  }

  #width(): number {
    return Math.max(this.#host.clientWidth, 200);
  }

  #resize(): void {
    const width = this.#width();
    for (const { plot } of this.#drawn) if (plot.width !== width) plot.setSize({ width, height: plot.height });
  }
}

const key = (panel: Panel, line: Line): string => `${panel.label}|${line.name}`;

/** What must be equal for new data to fit into the drawn panels. */
const shape = (chart: Chart): string =>
  JSON.stringify([chart.runs.length, chart.bands.length > 0, chart.panels.map((panel) => [title_(panel), panel.data.length, panel.lines])]);

export const title_ = (panel: Panel): string => (panel.scale.unit === "" ? panel.label : `${panel.label} (${panel.scale.unit})`);

const isOfSignals = (panel: Panel): boolean => panel.label.startsWith("delay gradient");

/** The range of an axis, from zero unless a value is negative. */
function span(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
  const low = Math.min(min, 0);
  const high = max <= low ? low + 1 : max;
  return [low < 0 ? low - (high - low) * 0.05 : 0, high + (high - low) * 0.05];
}

/** The value at an index, or the nearest one before: irregular series have values at few times. */
function nearest(values: uPlot.AlignedData[number] | undefined, index: number): number | null {
  for (let at = index; values && at >= 0 && index - at < 200; at -= 1) {
    const value = values[at];
    if (value !== null && value !== undefined) return value;
    if (value === null) return null;
  }
  return null;
}
