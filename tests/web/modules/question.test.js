import assert from "node:assert/strict";
import test from "node:test";
import { at, bits, duration, leaves, middle, moved, pack, put, rateText, seconds, share, spread, spreadText, unpack, whole } from "../../../src/forebay/web/page/question.js";

test("a path reads and writes a part, and undefined removes it", () => {
  const tree = { a: [{ b: 1 }] };
  put(tree, "a.0.b", 2);
  put(tree, "c.d", 3);
  assert.deepEqual([at(tree, "a.0.b"), at(tree, "c.d"), at(tree, "x.y")], [2, 3, undefined]);
  put(tree, "c.d", undefined);
  assert.deepEqual(tree, { a: [{ b: 2 }], c: {} });
});

test("a range is typed with to, and shown so", () => {
  assert.deepEqual(spread("20 ms to 180 ms"), { uniform: ["20 ms", "180 ms"] });
  assert.equal(spread(" 100 ms "), "100 ms");
  assert.equal(spread("{broken"), "{broken");
  const drawn = { exponential: "2 s" };
  assert.deepEqual(spread(spreadText(drawn)), drawn);
  assert.equal(spreadText({ uniform: ["1 s", "2 s"] }), "1 s to 2 s");
});

test("numbers become numbers, and all other text goes to the server", () => {
  assert.deepEqual([whole("77"), whole("40..60"), share("80 %"), share("0.8"), share("x")], [77, "40..60", 0.8, 0.8, "x"]);
  assert.deepEqual([bits("10 Gbit/s"), bits("10"), duration("180 ms"), duration("2 us"), duration("5")], [1e10, null, 0.18, 2e-6, null]);
});

test("a rate and a time are written with three digits", () => {
  assert.deepEqual([rateText(155.2e6), rateText(1e10), rateText(999)], ["155 Mbit/s", "10 Gbit/s", "999 bit/s"]);
  assert.deepEqual([seconds(1e-6), seconds(0.0123), seconds(2)], ["1 µs", "12.3 ms", "2 s"]);
});

test("a slider moves both ends of a range by one factor", () => {
  const before = { uniform: ["80 ms", "120 ms"] };
  assert.equal(middle(before), 0.1);
  assert.deepEqual(moved(before, 0.2), { uniform: ["160 ms", "240 ms"] });
  assert.equal(moved("50 ms", 0.0005), "500 us");
  assert.equal(moved("what", 0.1), "100 ms");
});

test("a link holds the whole question, and nothing else is taken for one", () => {
  const question = { name: "é ☃", link: { rate: "1 Mbit/s" }, traffic: [{ flows: 3 }] };
  assert.deepEqual(unpack(pack(question)), question);
  assert.match(pack(question), /^[\w-]*$/);
  for (const text of ["", "e30", "%%%", pack({ link: 1, traffic: [] }), pack([])]) assert.equal(unpack(text), null);
});

test("a large question is packed", () => {
  const question = { name: "x".repeat(300_000), link: {}, traffic: [] };
  assert.deepEqual(unpack(pack(question)), question);
});

test("leaves are named by their path", () => {
  assert.deepEqual(leaves({ a: [{ b: 1 }], rtt: { uniform: ["1 s", "2 s"] } }), { "a.0.b": "1", rtt: "1 s to 2 s" });
});
