import { expect } from "chai";
import { before, describe, it } from "mocha";
import type { Hex } from "../../../shared/evm/port.ts";
import { loadDeployments } from "../../deployments.ts";
import { type BlockEvents, type FlushedRows, Indexer } from "../../ingest/state/indexer.ts";
import { decodeEvent } from "../../protocols/index.ts";
import { uniswapV3 } from "../../protocols/uniswap-v3.ts";
import type { V3Event } from "../../protocols/v3/events.ts";
import { readRecorded } from "../kit/recorded.ts";
import { openTestStore, poolRow } from "../kit/rows.ts";

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
/** All others that are swapped here have 18, or no price. */
const DECIMALS: Readonly<Record<string, number>> = {
  "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48": 6,
  "0xdac17f958d2ee523a2206206994597c13d831ec7": 6,
  "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599": 8,
};
/** What a pool held before its block is not recorded: enough, so that its liquidity alone says how deep it is. */
const HELD = 10n ** 30n;

interface RecordedLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly logIndex: string;
  readonly transactionHash: string;
}

interface RecordedBlock {
  readonly chain: string;
  readonly block: { readonly number: string; readonly hash: string; readonly timestamp: string };
  readonly receipts: readonly { readonly from: string; readonly logs: readonly RecordedLog[] }[];
}

/** The tokens of the pool of a swap: those that the same transaction moved into and out of it by the swap's amounts. */
function tokensOf(
  logs: readonly RecordedLog[],
  { pool, swap }: { pool: string; swap: V3Event & { kind: "swap" } },
) {
  const padded = `0x${pool.slice(2).padStart(64, "0")}`;
  const moved = (amount: bigint) =>
    logs.find(
      ({ topics, data }) =>
        topics[0] === TRANSFER &&
        topics.length === 3 &&
        topics[amount > 0n ? 2 : 1] === padded &&
        BigInt(data) === (amount > 0n ? amount : -amount),
    )?.address;
  const [token0, token1] = [moved(swap.amount0), moved(swap.amount1)];
  return token0 === undefined || token1 === undefined ? undefined : { token0, token1 };
}

/** A block's swaps with the tokens of its transfers. */
function swapsOf(recorded: RecordedBlock) {
  const tokens = new Map<string, { token0: string; token1: string }>();
  const events: BlockEvents["events"][number][] = [];
  for (const { from, logs } of recorded.receipts) {
    for (const log of logs) {
      const event = decodeEvent(uniswapV3, log) as V3Event | undefined;
      if (event?.kind !== "swap") continue;
      const pair = tokens.get(log.address) ?? tokensOf(logs, { pool: log.address, swap: event });
      if (pair === undefined) continue;
      tokens.set(log.address, pair);
      const place = { logIndex: Number(log.logIndex), txHash: log.transactionHash, sender: from };
      events.push({ ...place, poolAddress: log.address, event });
    }
  }
  return { tokens, events };
}

/** The rows of one block's swaps, as the ingest makes them, and the price of WETH at its end. */
async function indexBlock(recorded: RecordedBlock): Promise<{ flushed: FlushedRows; weth: number | null }> {
  const { tokens, events } = swapsOf(recorded);
  const ethereum = loadDeployments(undefined).find(({ chainId }) => chainId === 1);
  const store = await openTestStore();
  const indexer = new Indexer(store, { chainId: 1, anchors: ethereum?.stablecoins ?? [] });
  const decimalsOf = (token: string) => DECIMALS[token] ?? 18;
  for (const [poolAddress, { token0, token1 }] of tokens) {
    indexer.addPool(
      poolRow({
        ...{ chainId: 1, poolAddress, token0Address: token0, token1Address: token1 },
        ...{ token0Decimals: decimalsOf(token0), token1Decimals: decimalsOf(token1) },
      }),
    );
    const entry = indexer.pools.get(poolAddress);
    if (entry === undefined) throw new Error("The pool was not added.");
    entry.state = uniswapV3.stateFromBalances({ amount0: HELD, amount1: HELD });
    entry.anchor = entry.protocol.write(entry.state);
  }
  const { number, hash, timestamp } = recorded.block;
  const time = /^0x/.test(timestamp) ? Number(timestamp) : Date.parse(timestamp) / 1_000;
  const block = { number: Number(number), hash, time, events };
  await indexer.prepare([block]);
  indexer.addBlock(block);
  const answer = { flushed: indexer.flush(), weth: indexer.prices.usd(WETH) };
  await indexer.count(answer.flushed);
  await store.close();
  return answer;
}

describe("recorded blocks, priced", () => {
  let blocks: RecordedBlock[] = [];
  before(function () {
    blocks = readRecorded<RecordedBlock>(this).filter(({ chain }) => chain === "ethereum");
  });

  it("give a row for every swap, and numbers or nulls in all of them", async () => {
    let rows = 0;
    let valued = 0;
    for (const recorded of blocks) {
      const { flushed } = await indexBlock(recorded);
      expect(flushed.events).to.have.length(swapsOf(recorded).events.length);
      for (const { price0Usd, price1Usd, valueUsd, feeUsd } of flushed.events) {
        for (const usd of [price0Usd, price1Usd, valueUsd, feeUsd]) {
          expect(usd === null || (Number.isFinite(usd) && usd >= 0), `${usd}`).to.equal(true);
        }
        expect(valueUsd === null).to.equal(price0Usd === null && price1Usd === null);
        if (valueUsd !== null) valued += 1;
      }
      rows += flushed.events.length;
    }
    // The transfers of a few swaps are not of their amounts: tokens that take a fee.
    expect(rows).to.be.within(50, 60);
    expect(valued).to.be.greaterThan(rows / 2);
  });

  it("price ether as it was: within the year's range on each block that swaps it for a stablecoin", async () => {
    // Lowest and highest of ether in the block's year, USD.
    const RANGES: Readonly<Record<number, readonly [number, number]>> = {
      2022: [900, 3_900],
      2023: [1_150, 2_450],
      2025: [1_300, 5_000],
    };
    const priced: number[] = [];
    for (const recorded of blocks) {
      const { weth } = await indexBlock(recorded);
      if (weth === null) continue;
      const { timestamp } = recorded.block;
      const year = new Date(/^0x/.test(timestamp) ? Number(timestamp) * 1_000 : timestamp).getUTCFullYear();
      const [low, high] = RANGES[year] ?? [Number.NaN, Number.NaN];
      expect(weth, `block ${Number(recorded.block.number)}`).to.be.within(low, high);
      priced.push(weth);
    }
    expect(priced.length).to.be.greaterThan(3);
  });
});
