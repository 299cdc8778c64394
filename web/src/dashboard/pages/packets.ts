// The packets of a stream: a plot of sequence numbers over time.
import uPlot from "uplot";
import type { PacketHead } from "../../generated/dashboard";
import { api, message } from "../api";
import { colour, ink } from "../chart/palette";
import { type Columns, readColumns } from "../columns";
import { fill, h, labelled, select } from "../element";
import { failure } from "./failure";

/** Dots or crosses at all values of a series. */
function marks(size: number, isCross: boolean): uPlot.Series.PathBuilder {
  return (plot, index) => {
    const path = new Path2D();
    const [times, values] = [plot.data[0], plot.data[index]];
    const half = (size * devicePixelRatio) / 2;
    const { min, max } = plot.scales.x ?? {};
    for (let at = 0; at < times.length; at += 1) {
      const [time, value] = [times[at] ?? 0, values?.[at]];
      if (value === null || value === undefined || time < (min ?? 0) || time > (max ?? 0)) continue;
      const [x, y] = [plot.valToPos(time, "x", true), plot.valToPos(value, "y", true)];
      if (isCross) {
        path.moveTo(x - half, y - half);
        path.lineTo(x + half, y + half);
        path.moveTo(x - half, y + half);
        path.lineTo(x + half, y - half);
      } else {
        path.rect(x - half, y - half, 2 * half, 2 * half);
      }
    }
    return isCross ? { stroke: path } : { fill: path };
  };
}

/** Sent, retransmitted, arrived and lost packets as series over common times. */
function data({ columns }: Columns<PacketHead>): uPlot.AlignedData {
  const [sent, sequence, , arrived, again] = columns as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];
  const first = sequence.length > 0 ? Math.min(...[sequence[0] ?? 0]) : 0;
  const pick = (time: Float64Array, fits: (index: number) => boolean): uPlot.AlignedData => {
    const rows: [number, number][] = [];
    for (let index = 0; index < time.length; index += 1) if (fits(index)) rows.push([time[index] ?? 0, (sequence[index] ?? 0) - first]);
    rows.sort(([one], [other]) => one - other);
    return [rows.map(([x]) => x), rows.map(([, y]) => y)];
  };
  const isLost = (index: number): boolean => Number.isNaN(arrived[index]);
  return uPlot.join([
    pick(sent, (index) => again[index] === 0),
    pick(sent, (index) => again[index] === 1),
    pick(arrived, (index) => !isLost(index)),
    pick(sent, isLost),
  ]);
}

function draw(host: HTMLElement, shown: Columns<PacketHead>): void {
  const { text, grid, lost } = ink();
  const axis = { stroke: text, grid: { stroke: grid, width: 1 }, font: "12px system-ui, sans-serif" };
  const series = (label: string, stroke: string, size: number, isCross = false): uPlot.Series => ({ label, stroke, fill: stroke, width: 1.5, paths: marks(size, isCross), points: { show: false } });
  fill(host);
  const options: uPlot.Options = {
    width: Math.max(host.clientWidth, 200),
    height: host.clientWidth < 500 ? 320 : 460,
    scales: { x: { time: false } },
    cursor: { drag: { x: true, y: true, uni: 20 } },
    axes: [{ ...axis, label: "time (s)" }, { ...axis, size: 64, label: "sequence number, from the first" }],
    series: [{ label: "time", value: (_, value) => (value === null ? "" : `${value.toFixed(4)} s`) }, series("sent", colour(0), 3), series("sent again", colour(3), 4), series("arrived", colour(2), 2), series("lost", lost, 8, true)],
  };
  const plot = new uPlot(options, data(shown), host);
  host.dataset.count = String(shown.columns[0]?.length ?? 0);
  new ResizeObserver(() => plot.setSize({ width: Math.max(host.clientWidth, 200), height: plot.height })).observe(host);
}

export async function packetsPage(content: HTMLElement, query: URLSearchParams): Promise<void> {
  document.title = "Packets · Weir";
  const run = Number(query.get("run"));
  const page = await api.run(run);
  const from = h("input", { type: "number", min: "0", step: "any", value: query.get("from") ?? "0", id: "from" });
  const to = h("input", { type: "number", min: "0", step: "any", value: query.get("to") ?? String(Math.min(10, page.run.duration)), id: "to" });
  const stream = select([query.get("stream") ?? ""], "", { id: "stream" });
  const said = h("p", { class: "help", role: "status", id: "said" });
  const host = h("div", { class: "packets", id: "packets" });
  const wrong = h("div");
  const show = async (): Promise<void> => {
    said.textContent = "Simulating the run again for its packets …";
    try {
      const bytes = await api.columns(`/api/packets?run=${run}&from=${from.value}&to=${to.value}&stream=${encodeURIComponent(stream.value)}`);
      if (!bytes) return;
      const shown = readColumns<PacketHead>(bytes);
      const { head } = shown;
      fill(stream, ...head.streams.map((name) => h("option", { value: name, selected: name === head.stream }, name)));
      draw(host, shown);
      said.textContent = `${shown.columns[0]?.length ?? 0} packets sent, ${head.lost} lost. ${head.note}`;
      fill(wrong);
    } catch (error) {
      said.textContent = "";
      fill(wrong, failure(message(error)));
    }
  };
  for (const field of [from, to, stream]) field.addEventListener("change", () => void show());
  fill(
    content,
    h("h1", {}, `Packets: ${page.title}`),
    h("p", { class: "help" }, h("a", { href: `/run?run=${run}` }, `run ${run}`), ". Drag to zoom in both directions, double click for everything."),
    h("div", { class: "filters" }, labelled("Stream", stream), labelled("From (s)", from), labelled("To (s)", to)),
    said,
    wrong,
    host,
  );
  await show();
}
