import { positionText } from "../../metrics/lp-position.ts";
import { protocolOf } from "../../protocols/index.ts";
import { discoveries, type PoolRow, pools } from "../../store/collections.ts";
import { dumpStore, type TestIngest } from "./harness.ts";

type Rows = Record<string, unknown>[];

/**
 * All rows, less what depends on where an index began: how far pools were looked for, sums that start at 0 there (what a
 * position has earned: only differences are published), states of which the last digits follow from what they began
 * with (v3 reserves) or that are read and not told by events (v2 default fees), and what only serves to undo a row that
 * is final (a user's minute before, and who was seen then).
 */
export async function rowsOf({ store, sync }: TestIngest): Promise<Record<string, unknown[]>> {
  const kinds = new Map(
    (await store.find(pools, {})).map((pool: PoolRow) => [pool.poolAddress, pool.protocol]),
  );
  const valuesOf = (row: Record<string, unknown>, text: unknown) => {
    const protocol = protocolOf(kinds.get(row.poolAddress as string) as PoolRow["protocol"]);
    return protocol.auditValues(protocol.read(text as string));
  };
  const held = (text: unknown) => {
    const { balance, staked } = positionText.read(text as string);
    return { balance, staked };
  };
  const dump = (await dumpStore(store)) as Record<string, Rows>;
  delete dump[discoveries.name];
  return {
    ...dump,
    pool_events: (dump.pool_events ?? []).map((row) => ({
      ...row,
      state: valuesOf(row, row.state),
      ...((row.blockNumber as number) <= sync.finalBlock && { previousMinute: null, previousUsers: null }),
    })),
    pool_states: (dump.pool_states ?? []).map((row) => ({
      ...row,
      state: valuesOf(row, row.state),
      anchor: valuesOf(row, row.anchor),
    })),
    pool_tvls: (dump.pool_tvls ?? []).map((row) => ({
      ...row,
      tvlUsd: rounded(row.tvlUsd as number | null),
    })),
    lp_events: (dump.lp_events ?? []).map((row) => ({ ...row, position: held(row.position) })),
    lp_positions: (dump.lp_positions ?? []).map((row) => ({
      ...row,
      position: held(row.position),
      anchor: held(row.anchor),
    })),
  };
}

/** Reserves of v3 pools differ by some units of their tokens. */
function rounded(usd: number | null): number | null {
  return usd === null ? null : Number(usd.toPrecision(9));
}
