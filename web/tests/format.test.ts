import assert from "node:assert/strict";
import { test } from "node:test";
import { frameSize, frames, rate, share, sparkline, time } from "../src/format";

test("numbers have units", () => {
  assert.deepEqual([0, 31_400, 999_499, 999_500, 1_234_567, 9_999_999, 25e6].map(rate), [
    "0 kbit/s", "31 kbit/s", "999 kbit/s", "1.00 Mbit/s", "1.23 Mbit/s", "10.0 Mbit/s", "25.0 Mbit/s",
  ]);
  assert.deepEqual([0, 0.004, 0.123, 1].map(share), ["0 %", "0.4 %", "12 %", "100 %"]);
  assert.deepEqual([0.0004, 0.0123, 1.5].map(time), ["0.4 ms", "12 ms", "1500 ms"]);
  assert.equal(frameSize(640, 360), "640 × 360");
  assert.equal(frames(29.97), "30 fps");
});

test("an unknown value is a dash", () => {
  assert.deepEqual([rate(undefined), share(undefined), time(undefined), frameSize(640, undefined), frames(undefined)], Array(5).fill("–"));
});

test("a small plot fills from the right and scales to its highest value", () => {
  assert.equal(sparkline([0, 5, 10], 5, 100, 40), "50.0,40.0 75.0,20.0 100.0,0.0");
  assert.equal(sparkline([1, undefined, 1], 3, 100, 40), "0.0,0.0 100.0,0.0");
  assert.equal(sparkline([0, 0], 2, 100, 40), "0.0,40.0 100.0,40.0");
  assert.equal(sparkline([], 3, 100, 40), "");
});
