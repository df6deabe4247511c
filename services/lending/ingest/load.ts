import { Finality, requireStoredFinal } from "../../shared/evm/finality/finality.ts";
import { checkGenesis, headerAt } from "../../shared/evm/finality/genesis.ts";
import { Multicall } from "../../shared/evm/multicall/multicall.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import { rewindScans } from "../../shared/index/evm/discovery.ts";
import { indexIdentityOf } from "../../shared/index/evm/fork.ts";
import { headers, toHeaderRow } from "../../shared/index/evm/headers.ts";
import type { SyncContext } from "../../shared/index/follow-head.ts";
import { put } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import { type CheckpointRow, discoveries, type UnitRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { unreadRow } from "./discover.ts";
import { findLastState } from "./fork.ts";
import type { ChainMetrics } from "./metrics.ts";
import type { PassTools } from "./pass.ts";
import { ProtocolTable } from "./protocol-table.ts";
import { TokenBook } from "./token-book.ts";
import { UnitBook } from "./unit-book.ts";
import { writeGone } from "./write.ts";

export interface SyncDeps extends SyncContext {
  readonly source: EvmSource;
  readonly chain: ChainDeployments;
  /** A unit's state is not to be older than this, in seconds of the chain. */
  readonly refreshSeconds: number;
  readonly metrics?: ChainMetrics | undefined;
}

/** A chain as the store has it. */
export interface LoadedChain {
  readonly tools: PassTools;
  readonly genesisHash: string;
  readonly finality: Finality;
  /** Undefined before the first pass. */
  readonly checkpoint: CheckpointRow | undefined;
}

/** Loads what is stored, and takes back what an interrupted write found. Throws OtherChain where it is of another chain. */
export async function loadChain(deps: SyncDeps): Promise<LoadedChain> {
  const { store, source, chain, guard } = deps;
  const { chainId } = source;
  const stored = await getCheckpoint(store, chainId);
  // Before the first checkpoint, block 0 tells whose chain the discoveries are of.
  const first = await store.get(headers, { chainId, number: 0 });
  const known = stored?.genesisHash ?? first?.hash;
  if (known !== undefined)
    await requireStoredFinal(deps, indexIdentityOf(store, { chainId, genesisHash: known }, findLastState));
  const genesisHash = await checkGenesis(source, known);
  if (first === undefined)
    await store.write([...guard(), put(headers, [toHeaderRow(chainId, await headerAt(source, 0))])]);
  const protocols = new ProtocolTable(chain);
  const book = await UnitBook.load(store, { chainId, kinds: protocols.kinds });
  for (const { kind, id } of protocols.roots()) {
    if (!book.has(kind, id)) book.put(unreadRow({ chainId, kind, id, version: 0, foundBlock: 0 }));
  }
  const checkpoint = stored && (await undoInterrupted(deps, { checkpoint: stored, book }));
  const tokens = await TokenBook.load(store, chainId);
  const multicall = new Multicall({ source, address: chain.multicall3 });
  const finality = await Finality.open(deps, indexIdentityOf(store, { chainId, genesisHash }, findLastState));
  return { tools: { chainId, protocols, book, tokens, multicall }, genesisHash, checkpoint, finality };
}

/**
 * On MongoDB a write may have been killed before its checkpoint, and nobody knows any more on which blocks: units that
 * it found are taken back. Those that it read are read again, which their block tells.
 */
async function undoInterrupted(
  deps: SyncDeps,
  { checkpoint, book }: { checkpoint: CheckpointRow; book: UnitBook },
): Promise<CheckpointRow> {
  const { blockNumber, version } = checkpoint;
  const written = [...book.rows()].filter((row) => row.version > version);
  if (written.length === 0) return checkpoint;
  const what = `${written.length} units beyond block ${blockNumber}`;
  deps.log("info", `An interrupted write left ${what}: they are read again.`);
  const gone = written.filter((row) => row.foundBlock > blockNumber);
  return gone.length === 0 ? checkpoint : takeBack(deps, { checkpoint, above: blockNumber, gone, book });
}

/** Takes units back, and scans that went further than block `above` to there. Returns the checkpoint. */
export async function takeBack(
  { store, guard }: Pick<SyncDeps, "store" | "guard">,
  of: { checkpoint: CheckpointRow; above: number; gone: readonly UnitRow[]; book: UnitBook },
): Promise<CheckpointRow> {
  const { checkpoint, above, gone, book } = of;
  const { chainId } = checkpoint;
  const scanned = await store.find(discoveries, { filter: { chainId, blockNumber: { gt: above } } });
  const back = rewindScans(scanned, above);
  const next = await writeGone(store, { checkpoint, gone, discoveries: back, guard });
  for (const row of gone) book.remove(row);
  return next;
}
