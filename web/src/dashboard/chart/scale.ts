// Units in which values are shown, and their numbers.

export interface Scale {
  unit: string;
  factor: number;
}

/** A unit for values of which the greatest is this. */
export function scaleOf(unit: string, greatest: number): Scale {
  switch (unit) {
    case "bit/s":
      return greatest >= 999_500 ? { unit: "Mbit/s", factor: 1e-6 } : { unit: "kbit/s", factor: 1e-3 };
    case "s":
      return greatest >= 1 ? { unit: "s", factor: 1 } : { unit: "ms", factor: 1e3 };
    case "1":
      return { unit: "%", factor: 100 };
    case "B":
      return greatest >= 9_999.5 ? { unit: "kB", factor: 1e-3 } : { unit: "B", factor: 1 };
    case "1/s":
      return { unit: "fps", factor: 1 };
    default:
      return { unit, factor: 1 };
  }
}

/** Three digits. */
export function number(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || size === 0) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return Number(value.toPrecision(3)).toString();
}

/** A value with its unit. */
export const shown = (value: number, scale: Scale): string =>
  `${number(value * scale.factor)}${scale.unit === "" ? "" : ` ${scale.unit}`}`;

/** The labels of the steps of an axis, all with the decimals that the steps need. */
export function labels(ticks: number[]): string[] {
  const step = Math.abs((ticks[1] ?? 1) - (ticks[0] ?? 0));
  let decimals = 0;
  while (decimals < 6 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals += 1;
  return ticks.map((tick) => tick.toFixed(decimals));
}
