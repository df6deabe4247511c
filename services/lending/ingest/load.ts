import { Finality, requireStoredFinal } from "../../shared/evm/finality/finality.ts";
import { checkGenesis, headerAt } from "../../shared/evm/finality/genesis.ts";
import { Multicall } from "../../shared/evm/multicall/multicall.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import { rewindScans } from "../../shared/index/evm/discovery.ts";
import { indexIdentityOf } from "../../shared/index/evm/fork.ts";
import { headers, toHeaderRow } from "../../shared/index/evm/headers.ts";
import type { SyncContext } from "../../shared/index/follow-head.ts";
import { claimRow } from "../../shared/storage/lease.ts";
import { put } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import { type CheckpointRow, checkpoints, discoveries, type EntityRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { unreadEntityRow } from "./discover.ts";
import { CallMemory } from "./entities/call-memory.ts";
import { EntityRegistry } from "./entities/entity-registry.ts";
import { ProtocolRegistry } from "./entities/protocol-registry.ts";
import { TokenCache } from "./entities/token-cache.ts";
import { findLastState } from "./fork.ts";
import type { ChainMetrics } from "./metrics.ts";
import type { PassContext } from "./pass/pass.ts";
import { writeRollback } from "./pass/write.ts";

export interface SyncDeps extends SyncContext {
  readonly source: EvmSource;
  readonly chain: ChainDeployments;
  /** The oldest that an entity's state may be, in seconds of the chain. */
  readonly refreshSeconds: number;
  readonly metrics?: ChainMetrics | undefined;
}

/** A chain as stored. */
export interface LoadedChain {
  readonly context: PassContext;
  readonly genesisHash: string;
  readonly finality: Finality;
  /** Undefined before the first pass. */
  readonly checkpoint: CheckpointRow | undefined;
}

/** Loads the stored index and rolls back an interrupted write. Throws OtherChain for an index of another chain. */
export async function loadChain(deps: SyncDeps): Promise<LoadedChain> {
  const { store, source, chain, guard } = deps;
  const { chainId } = source;
  await claimRow(store, guard, { target: checkpoints, key: { chainId } });
  const stored = await getCheckpoint(store, chainId);
  // Before the first checkpoint, block 0 identifies the chain of the discoveries.
  const first = await store.get(headers, { chainId, number: 0 });
  const known = stored?.genesisHash ?? first?.hash;
  if (known !== undefined)
    await requireStoredFinal(deps, indexIdentityOf(store, { chainId, genesisHash: known }, findLastState));
  const genesisHash = await checkGenesis(source, known);
  if (first === undefined)
    await store.write([...guard(), put(headers, [toHeaderRow(chainId, await headerAt(source, 0))])]);
  const protocols = new ProtocolRegistry(chain);
  const registry = await EntityRegistry.load(store, {
    ...{ chainId, kinds: protocols.kinds },
    isVolatile: (kind, stateOf) => protocols.isVolatile(kind, stateOf),
  });
  for (const { kind, id } of protocols.roots()) {
    if (!registry.has(kind, id))
      registry.put(unreadEntityRow({ chainId, kind, id, version: 0, foundBlock: 0 }));
  }
  const checkpoint = stored && (await undoInterrupted(deps, { checkpoint: stored, registry }));
  const tokens = await TokenCache.load(store, chainId);
  const multicall = new Multicall({ source, address: chain.multicall3 });
  const finality = await Finality.open(deps, indexIdentityOf(store, { chainId, genesisHash }, findLastState));
  const memory = new CallMemory();
  const context = { chainId, protocols, registry, tokens, multicall, memory };
  return { context, genesisHash, checkpoint, finality };
}

/**
 * Undoes a write that was killed before its checkpoint (MongoDB). Its blocks are unknown: entities that it discovered are
 * removed. Entities that it read have a block above the checkpoint, and are therefore read again.
 */
async function undoInterrupted(
  deps: SyncDeps,
  { checkpoint, registry }: { checkpoint: CheckpointRow; registry: EntityRegistry },
): Promise<CheckpointRow> {
  const { blockNumber, version } = checkpoint;
  const written = [...registry.rows()].filter((row) => row.version > version);
  if (written.length === 0) return checkpoint;
  const what = `${written.length} entities above block ${blockNumber}`;
  deps.log("info", `An interrupted write left ${what}: they are read again.`);
  const removed = written.filter((row) => row.foundBlock > blockNumber);
  if (removed.length === 0) return checkpoint;
  return rollbackEntities(deps, { checkpoint, above: blockNumber, removed, registry });
}

/** Removes entities, and sets scans that read beyond block `above` back to it. Returns the new checkpoint. */
export async function rollbackEntities(
  { store, guard }: Pick<SyncDeps, "store" | "guard">,
  {
    checkpoint,
    above,
    removed,
    registry,
  }: { checkpoint: CheckpointRow; above: number; removed: readonly EntityRow[]; registry: EntityRegistry },
): Promise<CheckpointRow> {
  const { chainId } = checkpoint;
  const scanned = await store.find(discoveries, { filter: { chainId, blockNumber: { gt: above } } });
  const resumed = rewindScans(scanned, above);
  const next = await writeRollback(store, { checkpoint, removed, discoveries: resumed, guard });
  for (const row of removed) registry.remove(row);
  return next;
}
