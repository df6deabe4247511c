import { type EvmSource, withState } from "../../../shared/evm/port.ts";
import type { GaugeFacts } from "../../protocols/protocol.ts";
import type { PoolEntry } from "../state/pool-book.ts";
import { balanceCalls, readBalance } from "./balances.ts";
import { readPastStates } from "./past-states.ts";

/** A pool older than the index without an anchor yet, and its gauge just before its first indexed event. */
interface UnanchoredPool {
  readonly entry: PoolEntry;
  /** Block of that event. */
  readonly block: number;
  readonly gauge?: GaugeFacts | undefined;
}

/**
 * Reads the state of pools older than the index just before their first indexed event: the protocol's getters, and
 * the pool's balances, at the block before it. Where no node has that state any more, it reads `head`: a pool with a
 * getter of its reserves starts with its state there, until its events update it; for any other the balances replace
 * the reserves, and the price is unknown until an event sets it.
 */
export async function readAnchors(
  source: EvmSource,
  { pools, head }: { pools: readonly UnanchoredPool[]; head: number },
): Promise<void> {
  const without = await anchorAt(source, pools, (pool) => pool.block - 1);
  const [telling, silent] = [
    without.filter(({ entry }) => entry.protocol.tvlSource === "reserves"),
    without.filter(({ entry }) => entry.protocol.tvlSource === "balances"),
  ];
  const untold = await anchorAt(source, telling, () => head);
  await anchorUnknown(source, [...silent, ...untold], head);
}

/** Returns the pools whose state no node has. */
async function anchorAt(
  source: EvmSource,
  pools: readonly UnanchoredPool[],
  blockOf: (pool: UnanchoredPool) => number,
): Promise<UnanchoredPool[]> {
  const states = await readPastStates(
    source,
    pools.map((pool) => ({ row: pool.entry.row, block: blockOf(pool), gauge: pool.gauge })),
  );
  return pools.filter(({ entry }, i) => {
    const past = states[i];
    if (past !== undefined) setAnchor(entry, past.state);
    return past === undefined;
  });
}

async function anchorUnknown(
  source: EvmSource,
  pools: readonly UnanchoredPool[],
  head: number,
): Promise<void> {
  if (pools.length === 0) return;
  const balances = await source.call(withState(pools.flatMap(({ entry }) => balanceCalls(entry.row, head))));
  pools.forEach(({ entry }, i) => {
    const amount0 = readBalance(balances[2 * i]) ?? 0n;
    const amount1 = readBalance(balances[2 * i + 1]) ?? 0n;
    setAnchor(entry, entry.protocol.stateFromBalances({ amount0, amount1 }));
  });
}

function setAnchor(entry: PoolEntry, anchor: unknown): void {
  entry.anchor = entry.protocol.write(anchor);
  entry.state = anchor;
}
