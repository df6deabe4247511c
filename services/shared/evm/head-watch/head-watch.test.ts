import { expect } from "chai";
import { describe, it } from "mocha";
import { createFakeClock } from "../../rpc-client/testkit/fake-network.ts";
import { fakeHash, NO_BLOOM } from "../testkit/fake-chain.ts";
import { HeadWatch } from "./head-watch.ts";
import type { HeadBlock } from "./port.ts";

const POLL_MS = 250;

interface ChainOptions {
  readonly blockS?: number;
  /** Milliseconds between a block's timestamp and its arrival. */
  readonly delayMs?: (number: number) => number;
  /** The hash that an endpoint gives for a block at a time. */
  readonly hashAt?: (number: number, nowMs: number) => HeadBlock["hash"];
  readonly lastBlock?: number;
}

/** A chain whose blocks arrive as time passes, with counted questions. */
function createChain({
  blockS = 2,
  delayMs = () => 700,
  hashAt = (n) => fakeHash(n),
  lastBlock,
}: ChainOptions) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const arrivalOf = (n: number) => 1_000 * blockS * n + delayMs(n);
  const headNumber = () => {
    let n = Math.floor(clock.now() / (1_000 * blockS)) + 1;
    while (n > 0 && arrivalOf(n) > clock.now()) n -= 1;
    return Math.min(n, lastBlock ?? n);
  };
  const blockOf = (n: number): HeadBlock => ({
    number: n,
    hash: hashAt(n, clock.now()),
    parentHash: hashAt(n - 1, clock.now()),
    timestamp: blockS * n,
    logsBloom: NO_BLOOM,
    senders: [],
  });
  let notify: (() => void) | undefined;
  const watch = new HeadWatch({
    clock,
    pollMs: POLL_MS,
    withSenders: true,
    onPreconfirmations: () => asked.push("preconfirmations"),
    async head() {
      asked.push("head");
      return blockOf(headNumber());
    },
    probe: {
      async blockNumber() {
        asked.push("number");
        return headNumber();
      },
      async block(n) {
        const isThere = n <= headNumber();
        asked.push(isThere ? "block" : "none");
        return isThere ? blockOf(n) : null;
      },
      async notified(ms, signal) {
        const woken = new AbortController();
        let isNotified = false;
        notify = () => {
          isNotified = true;
          woken.abort();
        };
        await clock.sleep(ms, AbortSignal.any([signal, woken.signal]));
        notify = undefined;
        return isNotified;
      },
    },
  });
  return { clock, watch, asked, arrivalOf, notify: () => notify?.() };
}

const never = new AbortController().signal;

/** Follows the chain as an ingest does, up to a block; returns how late each block was seen. */
async function follow({ clock, watch, arrivalOf }: ReturnType<typeof createChain>, upTo: number) {
  const lateMs: number[] = [];
  let last = -1;
  const run = async () => {
    while (last < upTo) {
      const head = await watch.head();
      if (head.number > last) {
        last = head.number;
        lateMs.push(clock.now() - arrivalOf(last));
      } else await watch.wait(300, never);
    }
  };
  await clock.run(run());
  return lateMs;
}

const countOf = (asked: readonly string[], what: string) => asked.filter((each) => each === what).length;
const averageOf = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

