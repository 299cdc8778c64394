// Reads a head in JSON and columns of numbers, as crates/dashboard/src/chart/columns.rs writes them.

export interface Columns<Head> {
  head: Head;
  columns: Float64Array[];
}

export function readColumns<Head extends { lengths: number[] }>(bytes: ArrayBuffer): Columns<Head> {
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as Head;
  let offset = 4 + length;
  const columns = head.lengths.map((count) => {
    const column = new Float64Array(bytes, offset, count);
    offset += 8 * count;
    return column;
  });
  return { head, columns };
}
