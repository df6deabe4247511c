import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import type { MarkedPrices } from "../../price/graph.ts";
import type { TokenLink } from "../../price/link.ts";
import {
  anyBlock,
  anyPairs,
  type Block,
  CREATED,
  entryOf,
  PoolModel,
  touchPools,
  USDC,
} from "../../test/prices/pool-model.ts";
import { pricesIn, type Walked } from "../../test/prices/walk-prices.ts";
import type { PoolEntry } from "./pool-book.ts";
import { PoolPrices } from "./pool-prices.ts";

/** What is known of a block that may be gone back to. */
interface Past {
  readonly time: number;
  readonly states: readonly Pick<PoolEntry, "state" | "lastTime">[];
  readonly links: ReadonlyMap<string, TokenLink>;
  readonly marked: MarkedPrices;
  readonly prices: Walked["prices"];
  goBack(): void;
}

const seen = { rewound: 0, tooFar: 0, incomplete: 0 };

/** Prices that follow a chain with reorgs, as rollbackPrices has them, beside a naive model that remembers all. */
class Followed {
  readonly #entries: readonly PoolEntry[];
  readonly #prices = new PoolPrices([USDC]);
  readonly #model = new PoolModel();
  readonly #past: Past[] = [];
  #time = CREATED;

  constructor(entries: readonly PoolEntry[]) {
    this.#entries = entries;
  }

  add(block: Block): void {
    this.#time += block.seconds;
    const touched = touchPools(this.#entries, block, this.#time);
    this.#prices.closeBlock(touched, this.#time);
    const prices = this.#model.close(touched, this.#time);
    this.#expectPrices(prices, "after a block");
    this.#past.push({
      time: this.#time,
      states: this.#entries.map(({ state, lastTime }) => ({ state, lastTime })),
      links: this.#prices.graph.links(),
      marked: this.#model.marked(this.#time),
      prices,
      goBack: this.#model.remember(),
    });
  }

  undo(blocks: number): void {
    const past = this.#past[this.#past.length - 1 - blocks];
    if (past === undefined) return;
    this.#past.length -= blocks;
    const changed = this.#entries.filter(({ state, lastTime }, i) => {
      const before = past.states[i];
      return state !== before?.state || lastTime !== before?.lastTime;
    });
    for (const [i, entry] of this.#entries.entries()) Object.assign(entry, past.states[i]);
    past.goBack();
    this.#time = past.time;
    this.#rewind(past, new Set(changed));
    this.#expectPrices(past.prices, "after a rollback");
  }

  #rewind({ time, links, marked }: Past, changed: ReadonlySet<PoolEntry>): void {
    const prices = this.#prices;
    const addressOf = (entry: PoolEntry) => entry.row.poolAddress;
    const points = new Map(this.#model.stored());
    prices.graph.forget();
    for (const entry of changed) if (!points.has(entry)) prices.unload(addressOf(entry));
    const rewound = prices.rewind(time, new Set([...changed].map(addressOf)));
    const again = new Set(rewound?.incomplete);
    for (const [entry, list] of points)
      if (rewound === undefined || changed.has(entry) || again.has(addressOf(entry)))
        prices.loadPool(entry, list, time);
    prices.resume(links, time, prices.graph.isMarkedFor(time) ? undefined : marked);
    seen.rewound += 1;
    seen.tooFar += rewound === undefined ? 1 : 0;
    seen.incomplete += again.size;
  }

  #expectPrices(prices: Walked["prices"], when: string): void {
    expect(pricesIn(this.#prices.graph).prices, `${when} at ${this.#time}`).to.deep.equal(prices);
  }
}

describe("PoolPrices that go back", () => {
  it("go on as prices that were never elsewhere", () => {
    const steps = fc.array(
      fc.record({
        block: anyBlock,
        // Also those that lie near the edge of the five minutes.
        seconds: fc.constantFrom(0, 2, 12, 30, 60, 100, 149, 400),
        undone: fc.constantFrom(0, 0, 0, 0, 1, 1, 2, 4),
      }),
      { minLength: 10, maxLength: 50 },
    );
    fc.assert(
      fc.property(anyPairs, steps, (pairs, list) => {
        const followed = new Followed(pairs.map((tokens, n) => entryOf(n, { tokens })));
        for (const { block, seconds, undone } of list) {
          followed.add({ ...block, seconds });
          if (undone > 0) followed.undo(undone);
        }
      }),
      { numRuns: randomRuns(400, 200) },
    );
    expect(seen.rewound, "rollbacks").to.be.greaterThan(200);
    expect(seen.tooFar, "farther than is remembered").to.be.greaterThan(10);
    expect(seen.incomplete, "pools whose points were dropped").to.be.greaterThan(10);
  });
});
