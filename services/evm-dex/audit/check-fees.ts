import { protocolOf } from "../protocols/index.ts";
import { poolFees } from "../store/collections.ts";
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
    // Fees are read with the balances, those of all older pools at once.
    const isDue =
      state === undefined
        ? pool.createdBlock < checkpoint.fromBlock &&
          (await store.count(poolFees, { chainId: pool.chainId })) > 0
        : state.balanceBlock >= 0;
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
