// Reads the CSV of a figure over time: panel, series, time, value, and the ends of the interval of a mean.

export interface Row {
  x: number;
  value: number | null;
  low: number | null;
  high: number | null;
}

/** The cells of each line (RFC 4180). */
function* cells(text: string): Generator<string[]> {
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] as string;
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (letter === '"') isQuoted = true;
    else if (letter === "," || letter === "\n") {
      row.push(cell);
      cell = "";
      if (letter === "\n") {
        yield row;
        row = [];
      }
    } else if (letter !== "\r") cell += letter;
  }
  if (cell !== "" || row.length > 0) yield [...row, cell];
}

/** A number; null for an empty cell and for what is not a number. */
function value(cell: string | undefined): number | null {
  const number = cell === undefined || cell === "" ? NaN : Number(cell);
  return Number.isFinite(number) ? number : null;
}

export function rowsOf(text: string): Row[] {
  const all = [...cells(text)].slice(1);
  return all.map(([, , x, y, low, high]) => ({ x: value(x) ?? 0, value: value(y), low: value(low), high: value(high) }));
}
