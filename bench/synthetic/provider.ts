import { positionText } from "../../services/evm-dex/metrics/lp-position.ts";
import {
  knownWallets,
  type LpEventRow,
  lpAnchors,
  lpEvents,
  lpPositions,
} from "../../services/evm-dex/store/v2-collections.ts";
import { put, type Store } from "../../services/shared/storage/port.ts";
import { CHAIN_ID, HEAD_TIME, poolAt } from "./v2.ts";

const DAY = 86_400;
export const WALLET = `0x${"a".repeat(40)}`;

/**
 * A wallet with positions in so many pools, spread evenly over all. A tenth has had no event since the index began;
 * of the others one in twenty had an event in each of the last 20 days, the rest long ago.
 */
export async function writeProvider(
  store: Store,
  { positions, pools }: { positions: number; pools: number },
): Promise<void> {
  const key = { chainId: CHAIN_ID, wallet: WALLET };
  const all = Array.from({ length: positions }, (_, i) => ({
    i,
    poolAddress: poolAt(Math.floor((i * pools) / positions)),
  }));
  const [still, moved] = [all.filter(({ i }) => i % 10 === 0), all.filter(({ i }) => i % 10 !== 0)];
  const isBusy = (i: number) => i % 20 === 1;
  const events = moved.flatMap(({ i, poolAddress }) =>
    (isBusy(i) ? Array.from({ length: 21 }, (_, day) => 20 - day) : [35]).map((daysAgo) =>
      eventOf({ ...key, poolAddress }, { i, time: HEAD_TIME - daysAgo * DAY }),
    ),
  );
  await store.write([
    put(lpEvents, events),
    put(
      lpPositions,
      moved.map(({ i, poolAddress }) => ({
        ...{ ...key, poolAddress, position: positionOf(i), anchor: positionOf(0), lastBlock: 300_000 },
        firstTime: HEAD_TIME - (isBusy(i) ? 20 : 35) * DAY,
        lastTime: HEAD_TIME - (isBusy(i) ? 0 : 35) * DAY,
      })),
    ),
    put(
      lpAnchors,
      still.map(({ i, poolAddress }) => ({
        ...key,
        poolAddress,
        balance: 10n ** 18n + BigInt(i),
        staked: 0n,
      })),
    ),
    put(knownWallets, [{ ...key, contracts: 10 * pools, readAtBlock: 1_000 }]),
  ]);
}

function positionOf(i: number): string {
  return positionText.write({
    ...{ balance: 10n ** 18n + BigInt(i), staked: i % 3 === 0 ? 10n ** 17n : 0n },
    ...{ index0: 10n ** 12n, index1: 10n ** 12n, earned0: 5n, earned1: 7n },
  });
}

function eventOf(
  key: { chainId: number; wallet: string; poolAddress: string },
  { i, time }: { i: number; time: number },
): LpEventRow {
  const blockNumber = 300_000 + Math.floor((time - HEAD_TIME) / DAY);
  return { ...key, blockNumber, logIndex: i, blockHash: `0x${blockNumber}`, time, position: positionOf(i) };
}
