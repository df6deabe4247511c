import type { Store } from "../../shared/storage/port.ts";
import { poolStates } from "../store/collections.ts";
import { getCheckpoint, getPool, getPoolStates } from "../store/queries.ts";
import { listGauges } from "../store/v2-queries.ts";
import { checkMinute, checkRows } from "./check-events.ts";
import { checkFactoryFees, checkFee, checkPool, checkState } from "./check-pool.ts";
import { checkHour, checkPosition } from "./check-v2.ts";
import type { Finding } from "./finding.ts";
import type { AuditRpc } from "./rpc.ts";
import { createPick, sample } from "./sample.ts";

interface AuditOptions {
  readonly store: Store;
  readonly rpc: AuditRpc;
  readonly chainId: number;
  readonly pools: number;
  readonly seed: number;
}

interface PoolAudit {
  readonly pool: string;
  readonly name: string;
  readonly findings: readonly Finding[];
}

/** Compares a random sample of pools with events with the chain, pool by pool. Throws where nothing is indexed. */
export async function* audit(options: AuditOptions): AsyncGenerator<PoolAudit> {
  const { store, rpc, chainId } = options;
  const checkpoint = await getCheckpoint(store, chainId);
  if (checkpoint === undefined || checkpoint.blockNumber < checkpoint.fromBlock)
    throw new Error(`Nothing of chain ${chainId} is indexed in this store.`);
  const head = checkpoint.blockNumber;
  const pick = createPick(options.seed);
  const gauges = new Map((await listGauges(store, chainId)).map((row) => [row.poolAddress, row]));
  const all = await store.find(poolStates, { filter: { chainId }, fields: ["poolAddress"] });
  for (const { poolAddress } of sample(all, { size: options.pools, pick })) {
    const pool = await getPool(store, { chainId, poolAddress });
    const [state] = await getPoolStates(store, { chainId, addresses: [poolAddress] });
    if (pool === undefined || state === undefined) continue;
    const block = state.lastBlock < 0 ? head : state.lastBlock;
    yield {
      pool: poolAddress,
      name: `${pool.dexName} ${pool.token0Symbol}/${pool.token1Symbol}`,
      findings: [
        ...(await checkPool(rpc, { pool, block })),
        ...(await checkState(rpc, { pool, state, gauge: gauges.get(poolAddress) })),
        ...(await checkFee(rpc, { store, pool })),
        ...(await checkFactoryFees(rpc, { store, pool })),
        ...(await checkRows(rpc, { store, pool, pick })),
        ...(await checkMinute(rpc, { store, pool, head, pick })),
        ...(await checkHour(rpc, { store, pool, head, pick })),
        ...(await checkPosition(rpc, { store, pool, gauges, pick })),
      ],
    };
  }
}
