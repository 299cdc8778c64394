import assert from "node:assert/strict";
import { test } from "node:test";
import { readColumns } from "../src/dashboard/columns";
import { labels, number, scaleOf, shown } from "../src/dashboard/chart/scale";
import { rowsOf } from "../src/report/rows";

test("a message is a head and columns", () => {
  const head = new TextEncoder().encode('{"lengths":[2,1]} ');
  const bytes = new ArrayBuffer(4 + 20 + 24);
  new DataView(bytes).setUint32(0, 20, true);
  new Uint8Array(bytes, 4, 20).fill(32);
  new Uint8Array(bytes, 4).set(head);
  new Float64Array(bytes, 24, 3).set([0.5, 1, NaN]);
  const { head: read, columns } = readColumns<{ lengths: number[] }>(bytes);
  assert.deepEqual(read.lengths, [2, 1]);
  assert.deepEqual(columns.map((column) => [...column]), [[0.5, 1], [NaN]]);
});

test("units fit the greatest value", () => {
  assert.equal(scaleOf("bit/s", 2e6).unit, "Mbit/s");
  assert.equal(scaleOf("bit/s", 900_000).unit, "kbit/s");
  assert.equal(shown(0.0421, scaleOf("s", 0.3)), "42.1 ms");
  assert.equal(shown(0.5, scaleOf("1", 1)), "50.0 %");
  assert.equal(shown(3, scaleOf("", 3)), "3.00");
});

test("numbers have three digits, and the steps of an axis the same decimals", () => {
  assert.deepEqual([1234.5, 12.34, 1.234, 0.01234, 0].map(number), ["1235", "12.3", "1.23", "0.0123", "0"]);
  assert.deepEqual(labels([0, 0.5, 1]), ["0.0", "0.5", "1.0"]);
  assert.deepEqual(labels([0, 20, 40]), ["0", "20", "40"]);
  assert.deepEqual(labels([0, 0.25, 0.5]), ["0.00", "0.25", "0.50"]);
});

test("the CSV of a figure is read with quotes, empty cells and intervals", () => {
  const text = 'panel,series,time (s),value,ci95_low,ci95_high,run\nrate,"a, ""b""",1,2.5,2,3,\nrate,x,2,,,,1\n';
  assert.deepEqual(rowsOf(text), [
    { x: 1, value: 2.5, low: 2, high: 3 },
    { x: 2, value: null, low: null, high: null },
  ]);
});
