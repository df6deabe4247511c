import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { createRandom } from "../../../../deploy/devnet/random.ts";
import { TimeSlices } from "../../../shared/process/time-slices.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { EMPTY_POSITION, positionText } from "../../metrics/lp-position.ts";
import { lpEvents } from "../../store/v2-collections.ts";
import { address, CHAIN_ID, hash, openTestStore } from "../../test/kit/rows.ts";
import { readPastPositions } from "./past-positions.ts";
import type { Position } from "./positions.ts";

const WALLET = address(0xa);
const TIMES = [1_000, 2_000, 3_000];
const ANCHOR = 5_000_000n;
const held = (balance: bigint) => ({ ...EMPTY_POSITION, balance });

describe("readPastPositions", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  /** Events of pools at these times, each leaving its number in the chain as the balance. */
  async function write(eventTimes: readonly (readonly number[])[]) {
    const all = eventTimes
      .flatMap((times, pool) => times.map((time) => ({ pool, time })))
      .sort((a, b) => a.time - b.time)
      .map((event, i) => ({ ...event, balance: BigInt(i + 1) }));
    await store.write([
      put(
        lpEvents,
        all.map(({ pool, time, balance }, i) => ({
          ...{ chainId: CHAIN_ID, wallet: WALLET, poolAddress: address(pool), time },
          ...{
            blockNumber: time,
            logIndex: i,
            blockHash: hash(time),
            position: positionText.write(held(balance)),
          },
        })),
      ),
    ]);
    const positions = eventTimes.map((times, pool): Position => {
      const own = all.filter((event) => event.pool === pool);
      const last = own.at(-1);
      return {
        ...{ poolAddress: address(pool), anchor: held(ANCHOR), now: held(last?.balance ?? ANCHOR) },
        events: last && { firstTime: Math.min(...times), lastTime: last.time, lastBlock: last.time },
      };
    });
    const expected = eventTimes.map((_, pool) =>
      TIMES.map((at) => all.findLast((event) => event.pool === pool && event.time < at)?.balance ?? ANCHOR),
    );
    return { positions, expected };
  }

  async function read(positions: readonly Position[]): Promise<bigint[][]> {
    const query = { chainId: CHAIN_ID, wallet: WALLET, positions, times: TIMES, slices: new TimeSlices() };
    const past = await readPastPositions(store, query);
    return positions.map(({ poolAddress, now }) => {
      const own = past.get(poolAddress);
      return own === undefined ? TIMES.map(() => now.balance) : own.map(({ balance }) => balance);
    });
  }

  it("has the position before each time, which an event in that second does not change", async () => {
    const { positions, expected } = await write([
      [],
      [500],
      [500, 1_000],
      [999, 1_000, 1_001, 2_999, 3_000],
      [3_500],
      [1_000],
      [1_999, 2_000],
    ]);
    expect(await read(positions)).to.deep.equal(expected);
  });

  it("has the same for many positions with events at random, and for more events than one read takes", async () => {
    const random = createRandom(7);
    const anyTimes = (count: number) => Array.from({ length: count }, () => random.below(4_000));
    const { positions, expected } = await write([
      ...Array.from({ length: 60 }, () => anyTimes(random.below(6))),
      anyTimes(1_700),
    ]);
    expect(await read(positions)).to.deep.equal(expected);
  });
});
