// A chart as the page draws it: panels with values on common times.
import uPlot from "uplot";
import type { Band, ChartHead, ColumnName, Mark, PanelHead } from "../../generated/dashboard";
import type { Columns } from "../columns";
import { type Scale, scaleOf } from "./scale";

export interface Line {
  name: string;
  colour: number;
  dash: number;
  isStep: boolean;
  /** Whether its values are dots without a line. */
  isDots: boolean;
  isReference: boolean;
  /** The run that it belongs to. */
  run: number;
}

export interface Panel {
  label: string;
  scale: Scale;
  lines: Line[];
  /** Times, then the values of each line, then the ends of the intervals. */
  data: uPlot.AlignedData;
  /** For each line that has an interval: its index, and those of the ends in `data`. */
  bands: { line: number; low: number; high: number }[];
}

export interface Chart {
  runs: string[];
  duration: number;
  panels: Panel[];
  bands: Band[];
  events: Mark[];
  columns: ColumnName[];
  notes: string[];
}

/** Numbers as uPlot takes them: null where there is no value. */
function values(column: Float64Array, factor: number): (number | null)[] {
  const out = new Array<number | null>(column.length);
  for (let index = 0; index < column.length; index += 1) {
    const value = column[index] as number;
    out[index] = Number.isNaN(value) ? null : value * factor;
  }
  return out;
}

function greatest(columns: Float64Array[]): number {
  let most = 0;
  for (const column of columns) for (const value of column) if (Math.abs(value) > most) most = Math.abs(value);
  return most;
}

function panel(head: PanelHead, columns: Float64Array[]): Panel {
  const column = (index: number): Float64Array => columns[index] ?? new Float64Array();
  const scale = scaleOf(head.unit, greatest(head.series.map((series) => column(series.y))));
  const several = new Set(head.series.map((series) => series.run)).size > 1;
  const lines = head.series.map((series) => ({
    name: several ? `${series.name} · ${series.run + 1}` : series.name,
    colour: series.colour,
    dash: series.is_reference ? 1 : series.dash,
    isStep: series.is_step,
    isDots: false,
    isReference: series.is_reference,
    run: series.run,
  }));
  const wanted: { x: number; y: number }[] = head.series.map(({ x, y }) => ({ x, y }));
  const bands: Panel["bands"] = [];
  head.series.forEach((series, line) => {
    if (!series.band) return;
    const first = wanted.length + 1;
    wanted.push({ x: series.x, y: series.band[0] }, { x: series.x, y: series.band[1] });
    bands.push({ line, low: first, high: first + 1 });
  });
  const shared = wanted[0]?.x ?? 0;
  const isShared = wanted.every(({ x }) => x === shared);
  const data: uPlot.AlignedData = isShared
    ? [Array.from(column(shared)), ...wanted.map(({ y }) => values(column(y), scale.factor))]
    : uPlot.join(wanted.map(({ x, y }) => [Array.from(column(x)), values(column(y), scale.factor)]));
  return { label: head.label, scale: { ...scale, factor: 1 }, lines, data, bands };
}

/** The panels of a message. */
export function chartOf({ head, columns }: Columns<ChartHead>): Chart {
  const { runs, duration, bands, events, notes } = head;
  return { runs, duration, bands, events, notes, columns: head.columns, panels: head.panels.map((one) => panel(one, columns)) };
}
