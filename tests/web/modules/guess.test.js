import assert from "node:assert/strict";
import test from "node:test";
import { byCurve, byLaws, target } from "../../../src/forebay/web/page/guess.js";

const point = (packets, used, lost = 0) => ({ packets, utilization: { value: used }, loss_rate: { value: lost } });

test("laws give the lower median of those that hold", () => {
  const law = (packets, holds = true) => ({ packets, holds });
  assert.equal(byLaws([law(10), law(400), law(30), law(1, false), law(50)]), 30);
  assert.equal(byLaws([law(1, false)]), null);
});

test("a curve crosses its goal between two points, in logarithms", () => {
  const points = [point(10, 0.8), point(100, 0.9), point(1000, 1)];
  assert.equal(byCurve(points, { utilization: 0.95 }), Math.ceil(100 * 10 ** 0.5));
  assert.equal(byCurve(points, { utilization: 0.5 }), 10);
  assert.equal(byCurve(points, { utilization: 1.1 }), null);
});

test("the goal that needs the larger buffer decides", () => {
  const points = [point(10, 0.99, 0.03), point(100, 1, 0.01)];
  assert.equal(byCurve(points, { utilization: 0.9, loss_rate: 0.02 }), Math.ceil(10 * 10 ** 0.5));
});

test("without a measured goal there is no guess", () => {
  assert.equal(byCurve([point(10, 1)], { queue_delay_p99: 0.01 }), null);
  assert.equal(byCurve([], { utilization: 0.9 }), null);
});

test("a target is a number, or a time", () => {
  assert.equal(target("10 ms", () => 0.01), 0.01);
  assert.equal(target({ at_least: 0.98 }), null);
});
