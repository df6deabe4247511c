import type { EvmSource } from "../../shared/chain/evm/port.ts";
import { balanceCalls, readBalance } from "./balances.ts";
import { askStates } from "./past-states.ts";
import type { PoolEntry } from "./state/pool-book.ts";

/**
 * The state of pools that are older than the index, just before their first indexed event: what the protocol asks the
 * pool for, and its balances, at the block before it. Where no node has that state any more, the balances of `head`
 * stand in for the reserves and the price is unknown until an event tells it.
 */
export async function readAnchors(
  source: EvmSource,
  of: { pools: readonly { entry: PoolEntry; block: number }[]; head: number },
): Promise<void> {
  const { pools, head } = of;
  if (pools.length === 0) return;
  const states = await askStates(
    source,
    pools.map(({ entry, block }) => ({ row: entry.row, block: block - 1 })),
  );
  const without: PoolEntry[] = [];
  pools.forEach(({ entry }, i) => {
    const past = states[i];
    if (past === undefined) without.push(entry);
    else setAnchor(entry, past.state);
  });
  const balances = await source.call(without.flatMap((entry) => balanceCalls(entry.row, head)));
  without.forEach((entry, i) => {
    const amount0 = readBalance(balances[2 * i]) ?? 0n;
    const amount1 = readBalance(balances[2 * i + 1]) ?? 0n;
    setAnchor(entry, entry.protocol.unknown({ amount0, amount1 }));
  });
}

function setAnchor(entry: PoolEntry, anchor: unknown): void {
  entry.anchor = anchor;
  entry.state = anchor;
}
