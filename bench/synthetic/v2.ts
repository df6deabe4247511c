import { createRandom } from "../../deploy/devnet/random.ts";
import type { ChainDeployments } from "../../services/evm-dex/deployments.ts";
import { v2AmountsText } from "../../services/evm-dex/metrics/v2-bucket.ts";
import { EMPTY_V2_STATE, writeV2State } from "../../services/evm-dex/protocols/aerodrome-v2/state.ts";
import {
  type CheckpointRow,
  checkpoints,
  type PoolEventRow,
  type PoolRow,
  type PoolStateRow,
  poolEvents,
  poolStates,
  pools,
  priceLinks,
  tokens,
} from "../../services/evm-dex/store/collections.ts";
import { toAnchorRows, toLinkRow } from "../../services/evm-dex/store/price-links.ts";
import { type V2RollupRow, v2Rollups } from "../../services/evm-dex/store/v2-collections.ts";
import { headers } from "../../services/shared/index/evm/headers.ts";
import { put, type Store } from "../../services/shared/storage/port.ts";

export const CHAIN_ID = 8453;
export const HEAD_TIME = 1_760_000_000;
const FIRST_BLOCK = 1_000;
const HEAD_BLOCK = 400_000;
const HOUR = 3_600;
const DAY = 86_400;
const FACTORY = address(0xfac);
const REWARD = address(0xae70);

export const CHAIN: ChainDeployments = {
  chainId: CHAIN_ID,
  name: "Synthetic",
  stablecoins: [`0x${"0".repeat(39)}1`],
  factories: [
    {
      address: FACTORY,
      dexName: "Aerodrome",
      family: "dexa",
      kind: "aerodrome-v2",
      fromBlock: 0,
      rewards: { voter: address(0x707e), token: REWARD },
    },
  ],
};

