import { createRandom } from "../../deploy/devnet/random.ts";
import { DAY, HOUR, MINUTE } from "../../services/evm-dex/metrics/bucket.ts";
import { positionText } from "../../services/evm-dex/metrics/lp-position.ts";
import { writeIntegers } from "../../services/evm-dex/protocols/integers.ts";
import {
  type CheckpointRow,
  checkpoints,
  poolEvents,
  poolStates,
  poolUsers,
  priceLinks,
  rollups,
} from "../../services/evm-dex/store/collections.ts";
import { lpEvents } from "../../services/evm-dex/store/v2-collections.ts";
import { finalBlocks } from "../../services/shared/evm/finality/finality.ts";
import { put, type Store } from "../../services/shared/storage/port.ts";

const CHAIN_ID = 8453;
export const MONTH_START = 1_735_689_600;
const BLOCKS_A_DAY = 43_200;

/** What a day is made of, at any scale. */
export interface DayShape {
  readonly events: number;
  readonly pools: number;
  /** Of events. */
  readonly links: number;
  readonly lpEvents: number;
  readonly newUsers: number;
}

/** A day of Base: 150 events a block; the rest are assumptions, which the figures scale with. */
export const BASE_DAY: DayShape = {
  events: 6_500_000,
  pools: 20_000,
  links: 0.2,
  lpEvents: 0.05,
  newUsers: 0.2,
};

const hex = (n: number, digits: number, salt = 0) =>
  `0x${(BigInt(n) * 0x9e3779b97f4a7c15n + BigInt(salt)).toString(16).slice(-14).padStart(14, "5")}${n
    .toString(16)
    .padStart(digits - 14, "7")
    .slice(0, digits - 14)}`;
export const address = (n: number) => hex(n, 40);
const hash = (n: number, salt = 1) => hex(n, 64, salt);

/** The pool of a share of all events in [0, 1): the n-th busiest has 1/n of the first one's. */
export function poolAt(share: number, pools: number): number {
  return Math.min(pools - 1, Math.floor(pools ** share) - 1);
}

/** How many minutes and hours of pools have a swap in a day: they decide how many buckets there are. */
export function countBuckets({ events, pools }: DayShape): { minutes: number; hours: number; days: number } {
  const random = createRandom(3);
  const minutes = new Uint8Array(pools * 1_440);
  for (let i = 0; i < events; i++) {
    const pool = poolAt(random.below(2 ** 30) / 2 ** 30, pools);
    minutes[pool * 1_440 + random.below(1_440)] = 1;
  }
  const hours = new Set<number>();
  const days = new Set<number>();
  let count = 0;
  for (let i = 0; i < minutes.length; i++) {
    if (minutes[i] === 0) continue;
    count += 1;
    hours.add(Math.floor(i / 60));
    days.add(Math.floor(i / 1_440));
  }
  return { minutes: count, hours: hours.size, days: days.size };
}

