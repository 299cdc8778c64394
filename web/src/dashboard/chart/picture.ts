// A chart as a file: SVG and CSV from its values, PNG from what is drawn.
import type { Panel } from "./model";
import { DASHES, colour } from "./palette";
import { labels } from "./scale";
import { type ChartView, title_ } from "./view";

const WIDTH = 1000;
const HEIGHT = 200;
const LEFT = 70;
const RIGHT = 20;
const TOP = 46;
const BOTTOM = 30;

const escaped = (text: string): string => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** About this many round steps between two values. */
function ticks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw) ?? raw;
  const all: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) all.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
  return all;
}

/** The points of a line within these times, as lines without gaps. */
function paths(times: ArrayLike<number>, values: ArrayLike<number | null | undefined>, [from, to]: [number, number], isStep: boolean, place: (x: number, y: number) => [number, number]): string[] {
  const all: string[] = [];
  let path = "";
  let before: number | null = null;
  for (let index = 0; index < times.length; index += 1) {
    const [time, value] = [times[index] ?? 0, values[index]];
    if (value === undefined) continue;
    if (value === null || time < from || time > to) {
      if (path !== "") all.push(path);
      path = "";
      continue;
    }
    const [x, y] = place(time, value);
    if (path !== "" && isStep && before !== null) path += `H${x.toFixed(1)}`;
    path += `${path === "" ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    before = y;
  }
  if (path !== "") all.push(path);
  return all;
}

function panelSvg(view: ChartView, panel: Panel, top: number): string {
  const [from, to] = view.range;
  const shown = panel.lines.map((line, index) => ({ line, values: panel.data[index + 1] })).filter(({ line }) => !view.isHidden(panel, line));
  const times = panel.data[0];
  let [low, high] = [0, 0];
  for (const { values } of shown) {
    for (let index = 0; index < times.length; index += 1) {
      const [time, value] = [times[index] ?? 0, values?.[index]];
      if (value === null || value === undefined || time < from || time > to) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (high <= low) high = low + 1;
  high += (high - low) * 0.05;
  const place = (x: number, y: number): [number, number] => [
    LEFT + ((x - from) / (to - from)) * (WIDTH - LEFT - RIGHT),
    top + TOP + (1 - (y - low) / (high - low)) * HEIGHT,
  ];
  const parts = [`<text x="${LEFT}" y="${top + 16}" class="title">${escaped(title_(panel))}</text>`];
  const rows = ticks(low, high, 5);
  rows.forEach((tick, index) => {
    const y = place(from, tick)[1].toFixed(1);
    parts.push(`<path class="grid" d="M${LEFT} ${y}H${WIDTH - RIGHT}"/><text x="${LEFT - 6}" y="${y}" class="end">${labels(rows)[index]}</text>`);
  });
  const columns = ticks(from, to, 10);
  columns.forEach((tick, index) => {
    const x = place(tick, low)[0].toFixed(1);
    parts.push(`<path class="grid" d="M${x} ${top + TOP}V${top + TOP + HEIGHT}"/><text x="${x}" y="${top + TOP + HEIGHT + 16}" class="middle">${labels(columns)[index]}</text>`);
  });
  let x = LEFT;
  for (const { line, values } of shown) {
    const pen = `stroke="${line.isReference ? "#57606a" : colour(line.colour)}" stroke-dasharray="${(DASHES[line.dash] ?? []).join(" ")}"`;
    for (const path of paths(times, values ?? [], [from, to], line.isStep, place)) parts.push(`<path class="line" ${pen} d="${path}"/>`);
    parts.push(`<path class="line" ${pen} d="M${x} ${top + 31}h22"/><text x="${x + 27}" y="${top + 35}">${escaped(line.name)}</text>`);
    x += 45 + line.name.length * 6.6;
  }
  return parts.join("");
}

const STYLE =
  "text{font:12px Arial,Helvetica,sans-serif;fill:#1b1f24}.title{font-weight:bold}.end{text-anchor:end;dominant-baseline:middle}.middle{text-anchor:middle}" +
  ".grid{stroke:#e4e7eb;fill:none}.line{fill:none;stroke-width:1.5;stroke-linejoin:round}";

/** The shown lines in the shown times. */
export function svg(view: ChartView): string {
  const panels = view.chart?.panels ?? [];
  const each = TOP + HEIGHT + BOTTOM;
  const body = panels.map((panel, index) => panelSvg(view, panel, index * each)).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${panels.length * each}" viewBox="0 0 ${WIDTH} ${panels.length * each}"><style>${STYLE}</style><rect width="100%" height="100%" fill="#fff"/>${body}</svg>\n`;
}

/** What is drawn, with headings, as one picture. */
export function png(view: ChartView): Promise<Blob | null> {
  const heading = 22 * devicePixelRatio;
  const canvases = view.drawn.map(({ plot }) => plot.ctx.canvas);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(...canvases.map((one) => one.width), 1);
  canvas.height = canvases.reduce((sum, one) => sum + one.height + heading, 0);
  const context = canvas.getContext("2d");
  if (!context) return Promise.resolve(null);
  const style = getComputedStyle(document.body);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  let top = 0;
  view.drawn.forEach(({ panel, plot }) => {
    context.fillStyle = style.color;
    context.font = `${13 * devicePixelRatio}px system-ui, sans-serif`;
    const names = panel.lines.filter((line) => !view.isHidden(panel, line)).map((line) => line.name).join(", ");
    context.fillText(`${title_(panel)}: ${names}`, 8 * devicePixelRatio, top + 15 * devicePixelRatio);
    context.drawImage(plot.ctx.canvas, 0, top + heading);
    top += heading + plot.ctx.canvas.height;
  });
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** One row per value of the shown lines in the shown times. */
export function csv(view: ChartView): string {
  const [from, to] = view.range;
  const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = ["panel,series,time (s),value"];
  for (const panel of view.chart?.panels ?? []) {
    const times = panel.data[0];
    panel.lines.forEach((line, index) => {
      if (view.isHidden(panel, line)) return;
      const values = panel.data[index + 1];
      for (let at = 0; at < times.length; at += 1) {
        const [time, value] = [times[at] ?? 0, values?.[at]];
        if (value === null || value === undefined || time < from || time > to) continue;
        rows.push(`${quoted(title_(panel))},${quoted(line.name)},${time},${value}`);
      }
    });
  }
  return `${rows.join("\n")}\n`;
}
