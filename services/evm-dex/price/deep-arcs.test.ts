import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { DEEP_STRIDE, DeepArcs } from "./deep-arcs.ts";

const NODES = 6;
const step = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant("push") },
    { weight: 3, arbitrary: fc.constant("remove") },
    { weight: 1, arbitrary: fc.constant("clear") },
  ),
  node: fc.nat(NODES - 1),
  pick: fc.nat(),
});

/** The lists, and beside them what they must hold. */
class Checked {
  readonly #places = new Map<number, number>();
  readonly #lists = Array.from({ length: NODES }, () => [] as number[]);
  readonly #deep = new DeepArcs((arc, place) => this.#places.set(arc, place));
  #arcs = 0;

  constructor() {
    for (let node = 0; node < NODES; node++) this.#deep.addNode(node);
  }

  push(node: number): void {
    const arc = this.#arcs++;
    const place = this.#deep.push(node, arc, 2 * arc);
    this.#places.set(arc, place);
    for (let k = 0; k < DEEP_STRIDE; k++) this.#deep.values[DEEP_STRIDE * place + k] = 10 * arc + k;
    this.#lists[node]?.push(arc);
  }

  remove(node: number, pick: number): void {
    const list = this.#lists[node] as number[];
    if (list.length === 0) return;
    const [arc] = list.splice(pick % list.length, 1) as [number];
    this.#deep.remove(node, this.#places.get(arc) as number);
  }

  clear(node: number): void {
    this.#deep.clear(node);
    this.#lists[node] = [];
  }

  expectRight(): void {
    const deep = this.#deep;
    for (const [node, list] of this.#lists.entries()) {
      const start = deep.startOf(node);
      const found = [...deep.arc.subarray(start, start + deep.countOf(node))];
      expect(found.sort((a, b) => a - b)).to.deep.equal(list.sort((a, b) => a - b));
      for (const arc of list) {
        const place = this.#places.get(arc) as number;
        expect([deep.arc[place], deep.to[place]]).to.deep.equal([arc, 2 * arc]);
        const values = deep.values.subarray(DEEP_STRIDE * place, DEEP_STRIDE * (place + 1));
        expect([...values]).to.deep.equal([0, 1, 2, 3].map((k) => 10 * arc + k));
      }
    }
  }
}

describe("DeepArcs", () => {
  it("holds each node's arcs with their values, wherever the lists move", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 40 }), (steps, times) => {
        const checked = new Checked();
        for (const { kind, node, pick } of steps) {
          if (kind === "clear") checked.clear(node);
          else if (kind === "remove") checked.remove(node, pick);
          // So many at a time that the arrays fill, and everything moves together.
          else for (let i = 0; i < times; i++) checked.push(node);
        }
        checked.expectRight();
      }),
      { numRuns: 60 },
    );
  });
});
