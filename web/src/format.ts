// Formats numbers for the panel.

const NONE = "–";

/** A rate, given in bit/s. */
export function rate(value: number | undefined): string {
  if (value === undefined) return NONE;
  if (value < 999_500) return `${(value / 1e3).toFixed(0)} kbit/s`;
  return `${(value / 1e6).toFixed(value < 9.995e6 ? 2 : 1)} Mbit/s`;
}

/** A share, 0 to 1, in percent. */
export function share(value: number | undefined): string {
  if (value === undefined) return NONE;
  return `${(100 * value).toFixed(value > 0 && value < 0.0995 ? 1 : 0)} %`;
}

/** A time, given in seconds, in milliseconds. */
export function time(value: number | undefined): string {
  return value === undefined ? NONE : `${(1000 * value).toFixed(value < 0.00995 ? 1 : 0)} ms`;
}

/** A frame size in pixels. */
export function frameSize(width: number | undefined, height: number | undefined): string {
  return width && height ? `${width} × ${height}` : NONE;
}

export function frames(value: number | undefined): string {
  return value === undefined ? NONE : `${value.toFixed(0)} fps`;
}

export function plain(value: string | undefined): string {
  return value ?? NONE;
}

/** The points of a small plot, for an SVG polyline in a box of this size. The newest value is at the right end. */
export function sparkline(values: readonly (number | undefined)[], length: number, width: number, height: number): string {
  const top = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = width / (length - 1);
  const first = length - values.length;
  return values
    .flatMap((value, index) => {
      if (value === undefined) return [];
      const x = (first + index) * step;
      const y = height - (value / top) * height;
      return [`${x.toFixed(1)},${y.toFixed(1)}`];
    })
    .join(" ");
}