/** Writes a day of rows as an ingest leaves them; the last block is final. */
export async function writeDay(
  store: Store,
  { day, shape }: { day: number; shape: DayShape },
): Promise<CheckpointRow> {
  const random = createRandom(100 + day);
  const states = new Map<string, { lastBlock: number; lastTime: number }>();
  const buckets = new Map<string, Record<string, number | string>>();
  const perBlock = shape.events / BLOCKS_A_DAY;
  type Rows = Record<string, unknown>[];
  let [events, links, lps, users]: [Rows, Rows, Rows, Rows] = [[], [], [], []];
  const flush = async () => {
    await store.write([
      put(poolEvents, events as never),
      put(priceLinks, links as never),
      put(lpEvents, lps as never),
      put(poolUsers, users as never),
    ]);
    [events, links, lps, users] = [[], [], [], []];
  };
  for (let i = 0; i < shape.events; i++) {
    const blockNumber = day * BLOCKS_A_DAY + Math.floor(i / perBlock) + 1;
    const time = MONTH_START + blockNumber * 2 - 2;
    const pool = poolAt(random.below(2 ** 30) / 2 ** 30, shape.pools);
    const poolAddress = address(pool);
    const place = { chainId: CHAIN_ID, blockNumber, logIndex: i };
    const amount = BigInt(random.below(2 ** 30)) * 10n ** 12n;
    events.push({
      ...{ ...place, poolAddress, kind: "swap", blockHash: hash(blockNumber), time, txHash: hash(i, day) },
      ...{ sender: address(random.below(500_000)), amounts: writeIntegers([amount, -amount / 3_000n]) },
      state: writeIntegers([
        2n ** 90n + amount,
        10n ** 18n + amount,
        200_000n,
        10n ** 21n - amount,
        10n ** 12n,
        0n,
      ]),
      ...{
        price0Usd: 3_000.123 + random.below(1_000) / 7,
        price1Usd: 1,
        valueUsd: random.below(2 ** 30) / 2 ** 20,
      },
      ...{
        feeUsd: random.below(2 ** 20) / 2 ** 20,
        tickTravel: random.below(9),
        previousMinute: time - (time % 60),
        previousUsers: null,
      },
    });
    states.set(poolAddress, { lastBlock: blockNumber, lastTime: time });
    for (const span of [MINUTE, HOUR, DAY]) {
      const start = time - (time % span);
      const key = `${poolAddress} ${span} ${start}`;
      const row = buckets.get(key);
      if (row !== undefined) row.swapCount = (row.swapCount as number) + 1;
      else
        buckets.set(key, {
          ...{
            chainId: CHAIN_ID,
            poolAddress,
            span,
            start,
            swapCount: 1,
            volumeUsd: random.below(2 ** 30) / 2 ** 20,
          },
          ...{
            feesUsd: 0.25,
            unpricedCount: 0,
            unpricedFeeCount: 0,
            tickTravel: 9,
            closePrice: 3_000 / 7,
            lastSeenUsers: 1,
          },
        });
    }
    if (random.below(1_000) < shape.newUsers * 1_000)
      users.push({
        chainId: CHAIN_ID,
        poolAddress,
        user: address(day * shape.events + i),
        lastMinute: time - (time % 60),
      });
    if (random.below(1_000) < shape.links * 1_000)
      links.push({
        ...{
          chainId: CHAIN_ID,
          token: address(pool),
          blockNumber,
          time,
          pool: poolAddress,
          parent: address(0),
          side: 1,
        },
        ...{ price: 3_000 / 7, hops: 1, deepestPool: poolAddress, depthUsd: 1e6 / 3, restUsd: 1e5 / 3 },
        ...{ departedAt: null, departedUsd: null, agreedUsd: null },
      });
    if (random.below(1_000) < shape.lpEvents * 1_000)
      lps.push({
        ...{
          ...place,
          wallet: address(random.below(100_000)),
          poolAddress: address(random.below(300)),
          time,
        },
        ...{ blockHash: hash(blockNumber), position: positionText.write(positionOf(amount)) },
      });
    if (events.length >= 20_000) await flush();
  }
  await flush();
  const all = [...buckets.values()];
  for (let i = 0; i < all.length; i += 20_000)
    await store.write([put(rollups, all.slice(i, i + 20_000) as never)]);
  const blockNumber = (day + 1) * BLOCKS_A_DAY;
  const blockTime = MONTH_START + blockNumber * 2 - 2;
  const final = { chainId: CHAIN_ID, number: blockNumber, hash: hash(blockNumber), time: blockTime };
  const checkpoint: CheckpointRow = {
    ...{ chainId: CHAIN_ID, blockNumber, blockHash: final.hash, blockTime, chainHead: blockNumber },
    ...{ fromBlock: 1, fromTime: MONTH_START, genesisHash: hash(0) },
  };
  const rows = [...states].map(([poolAddress, last]) => ({
    ...{
      chainId: CHAIN_ID,
      poolAddress,
      state: "1 1 1 1 1 0",
      ...last,
      balance0: 10n ** 20n,
      balance1: 10n ** 12n,
    },
    ...{ balanceBlock: last.lastBlock, anchor: "0 0 0 0 0 0" },
  }));
  await store.write([put(poolStates, rows), put(finalBlocks, [final]), put(checkpoints, [checkpoint])]);
  return checkpoint;
}

function positionOf(amount: bigint) {
  return {
    balance: amount,
    staked: 0n,
    index0: amount * 7n,
    index1: amount,
    earned0: amount / 3n,
    earned1: 0n,
  };
}