function address(n: number): `0x${string}` {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

export const poolAt = (n: number) => address(0x900_0000 + ((n * 7_919) % 1_000_003));
const ANCHOR = address(1);
const random = createRandom(1);

/** Pools of a token each against one of ten, a share of them trading in every hour of eight days, all with state. */
export async function writeV2Pools(store: Store, options: { pools: number; active: number }): Promise<void> {
  const checkpoint = checkpointAt(0);
  const hubs = Array.from({ length: 10 }, (_, i) => address(0x10 + i));
  const leaves = Array.from({ length: options.pools }, (_, i) => address(0x1_0000 + i));
  const known = [...hubs, ...leaves, REWARD];
  await store.write([
    put(
      tokens,
      known.map((token) => ({ chainId: CHAIN_ID, address: token, symbol: "TKN", decimals: 18 })),
    ),
    put(priceLinks, toAnchorRows([ANCHOR], { chainId: CHAIN_ID, blockNumber: FIRST_BLOCK, time: HEAD_TIME })),
    put(
      priceLinks,
      known
        .filter((_, i) => i < 5_000 || i === known.length - 1)
        .map((token, i) => linkRow(token, 1 + i / 7)),
    ),
  ]);
  for (let from = 0; from < options.pools; from += 500) {
    const numbers = Array.from({ length: Math.min(500, options.pools - from) }, (_, i) => from + i);
    await store.write([
      put(
        pools,
        numbers.map((n) => poolRow(n, { token0: hubs[n % 10] as string, token1: leaves[n] as string })),
      ),
      put(
        poolStates,
        numbers.map((n) => stateRow(n, HEAD_BLOCK)),
      ),
      put(
        v2Rollups,
        numbers.filter((n) => (n * 31) % options.pools < options.pools * options.active).flatMap(bucketsOf),
      ),
    ]);
  }
  await store.write([put(checkpoints, [checkpoint])]);
}

/** The next head: some pools touched, the prices of the tokens that all rest on moved. */
export async function moveHead(
  store: Store,
  options: { block: number; touched: number; pools: number },
): Promise<void> {
  const checkpoint = checkpointAt(options.block);
  const numbers = Array.from({ length: options.touched }, () => random.below(options.pools));
  const distinct = [...new Set(numbers)];
  const start = checkpoint.blockTime - (checkpoint.blockTime % HOUR);
  const day = checkpoint.blockTime - (checkpoint.blockTime % DAY);
  await store.write([
    put(
      poolEvents,
      distinct.map((n, i) => eventRow(n, { block: checkpoint.blockNumber, logIndex: i })),
    ),
    put(
      v2Rollups,
      distinct.flatMap((n) => [bucketOf(n, HOUR, start), bucketOf(n, DAY, day)]),
    ),
    put(
      poolStates,
      distinct.map((n) => stateRow(n, checkpoint.blockNumber)),
    ),
    put(
      priceLinks,
      distinct
        .slice(0, 20)
        .map((n, i) => linkRow(address(0x10 + (n % 10)), 1 + i / 3, checkpoint.blockNumber)),
    ),
    put(headers, [
      {
        ...{ chainId: CHAIN_ID, number: checkpoint.blockNumber, hash: checkpoint.blockHash },
        ...{ parentHash: `0x${checkpoint.blockNumber - 1}`, time: checkpoint.blockTime },
      },
    ]),
    put(checkpoints, [checkpoint]),
  ]);
}

/** One pool away from an anchor. */
function linkRow(token: string, price: number, blockNumber = FIRST_BLOCK) {
  const support = { pool: FACTORY, depthUsd: 1e6, restUsd: 1e6 };
  const link = { token, parent: ANCHOR, pool: FACTORY, side: 0 as const, price, hops: 1, support };
  return toLinkRow({ token, link }, { chainId: CHAIN_ID, blockNumber, time: HEAD_TIME });
}

function checkpointAt(after: number): CheckpointRow {
  const blockNumber = HEAD_BLOCK + after;
  return {
    chainId: CHAIN_ID,
    blockNumber,
    blockHash: `0x${blockNumber}`,
    blockTime: HEAD_TIME + 2 * after,
    fromBlock: FIRST_BLOCK,
    fromTime: HEAD_TIME - 40 * DAY,
    chainHead: blockNumber,
    genesisHash: "0x00",
  };
}

function poolRow(n: number, { token0, token1 }: { token0: string; token1: string }): PoolRow {
  return {
    chainId: CHAIN_ID,
    poolAddress: poolAt(n),
    dexAddress: FACTORY,
    dexName: "Aerodrome",
    family: "dexa",
    protocol: "aerodrome-v2",
    token0Address: token0,
    token0Symbol: "WETH",
    token0Decimals: 18,
    token1Address: token1,
    token1Symbol: "TKN",
    token1Decimals: 18,
    createdAt: HEAD_TIME - 30 * DAY - Math.floor(n / 2) * 600,
    createdBlock: n,
    fee: 3_000,
    tickSpacing: 0,
    stable: n % 4 === 0,
  };
}

function stateRow(n: number, lastBlock: number): PoolStateRow {
  const state = writeV2State({
    ...EMPTY_V2_STATE,
    reserve0: 10n ** 21n + BigInt(n),
    reserve1: 10n ** 22n + BigInt(random.below(1e9)),
    totalSupply: 10n ** 21n,
    fee: 30,
    defaultFee: 30,
    index0: 10n ** 15n,
    index1: 10n ** 16n,
    gauge: n % 3 === 0 ? address(0x6a + n) : undefined,
    isGaugeAlive: true,
    staked: 5n * 10n ** 20n,
    rewardRate: 10n ** 15n,
    periodFinish: HEAD_TIME + DAY,
  });
  return {
    chainId: CHAIN_ID,
    poolAddress: poolAt(n),
    state,
    lastBlock,
    lastTime: HEAD_TIME,
    balance0: 0n,
    balance1: 0n,
    balanceBlock: -1,
    anchor: state,
  };
}

function bucketsOf(n: number): V2RollupRow[] {
  const rows: V2RollupRow[] = [];
  const day = HEAD_TIME - (HEAD_TIME % DAY);
  const hour = HEAD_TIME - (HEAD_TIME % HOUR);
  for (let i = 0; i <= 30; i++) rows.push(bucketOf(n, DAY, day - i * DAY));
  for (let i = 0; i < 8 * 24; i++) rows.push(bucketOf(n, HOUR, hour - i * HOUR));
  return rows;
}

function bucketOf(n: number, span: number, start: number): V2RollupRow {
  return {
    chainId: CHAIN_ID,
    poolAddress: poolAt(n),
    span,
    start,
    swapCount: 10,
    unpricedCount: n % 50 === 0 ? 1 : 0,
    zeroForOneUsd: random.below(1e6),
    oneForZeroUsd: random.below(1e6),
    feesUsd: random.below(1e3),
    amounts: v2AmountsText.write({
      ...{ volume0: 10n ** 20n, volume1: 10n ** 21n },
      ...{ fees0: 10n ** 17n, fees1: 10n ** 18n },
      ...{ growth0: 10n ** 14n, growth1: 10n ** 15n },
    }),
  };
}

function eventRow(n: number, at: { block: number; logIndex: number }): PoolEventRow {
  return {
    chainId: CHAIN_ID,
    blockNumber: at.block,
    logIndex: at.logIndex,
    poolAddress: poolAt(n),
    kind: "swap",
    blockHash: `0x${at.block}`,
    time: HEAD_TIME + 2 * (at.block - HEAD_BLOCK),
    txHash: "0x01",
    sender: address(1),
    amounts: "1 -1",
    state: stateRow(n, at.block).state,
    price0Usd: 1,
    price1Usd: 1,
    valueUsd: 1,
    feeUsd: 1,
    tickTravel: 0,
    previousMinute: null,
    previousUsers: null,
  };
}
