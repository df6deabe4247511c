import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { prefetchMap, prefetchNext } from "./prefetch.ts";

async function* items(
  count: number,
  options: { failAt?: number; onEnd?: () => void } = {},
): AsyncGenerator<number> {
  try {
    for (let item = 0; item < count; item++) {
      if (item === options.failAt) throw new Error(`no item ${item}`);
      yield item;
    }
  } finally {
    options.onEnd?.();
  }
}

/** Lets everything that can go on do so. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** All results, and the message of the error that ended them. */
async function collect<R>(results: AsyncIterable<R>): Promise<{ got: R[]; error?: string }> {
  const got: R[] = [];
  try {
    for await (const result of results) got.push(result);
    return { got };
  } catch (error) {
    return { got, error: (error as Error).message };
  }
}

describe("prefetchMap", () => {
  it("keeps the order, however long each takes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(5), { maxLength: 12 }),
        fc.integer({ min: 0, max: 4 }),
        async (turns, ahead) => {
          const map = async (item: number) => {
            for (let turn = 0; turn < (turns[item] ?? 0); turn++) await settle();
            return item * 10;
          };
          const { got } = await collect(prefetchMap(items(turns.length), map, ahead));
          expect(got).to.deep.equal(turns.map((_, item) => item * 10));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("has no more than `ahead` results under way while the consumer works", async () => {
    for (const ahead of [0, 1, 3]) {
      let started = 0;
      let consumed = 0;
      const map = async (item: number) => {
        started += 1;
        expect(started - consumed, "started and not consumed").to.be.at.most(ahead + 1);
        return item;
      };
      for await (const item of prefetchMap(items(9), map, ahead)) {
        consumed += 1;
        expect(item).to.equal(consumed - 1);
        await settle();
        expect(started, `ahead of ${consumed} by ${ahead}`).to.equal(Math.min(9, consumed + ahead));
      }
      expect(consumed).to.equal(9);
    }
  });

  it("throws the error of a failed mapping at the place of its item", async () => {
    for (const ahead of [0, 2, 9]) {
      const map = async (item: number) => {
        // The later ones fail first.
        for (let turn = item; turn < 6; turn++) await settle();
        if (item >= 3) throw new Error(`cannot map ${item}`);
        return item;
      };
      const { got, error } = await collect(prefetchMap(items(6), map, ahead));
      expect(got).to.deep.equal([0, 1, 2]);
      expect(error).to.equal("cannot map 3");
    }
  });

  it("returns what came before its source failed, and then the error", async () => {
    async function* broken() {
      yield 0;
      yield 1;
      yield 2;
      throw new Error("the source broke");
    }
    const got: number[] = [];
    let caught: unknown;
    try {
      for await (const item of prefetchMap(broken(), async (value) => value, 2)) got.push(item);
    } catch (error) {
      caught = error;
    }
    expect(got).to.deep.equal([0, 1, 2]);
    expect(String(caught)).to.contain("the source broke");
  });

  it("throws the error of its source", async () => {
    const { got, error } = await collect(prefetchMap(items(6, { failAt: 4 }), async (item) => item, 0));
    expect(got).to.deep.equal([0, 1, 2, 3]);
    expect(error).to.equal("no item 4");
    expect((await collect(prefetchMap(items(6, { failAt: 0 }), async (item) => item, 3))).error).to.equal(
      "no item 0",
    );
  });

  it("discards what is under way when it ends early: no rejection is unhandled, the source is closed", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", listen);
    try {
      let ended = 0;
      const fail = async (item: number) => {
        await settle();
        if (item > 0) throw new Error(`cannot map ${item}`);
        return item;
      };
      const source = () => items(9, { onEnd: () => ended++ });
      for await (const item of prefetchMap(source(), fail, 5)) {
        expect(item).to.equal(0);
        break;
      }
      expect(ended).to.equal(1);
      expect((await collect(prefetchMap(source(), fail, 5))).error).to.equal("cannot map 1");
      expect((await collect(prefetchMap(items(9, { failAt: 3 }), fail, 5))).error).to.be.a("string");
      for (let turn = 0; turn < 5; turn++) await settle();
      expect(ended).to.equal(2);
    } finally {
      process.off("unhandledRejection", listen);
    }
    expect(unhandled).to.deep.equal([]);
  });
});

describe("prefetchNext", () => {
  it("yields all items in order, and requests each while the one before it is processed", async () => {
    const requested: number[] = [];
    async function* source() {
      for (let item = 0; item < 5; item++) {
        requested.push(item);
        yield item;
      }
    }
    const got: number[] = [];
    for await (const item of prefetchNext(source())) {
      got.push(item);
      await settle();
      expect(requested).to.have.length(Math.min(5, got.length + 1));
    }
    expect(got).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it("throws the error of its source after the items before it, also where no consumer waits yet", async () => {
    const { got, error } = await collect(prefetchNext(items(6, { failAt: 3 })));
    expect(got).to.deep.equal([0, 1, 2]);
    expect(error).to.equal("no item 3");
  });

  it("ends its source when it ends early, without waiting for the next item", async () => {
    let ended = 0;
    for await (const item of prefetchNext(items(9, { onEnd: () => ended++ }))) if (item === 2) break;
    await settle();
    expect(ended).to.equal(1);
    async function* stuck() {
      yield 0;
      await new Promise(() => {});
    }
    for await (const item of prefetchNext(stuck())) {
      expect(item).to.equal(0);
      break;
    }
  });
});
