// Draws the figures over time of a report so that they can be zoomed. The static pictures remain for print, and for
// browsers without scripts.
import uPlot from "uplot";
import type { Chart, Line, Panel } from "../dashboard/chart/model";
import { ChartView } from "../dashboard/chart/view";
import { h } from "../dashboard/element";
import { type Row, rowsOf } from "./rows";

interface Zoomed {
  note: string;
  panels: {
    label: string;
    series: { name: string; colour: number; dash: number; step: boolean; dots: boolean; reference: boolean; rows: number; all: number; band: boolean }[];
    marks: { name: string; y: number; from: number | null; to: number | null; published: boolean }[];
  }[];
}

/** Text that is compressed with DEFLATE and written in Base64. */
async function unpacked(packed: string): Promise<string> {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

type Spec = Zoomed["panels"][number];

/** A panel from the rows of its series: the lines, the marks, and the ends of the intervals, on common times. */
function panelOf(spec: Spec, own: Row[][], end: number): Panel {
  const lines: Line[] = spec.series.map(({ name, colour, dash, step, dots, reference }) => ({ name, colour, dash, isStep: step, isDots: dots, isReference: reference, run: 0 }));
  const times = own.map((rows) => rows.map((row) => row.x));
  const tables: uPlot.AlignedData[] = own.map((rows, index) => [times[index] ?? [], rows.map((row) => row.value)]);
  for (const mark of spec.marks) {
    lines.push({ name: mark.name, colour: 1, dash: mark.published ? 3 : 1, isStep: false, isDots: false, isReference: !mark.published, run: 0 });
    tables.push([[mark.from ?? 0, mark.to ?? end], [mark.y, mark.y]]);
  }
  const bands: Panel["bands"] = [];
  spec.series.forEach((series, line) => {
    if (!series.band) return;
    bands.push({ line, low: tables.length + 1, high: tables.length + 2 });
    const rows = own[line] ?? [];
    tables.push([times[line] ?? [], rows.map((row) => row.low)], [times[line] ?? [], rows.map((row) => row.high)]);
  });
  return { label: spec.label, scale: { unit: "", factor: 1 }, lines, bands, data: uPlot.join(tables) };
}

/** The panels with the values of the CSV, whose rows have the order of the series. */
export function chartOf(zoomed: Zoomed, rows: Row[]): Chart {
  let at = 0;
  const own = zoomed.panels.map((spec) => spec.series.map((series) => {
    const some = rows.slice(at, at + series.rows);
    at += series.all;
    return some;
  }));
  const end = own.flat(2).reduce((most, row) => Math.max(most, row.x), 0);
  const panels = zoomed.panels.map((spec, index) => panelOf(spec, own[index] ?? [], end));
  return { runs: [""], duration: end, panels, bands: [], events: [], columns: [], notes: [] };
}

async function draw(figure: HTMLElement): Promise<void> {
  const zoomed = JSON.parse(figure.dataset.zoom ?? "") as Zoomed;
  const rows = rowsOf(await unpacked(figure.dataset.csv ?? ""));
  const host = h("div");
  const button = (text: string, name: string, click: () => void): HTMLElement => h("button", { type: "button", "aria-label": name, title: name, onclick: click }, text);
  const view = new ChartView(host);
  const by = (factor: number): void => {
    const [from, to] = view.range;
    const middle = (from + to) / 2;
    view.zoom(middle - ((to - from) / 2) * factor, middle + ((to - from) / 2) * factor);
  };
  const tools = h("p", { class: "zoom-tools" }, button("−", "Zoom out", () => by(2)), button("+", "Zoom in", () => by(0.5)), button("All", "Show everything", () => view.reset()), " Drag to zoom.");
  // Single runs are not drawn here, so their words are left out.
  const note = zoomed.note.replace(/; faint:[^.;]*/, "");
  figure.prepend(tools, host, h("p", { class: "zoom-note" }, note));
  figure.classList.add("zooms");
  view.show(chartOf(zoomed, rows));
}

// A report has many figures: each is drawn when it comes into view.
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    void draw(target as HTMLElement);
  }
}, { rootMargin: "400px" });
for (const figure of document.querySelectorAll("figure[data-zoom]")) seen.observe(figure);
