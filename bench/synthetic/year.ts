import { createRandom } from "../../deploy/devnet/random.ts";
import type { BlockEvents } from "../../services/evm-dex/ingest/state/indexer.ts";
import { Indexer } from "../../services/evm-dex/ingest/state/indexer.ts";
import { startSteps, writeProgress } from "../../services/evm-dex/ingest/write.ts";
import type { V3Event } from "../../services/evm-dex/protocols/v3/events.ts";
import type { CheckpointRow, PoolRow } from "../../services/evm-dex/store/collections.ts";
import type { Store } from "../../services/shared/storage/port.ts";

const YEAR_SECONDS = 365 * 86_400;
const START = 1_735_689_600;
const SWAPS_A_BLOCK = 10;
const BLOCKS_A_WRITE = 500;
const USERS = 50_000;
const USDC = `0x${"ee".repeat(20)}`;
const WETH = `0x${"11".repeat(20)}`;

export const POOL: PoolRow = {
  chainId: 8453,
  poolAddress: `0x${"aa".repeat(20)}`,
  dexAddress: `0x${"ff".repeat(20)}`,
  dexName: "Uniswap V3",
  family: "dexb",
  protocol: "uniswap-v3",
  token0Address: WETH,
  token0Symbol: "WETH",
  token0Decimals: 18,
  token1Address: USDC,
  token1Symbol: "USDC",
  token1Decimals: 6,
  createdAt: START,
  createdBlock: 1,
  fee: 500,
  tickSpacing: 10,
  stable: false,
};

/** A pool with `swaps` swaps spread evenly over a year, written through the ingest's own indexer. */
export async function writeSyntheticYear(store: Store, options: { swaps: number }): Promise<void> {
  const indexer = new Indexer(store, { chainId: POOL.chainId, anchors: [USDC] });
  const random = createRandom(1);
  const blocks = Math.ceil(options.swaps / SWAPS_A_BLOCK);
  const gap = YEAR_SECONDS / blocks;
  indexer.addPool(POOL);
  const start = checkpointAt({ number: 0, hash: "0x", time: START });
  await store.write(startSteps(start, [USDC]));
  let pending: BlockEvents[] = [openingBlock()];
  for (let number = 2; number <= blocks + 1; number++) {
    const count = Math.min(SWAPS_A_BLOCK, options.swaps - (number - 2) * SWAPS_A_BLOCK);
    pending.push(swapBlock({ number, time: START + Math.floor((number - 1) * gap), count, random }));
    if (pending.length < BLOCKS_A_WRITE && number <= blocks) continue;
    await indexer.prepare(pending);
    for (const block of pending) indexer.addBlock(block);
    const last = pending.at(-1) as BlockEvents;
    await writeProgress(store, {
      indexer,
      flushed: indexer.flush(),
      progress: { checkpoint: checkpointAt(last), fees: [], factoryFees: [], headers: [] },
      guard: () => [],
    });
    pending = [];
  }
}

function checkpointAt(block: { number: number; hash: string; time: number }): CheckpointRow {
  return {
    chainId: POOL.chainId,
    blockNumber: block.number,
    blockHash: block.hash,
    blockTime: block.time,
    fromBlock: 0,
    fromTime: START,
    chainHead: block.number,
    genesisHash: "0x",
  };
}

/** 3,000 USDC a WETH, ten million USD deep. */
const SQRT_PRICE = 4339505179874779489431521n;
const LIQUIDITY = 91_287_092_917_527_680n;

function openingBlock(): BlockEvents {
  return {
    number: 1,
    hash: hashOf(1),
    time: START,
    events: [
      place(0, { kind: "initialize", sqrtPriceX96: SQRT_PRICE, tick: -196_256 }),
      place(1, {
        kind: "mint",
        tickLower: -887_270,
        tickUpper: 887_270,
        liquidity: LIQUIDITY,
        amount0: 1_666n * 10n ** 18n,
        amount1: 5_000_000n * 10n ** 6n,
      }),
    ],
  };
}

function swapBlock(options: {
  number: number;
  time: number;
  count: number;
  random: ReturnType<typeof createRandom>;
}): BlockEvents {
  const events = Array.from({ length: options.count }, (_, i) => {
    const isSell = options.random.next() < 0.5;
    const weth = BigInt(1 + options.random.below(1_000_000)) * 10n ** 12n;
    const usdc = (weth * 3000n) / 10n ** 12n;
    const move = options.random.below(2_000_001) - 1_000_000;
    return place(
      i,
      {
        kind: "swap",
        amount0: isSell ? weth : -weth,
        amount1: isSell ? -usdc : usdc,
        sqrtPriceX96: SQRT_PRICE + BigInt(move) * 10n ** 15n,
        liquidity: LIQUIDITY,
        tick: -196_256 + options.random.below(21) - 10,
      },
      `0x${pickUser(options.random).toString(16).padStart(40, "0")}`,
    );
  });
  return { number: options.number, hash: hashOf(options.number), time: options.time, events };
}

/** Few accounts make most swaps: the share of the most active falls off as it does on real pools. */
function pickUser(random: ReturnType<typeof createRandom>): number {
  return Math.floor(USERS * random.next() ** 6);
}

function place(logIndex: number, event: V3Event, sender = `0x${"01".repeat(20)}`) {
  return { logIndex, txHash: hashOf(logIndex), sender, poolAddress: POOL.poolAddress, event };
}

function hashOf(number: number): string {
  return `0x${number.toString(16).padStart(64, "0")}`;
}
