import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import { type CheckpointRow, inactivePools, type PoolRow, poolStates } from "../store/collections.ts";
import { getCheckpoint, getPool, getPoolStates, lastEventUpTo } from "../store/queries.ts";
import { listGauges } from "../store/v2-queries.ts";
import { type CheckName, checkChain, checkPool } from "./checks.ts";
import { requireThat, Tally } from "./finding.ts";
import { describeKept, readKept } from "./kept.ts";
import type { AuditRpc } from "./rpc.ts";
import { createPick, type Picker, sample } from "./sample.ts";
import { type ChainScope, type Sampling, SOME } from "./scope.ts";

export interface AuditOptions {
  readonly store: Store;
  /** Absent: the store alone is checked. */
  readonly rpc?: AuditRpc | undefined;
  readonly chainId: number;
  /** The registry's chain, where it has it. */
  readonly deployments?: ChainDeployments | undefined;
  /** How many pools, and the seed of their choice; or which. */
  readonly pools: number | readonly string[];
  readonly seed: number;
  /** Default SOME. */
  readonly sampling?: Sampling;
  /** Default: all. */
  readonly checks?: ReadonlySet<CheckName>;
}

/** What was compared of one pool, or of the chain: then `pool` is "". */
export interface PoolAudit {
  readonly pool: string;
  readonly name: string;
  readonly tally: Tally;
  /** Of the chain: what is no longer kept, and so not compared. */
  readonly note?: string | undefined;
}

/** One pool without events is checked beside so many with events. */
const INACTIVE_SHARE = 4;

/** How often a part is compared while its head moves before its differences are believed. */
const TRIES = 4;

/**
 * Compares the rows of a chain, and of a random sample of its pools, with each other and with a node. Throws where
 * nothing is indexed.
 */
export async function* audit(options: AuditOptions): AsyncGenerator<PoolAudit> {
  const { chainId, checks, deployments, rpc, sampling = SOME, seed, store } = options;
  const pick = createPick(seed);
  const isWanted = (name: CheckName) => checks === undefined || checks.has(name);
  const openScope = async (picker: Picker): Promise<ChainScope> => {
    const checkpoint = await requireCheckpoint(store, chainId);
    const kept = await readKept(store, chainId);
    return { store, chainId, checkpoint, rpc, deployments, pick: picker, sampling, kept };
  };
  const compare = (one: (scope: ChainScope) => Promise<Tally>) =>
    compareSettled({ seed: pick(2 ** 31), openScope, compare: one });

  let note: string | undefined;
  const chain = await compare(async (scope) => {
    note = describeKept(scope.kept);
    const tally = new Tally();
    for await (const findings of checkChain(scope, isWanted)) tally.add(findings);
    return tally;
  });
  yield { pool: "", name: `chain ${chainId}`, tally: chain, note };
  for (const poolAddress of await choosePools(options, pick)) {
    const pool = await getPool(store, { chainId, poolAddress });
    const tally = await compare((scope) => auditPool(scope, { poolAddress, pool, isWanted }));
    yield { pool: poolAddress, name: nameOf(pool), tally };
  }
}

/**
 * What a part's comparison finds. Its rows are read one after the other: where the ingest wrote between them, rows of
 * two heads may contradict each other, so differences count only once the head stood still, or in the last of the tries.
 */
async function compareSettled(part: {
  readonly seed: number;
  readonly openScope: (pick: Picker) => Promise<ChainScope>;
  readonly compare: (scope: ChainScope) => Promise<Tally>;
}): Promise<Tally> {
  for (let tries = 1; ; tries++) {
    // The same sample each time.
    const scope = await part.openScope(createPick(part.seed));
    const tally = await part.compare(scope);
    if (tally.differences.length === 0 || tries === TRIES) return tally;
    const now = await getCheckpoint(scope.store, scope.chainId);
    if (now?.blockHash === scope.checkpoint.blockHash) return tally;
  }
}

async function auditPool(
  scope: ChainScope,
  {
    isWanted,
    pool,
    poolAddress,
  }: { poolAddress: string; pool: PoolRow | undefined; isWanted: (name: CheckName) => boolean },
): Promise<Tally> {
  const { chainId, store } = scope;
  const tally = new Tally();
  if (pool === undefined) {
    const place = { pool: poolAddress, at: "" };
    tally.add([requireThat(place, { field: "pools (row)", holds: false, stored: "no row", rule: "a row" })]);
    return tally;
  }
  const [state] = await getPoolStates(store, { chainId, addresses: [poolAddress] });
  const gauges = (await listGauges(store, chainId)).filter((gauge) => gauge.poolAddress === poolAddress);
  const before = await lastBeforeKept(scope, poolAddress);
  for await (const findings of checkPool({ ...scope, pool, state, gauges, before }, isWanted))
    tally.add(findings);
  return tally;
}

async function requireCheckpoint(store: Store, chainId: number): Promise<CheckpointRow> {
  const checkpoint = await getCheckpoint(store, chainId);
  if (checkpoint === undefined || checkpoint.blockNumber < checkpoint.fromBlock)
    throw new Error(`Nothing of chain ${chainId} is indexed in this store.`);
  return checkpoint;
}

function lastBeforeKept({ chainId, kept, store }: ChainScope, poolAddress: string) {
  const { block, time } = kept.events;
  return lastEventUpTo(store, { chainId, poolAddress, block: block - 1, time: time - 1 });
}

async function choosePools(
  { chainId, pools, store }: AuditOptions,
  pick: Picker,
): Promise<readonly string[]> {
  if (typeof pools !== "number") return pools;
  const query = { filter: { chainId }, fields: ["poolAddress"] } as const;
  const active = await store.find(poolStates, query);
  const known = new Set(active.map(({ poolAddress }) => poolAddress));
  const inactive = (await store.find(inactivePools, query)).filter(
    ({ poolAddress }) => !known.has(poolAddress),
  );
  return [
    ...sample(active, { size: pools, pick }),
    ...sample(inactive, { size: Math.ceil(pools / INACTIVE_SHARE), pick }),
  ].map(({ poolAddress }) => poolAddress);
}

function nameOf(pool: PoolRow | undefined): string {
  return pool === undefined ? "unknown" : `${pool.dexName} ${pool.token0Symbol}/${pool.token1Symbol}`;
}
