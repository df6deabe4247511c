import { encodeCall, readUint } from "../../shared/chain/evm/abi.ts";
import type { EthCall, EvmSource, Hex } from "../../shared/chain/evm/port.ts";
import type { PoolEntry } from "./state/pool-book.ts";

const BALANCE_OF = "0x70a08231";

/** balanceOf(pool) of a pool's two tokens. */
export function balanceCalls(pool: PoolEntry["row"], block: number): [EthCall, EthCall] {
  const data = encodeCall(BALANCE_OF, [pool.poolAddress as Hex]);
  return [
    { to: pool.token0Address as Hex, data, block },
    { to: pool.token1Address as Hex, data, block },
  ];
}

/** A balance as returned; null where the call failed or gave no word. */
export function readBalance(returned: Hex | null | undefined): bigint | null {
  return returned === null || returned === undefined || returned.length < 66 ? null : readUint(returned, 0);
}

/**
 * Reads what pools hold at the block of their last event, so that the number is a function of the chain, whoever asks
 * when. Nodes without that state are asked at `head` instead. Tokens that answer neither keep what the events say, as
 * do pools whose events tell their reserves.
 */
export async function observeBalances(
  source: EvmSource,
  of: { pools: readonly PoolEntry[]; head: number },
): Promise<void> {
  const all = of.pools.filter((entry) => entry.balanceBlock !== entry.lastBlock);
  const stale = all.filter(({ protocol }) => protocol.tvlOf === "balances");
  const missed = await observeAt(
    source,
    stale.map((entry) => ({ entry, block: entry.lastBlock })),
  );
  const still = await observeAt(
    source,
    missed.map((entry) => ({ entry, block: of.head })),
  );
  for (const entry of [...still, ...all.filter(({ protocol }) => protocol.tvlOf === "reserves")]) {
    const reserves = entry.protocol.reserves(entry.state);
    entry.balance0 = reserves.amount0;
    entry.balance1 = reserves.amount1;
    entry.balanceBlock = entry.lastBlock;
  }
}

async function observeAt(
  source: EvmSource,
  wanted: readonly { entry: PoolEntry; block: number }[],
): Promise<PoolEntry[]> {
  if (wanted.length === 0) return [];
  const answers = await source.call(wanted.flatMap(({ entry, block }) => balanceCalls(entry.row, block)));
  const missed: PoolEntry[] = [];
  wanted.forEach(({ entry, block }, i) => {
    const balance0 = readBalance(answers[2 * i]);
    const balance1 = readBalance(answers[2 * i + 1]);
    if (balance0 === null || balance1 === null) missed.push(entry);
    else Object.assign(entry, { balance0, balance1, balanceBlock: block });
  });
  return missed;
}
