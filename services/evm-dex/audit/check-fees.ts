import { protocolOf } from "../protocols/index.ts";
import { KINDS } from "../protocols/protocol.ts";
import { poolFees, pools } from "../store/collections.ts";
import { FEES_A_HEAD } from "../store/pool-lists.ts";
import { getPoolFee } from "../store/queries.ts";
import { listFactoryFees } from "../store/v2-queries.ts";
import { compareValues, type Finding, requireThat } from "./finding.ts";
import { intOf } from "./return-data.ts";
import type { AuditRpc } from "./rpc.ts";
import type { ChainScope, PoolScope } from "./scope.ts";

/** The stored fee against fee() at its block, for pools whose fee changes without an event. */
export async function checkFee(
  { checkpoint, pool, state, store }: PoolScope,
  rpc: AuditRpc,
): Promise<Finding[]> {
  const { feeCall } = protocolOf(pool.protocol);
  if (feeCall === undefined) return [];
  const row = await getPoolFee(store, pool);
  const place = { pool: pool.poolAddress, at: `block ${row?.block ?? "unknown"}` };
  if (row === undefined) {
    const isDue = await isFeeDue({ pool, state, checkpoint, store });
    const rule = "a row";
    return [requireThat(place, { field: "pool_fees (row)", holds: !isDue, stored: "no row", rule })];
  }
  const { blockNumber } = checkpoint;
  const [fee] = await rpc.call([feeCall(pool.poolAddress, row.block)]);
  return [
    requireThat(place, {
      field: "pool_fees.block",
      holds: row.block <= blockNumber,
      stored: row.block,
      rule: `at most ${blockNumber}`,
    }),
    compareValues(place, { field: "pool_fees.fee", stored: row.fee, expected: intOf(fee) }),
  ];
}

/**
 * Fees are read with the balances, those of older pools without events from the first head on; where a catch-up leaves more unread
 * than one head reads, some are without for a while.
 */
async function isFeeDue({
  pool,
  state,
  checkpoint,
  store,
}: Pick<PoolScope, "pool" | "state" | "checkpoint" | "store">): Promise<boolean> {
  const { chainId } = pool;
  const read = await store.count(poolFees, { chainId });
  const hasBegun =
    state === undefined ? pool.createdBlock < checkpoint.fromBlock && read > 0 : state.balanceBlock >= 0;
  if (!hasBegun) return false;
  const changing = KINDS.filter((kind) => protocolOf(kind).feeCall !== undefined);
  const known = await store.count(pools, { chainId, protocol: { in: changing } });
  return known - read <= FEES_A_HEAD;
}

/** The stored default fees of factories against volatileFee() and stableFee() at their block. */
export async function checkFactoryFees(scope: ChainScope): Promise<Finding[]> {
  const { chainId, checkpoint, deployments, rpc, store } = scope;
  const findings: Finding[] = [];
  for (const row of await listFactoryFees(store, chainId)) {
    const place = { pool: row.factory, at: `block ${row.block}` };
    const factory = deployments?.factories.find(({ address }) => address === row.factory);
    findings.push(
      requireThat(place, {
        field: "factory_fees.factory",
        holds: deployments === undefined || factory !== undefined,
        stored: row.factory,
        rule: "a factory of the deployments",
      }),
      requireThat(place, {
        field: "factory_fees.block",
        holds: row.block <= checkpoint.blockNumber,
        stored: row.block,
        rule: `at most ${checkpoint.blockNumber}`,
      }),
    );
    const calls = protocolOf(factory?.kind ?? "aerodrome-v2").defaultFeeCalls;
    const results = await rpc?.call([...(calls?.(row.factory, row.block) ?? [])]);
    if (results === undefined) continue;
    const [volatileFee, stableFee] = results.map(intOf);
    findings.push(
      compareValues(place, {
        field: "factory_fees.volatileFee",
        stored: row.volatileFee,
        expected: volatileFee,
      }),
      compareValues(place, { field: "factory_fees.stableFee", stored: row.stableFee, expected: stableFee }),
    );
  }
  return findings;
}