describe("HeadWatch", () => {
  it("learns when blocks are due: nearly every question is answered by the next block", async () => {
    const chain = createChain({ delayMs: (n) => 700 + ((n * 7_919) % 200) });
    await follow(chain, 30);
    chain.asked.length = 0;
    const lateMs = await follow(chain, 330);
    expect(countOf(chain.asked, "block")).to.equal(300);
    expect(countOf(chain.asked, "none")).to.be.within(3, 30);
    expect(countOf(chain.asked, "head") + countOf(chain.asked, "number")).to.equal(0);
    expect(averageOf(lateMs.slice(1))).to.be.lessThan(140);
  });

  it("sees regular blocks soon: what it learns from early looks does not make it late for the others", async () => {
    const chain = createChain({ delayMs: (n) => 700 + ((n * 7_919) % 20) });
    await follow(chain, 30);
    expect(countOf(chain.asked, "none"), "while it learns").to.be.lessThan(10);
    chain.asked.length = 0;
    const lateMs = await follow(chain, 330);
    expect(averageOf(lateMs.slice(1))).to.be.lessThan(40);
    expect(countOf(chain.asked, "none")).to.be.within(3, 30);
  });

  it("follows blocks that come later from now on, and then sooner again", async () => {
    const chain = createChain({ delayMs: (n) => (n > 200 && n <= 400 ? 1_300 : 700) + ((n * 7_919) % 20) });
    await follow(chain, 200);
    chain.asked.length = 0;
    const later = await follow(chain, 400);
    expect(countOf(chain.asked, "none"), "looks too early").to.be.lessThan(40);
    expect(averageOf(later.slice(50))).to.be.lessThan(150);
    const sooner = await follow(chain, 600);
    expect(averageOf(sooner.slice(100))).to.be.lessThan(150);
  });

  it("goes on with slots without a block", async () => {
    const isMissed = (n: number) => n % 50 === 49;
    const chain = createChain({ blockS: 12, delayMs: (n) => (isMissed(n) ? 14_000 : 2_000) });
    await follow(chain, 20);
    chain.asked.length = 0;
    const lateMs = await follow(chain, 220);
    expect(chain.asked.length / 200).to.be.lessThan(1.6);
    expect(averageOf(lateMs)).to.be.lessThan(1_000);
  });

  it("asks for the number alone where blocks come without a rhythm, and now and then for the head", async () => {
    const chain = createChain({ delayMs: (n) => ((n * 7_919) % 7) * 1_900, lastBlock: 40 });
    await follow(chain, 40);
    chain.asked.length = 0;
    const later = chain.clock.sleep(60_000).then(() => "over");
    const waiting = async () => {
      for (let i = 0; i < 200; i++) {
        await chain.watch.head();
        await chain.watch.wait(300, never);
      }
    };
    await chain.clock.run(Promise.race([later, waiting()]));
    expect(countOf(chain.asked, "number")).to.be.greaterThan(3 * countOf(chain.asked, "head"));
    expect(countOf(chain.asked, "head")).to.be.greaterThan(5);
  });

  it("asks all endpoints once blocks are overdue, and finds a lower head", async () => {
    const chain = createChain({ lastBlock: 30 });
    await follow(chain, 30);
    chain.asked.length = 0;
    const stalled = async () => {
      while (chain.clock.now() < 90_000) {
        await chain.watch.head();
        await chain.watch.wait(300, never);
      }
    };
    await chain.clock.run(stalled());
    expect(countOf(chain.asked, "head")).to.be.greaterThan(1);
    expect(chain.asked.length).to.be.lessThan(40);
  });

  it("looks at once when a notification comes, and no more at those without a block", async () => {
    const chain = createChain({});
    await follow(chain, 30);
    chain.asked.length = 0;
    const notifying = async () => {
      while (chain.clock.now() < 120_000) {
        await chain.clock.sleep(100);
        chain.notify();
      }
    };
    const following = async () => {
      while (chain.clock.now() < 120_000) {
        await chain.watch.head();
        await chain.watch.wait(300, never);
      }
    };
    await chain.clock.run(Promise.all([notifying(), following()]));
    expect(countOf(chain.asked, "block")).to.be.greaterThan(25);
    expect(countOf(chain.asked, "none") / countOf(chain.asked, "block")).to.be.lessThan(5);
  });

  it("does not take blocks that are being built for new ones", async () => {
    const flashMs = 200;
    const hashAt = (n: number, nowMs: number): HeadBlock["hash"] => {
      const sealedMs = 2_000 * n + 2_000;
      const part = Math.max(0, Math.ceil((sealedMs - nowMs) / flashMs));
      return fakeHash(n, Math.min(part, 10));
    };
    const chain = createChain({ delayMs: () => 0, hashAt });
    await follow(chain, 100);
    expect(chain.asked).to.include("preconfirmations");
    let replaced = 0;
    let last: HeadBlock | undefined;
    const run = async () => {
      while ((last?.number ?? 0) < 200) {
        const head = await chain.watch.head();
        if (head.number === (last?.number ?? -1) + 1 && head.parentHash !== last?.hash) replaced += 1;
        last = head;
        await chain.watch.wait(300, never);
      }
    };
    await chain.clock.run(run());
    expect(replaced).to.be.lessThan(50);
  });

  it("takes heads from another watcher, and looks itself once that falls silent", async () => {
    const chain = createChain({});
    await follow(chain, 12);
    chain.asked.length = 0;
    const block = (n: number): HeadBlock => ({
      number: n,
      hash: fakeHash(n),
      parentHash: fakeHash(n - 1),
      timestamp: 2 * n,
      logsBloom: NO_BLOOM,
      senders: [],
    });
    const pushing = async () => {
      for (let n = 13; n < 40; n++) {
        await chain.clock.sleep(Math.max(0, chain.arrivalOf(n) - chain.clock.now()));
        chain.watch.offer(block(n), 3_000);
      }
    };
    const seen: number[] = [];
    const following = async () => {
      while (seen.at(-1) !== 45) {
        const { number } = await chain.watch.head();
        if (number !== seen.at(-1)) seen.push(number);
        if (number < 40) expect(chain.asked).to.deep.equal([]);
        await chain.watch.wait(300, never);
      }
    };
    await chain.clock.run(Promise.all([pushing(), following()]));
    expect(seen).to.include.members([13, 20, 39, 45]);
    expect(chain.asked.length).to.be.greaterThan(0);
  });

  it("passes failures on, and does not ask again at once", async () => {
    const clock = createFakeClock();
    let asked = 0;
    const fail = async () => {
      asked += 1;
      throw new Error("no endpoint");
    };
    const watch = new HeadWatch({
      clock,
      pollMs: POLL_MS,
      withSenders: false,
      head: fail,
      probe: {
        blockNumber: fail,
        block: fail,
        notified: async (ms, signal) => {
          await clock.sleep(ms, signal);
          return false;
        },
      },
    });
    const error = await watch.head().catch((caught: unknown) => caught);
    expect((error as Error).message).to.equal("no endpoint");
    const before = clock.now();
    await clock.run(watch.wait(1_000, never));
    expect(clock.now() - before).to.equal(POLL_MS);
    expect(asked).to.equal(1);
  });
});
