import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { WidthQueue } from "./width-queue.ts";

const NODES = 12;
/** Four to a node. */
const POOLS = Array.from(
  { length: 4 * NODES },
  (_, i) => `0x${((i * 17) % 53).toString(16).padStart(2, "0")}`,
);

/** Widths over many orders of magnitude, with ties and with neighbours in one bucket. */
const width = fc.oneof(
  fc.constantFrom(0, 5e-324, 1, 10_000, 10_000.000001, 2 ** 53, 1e300, Number.POSITIVE_INFINITY),
  fc.double({ min: 0, max: 1e12, noNaN: true }),
  fc.double({ min: 10_000, max: 10_100, noNaN: true }),
);
const offer = fc
  .tuple(fc.nat(NODES - 1), width, fc.nat(3))
  .map(([node, width, which]) => ({ node, width, edge: NODES * which + node }));
type Offer = { node: number; width: number; edge: number };

const isLower = (edge: number, other: number) => (POOLS[edge] as string) < (POOLS[other] as string);
const isBefore = (a: Offer, b: Offer) => (a.width === b.width ? isLower(a.edge, b.edge) : a.width > b.width);

/** What the queue must do, by looking at all offers. */
class SlowQueue {
  readonly #best = new Map<number, Offer>();
  readonly taken = new Set<number>();
  last = Number.POSITIVE_INFINITY;

  offer(made: Offer): void {
    const known = this.#best.get(made.node);
    if (known === undefined || isBefore(made, known)) this.#best.set(made.node, made);
  }

  take(): Offer | undefined {
    const [first] = [...this.#best.values()].sort((a, b) => (isBefore(a, b) ? -1 : 1));
    if (first === undefined) return undefined;
    this.#best.delete(first.node);
    this.taken.add(first.node);
    this.last = first.width;
    return first;
  }
}

function expectSameTake(queue: WidthQueue, slow: SlowQueue): boolean {
  const expected = slow.take();
  expect(queue.take()).to.equal(expected?.node ?? -1);
  if (expected !== undefined) expect(queue.widthOf(expected.node)).to.equal(expected.width);
  return expected !== undefined;
}

describe("WidthQueue", () => {
  it("takes the node with the widest offer, then with the lower pool, while more are made", () => {
    fc.assert(
      fc.property(fc.array(fc.array(offer, { maxLength: 12 }), { minLength: 1, maxLength: 12 }), (rounds) => {
        const queue = new WidthQueue(isLower);
        queue.reserve(NODES);
        // Twice: nothing of the first walk is left.
        for (let walk = 0; walk < 2; walk++) {
          queue.clear();
          const slow = new SlowQueue();
          for (const offers of rounds) {
            for (const each of offers.filter(({ node }) => !slow.taken.has(node))) {
              // As in the walk: no wider than the node taken last.
              const made = { ...each, width: Math.min(each.width, slow.last) };
              queue.offer(made.node, made.width, made.edge);
              slow.offer(made);
            }
            expectSameTake(queue, slow);
          }
          while (expectSameTake(queue, slow)) expect(slow.taken.size).to.be.at.most(NODES);
        }
      }),
      { numRuns: 300 },
    );
  });
});
