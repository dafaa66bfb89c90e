import assert from "node:assert/strict";
import test from "node:test";
import { bytes, goalWords } from "../../../src/forebay/web/page/answer.js";
import { across, nearest, words } from "../../../src/forebay/web/page/chart.js";
import { read } from "../../../src/forebay/web/page/live.js";
import { changed, fieldsOf, KINDS } from "../../../src/forebay/web/page/kinds.js";
import { density, histogram } from "../../../src/forebay/web/page/normal.js";
import { atBest, rowsOf } from "../../../src/forebay/web/page/pins.js";
import { linear, logarithmic, logTicks, ticks } from "../../../src/forebay/web/page/svg.js";
import { about, moment } from "../../../src/forebay/web/page/timeline.js";

const metric = (value) => ({ value, low: value - 0.01, high: value + 0.01 });

test("ticks are round and inside", () => {
  assert.deepEqual(ticks(0, 0.023, 3), [0, 0.01, 0.02]);
  assert.deepEqual(ticks(0.85, 1, 4), [0.85, 0.9, 0.95, 1]);
  assert.deepEqual(ticks(3, 3, 4), [3]);
  assert.deepEqual(logTicks(20, 600, 9), [20, 50, 100, 200, 500]);
  assert.deepEqual(logTicks(1, 100_000, 6), [1, 10, 100, 1000, 10_000, 100_000]);
});

test("scales keep their ends", () => {
  const flat = linear([0, 10], [100, 0]), log = logarithmic([1, 100], [0, 200]);
  assert.deepEqual([flat(0), flat(10), log(1), Math.round(log(10)), Math.round(log(100))], [100, 0, 0, 100, 200]);
});

test("a histogram's shares sum to one, and a part of the samples can be counted", () => {
  const values = [1, 1, 2, 3, 5];
  const whole = histogram(values, 4), part = histogram(values, 4, 2);
  assert.equal(whole.share.reduce((sum, each) => sum + each), 1);
  assert.deepEqual(part.share, [1, 0, 0, 0]);
  assert.ok(Math.abs(density(0, { mean: 0, deviation: 1 }) - 0.3989) < 1e-4);
});

test("a point is read aloud with its band", () => {
  const point = { packets: 1310, stage: "fine", replications: 5, utilization: metric(0.98) };
  assert.equal(words(point), "1,310 packets: utilization 98 % (97 % to 99 %); 5 replications");
  assert.equal(words({ ...point, stage: "coarse" }), "1,310 packets: utilization 98 %; one short replication");
  assert.equal(words(null), "");
});

test("the nearest point is found on the logarithmic axis", () => {
  const points = [10, 100, 1000].map((packets) => ({ packets }));
  assert.equal(nearest({ sizes: [10, 1000], points, best: null, own: 100 }, 800, 420).packets, 100);
  assert.equal(nearest({ sizes: [10, 1000], points: [], best: null, own: 100 }, 800, 420), null);
});

test("what was run far from the laws' sizes stands within the axis", () => {
  const x = across({ sizes: [100, 6000], points: [{ packets: 208_350 }], best: null, own: 1e8 }, 800);
  assert.deepEqual([x(100), Math.round(x(208_350))], [62, 786]);
});

test("a class of another kind keeps what both have", () => {
  const rtt = { uniform: ["1 ms", "2 ms"] };
  const made = changed({ kind: "long", flows: 3, rtt, congestion_control: "bbr" }, "short");
  assert.deepEqual([made.kind, made.rtt, made.congestion_control, made.flows], ["short", rtt, "bbr", undefined]);
  assert.equal(changed({ kind: "long", rtt }, "udp").rtt, undefined);
});

test("every kind's new class has the fields that are shown", () => {
  for (const [kind, { fresh }] of Object.entries(KINDS)) {
    for (const field of fieldsOf(fresh)) assert.ok(field.show(field.name.split(".").reduce((node, part) => node?.[part], fresh)), `${kind} ${field.name}`);
  }
});

test("amounts have units", () => {
  assert.deepEqual([bytes(1500), bytes(2.5e6), bytes(12)], ["1.5 kB", "2.5 MB", "12 B"]);
  assert.equal(goalWords({ name: "loss_rate", title: "loss", sense: "at most", unit: "", target: 0.01, reached: { value: 0.002 } }), "loss at most 1 %, reached 0.2 %");
});

test("an event of a stream is read", () => {
  assert.deepEqual(read('event: point\ndata: {"a":1}'), ["point", { a: 1 }]);
});

test("two pins differ where they are marked", () => {
  const pin = (control, best) => ({ question: { traffic: [{ control }] }, points: [], sized: { recommended: { packets: best, seconds: 0.01 }, least: null } });
  const rows = rowsOf([pin("reno", 10), pin("bbr", 10)]);
  assert.deepEqual(rows[0], { name: "traffic.0.control", values: ["reno", "bbr"], differs: true });
  assert.equal(rows.find((row) => row.name === "recommended").differs, false);
  assert.equal(rowsOf([pin("reno", 10)])[0].name, "recommended");
});

test("a value between two runs says that it is about", () => {
  const points = [[10, 0.9], [1000, 0.98]].map(([packets, value]) => ({ packets, utilization: { value } }));
  const at = (packets) => atBest({ points, sized: { recommended: { packets } } }, "utilization", String);
  assert.deepEqual([at(100), at(1000), at(5000)], ["≈ 0.94", "0.98", "–"]);
});

test("a moment of a replay is in words", () => {
  const replay = { at_s: [1, 2], queue: [3, 4], buffer: 10, drops: [0, 2], windows: { 7: [1.25, 2.5] }, sum: [9, 8], fit: null, seed: 1, utilization: 0.5, note: "" };
  assert.equal(moment(replay, 1), "2.00 s: 4 of 10 waiting, 2 dropped; flow 7: 2.5");
  assert.equal(about(replay), "Seed 1, 1 s: 50 % used, 2 packets dropped.");
});
