import { readUint } from "../../../shared/evm/abi.ts";
import type { EvmSource, Hex } from "../../../shared/evm/port.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { protocolOf } from "../../protocols/index.ts";
import { KINDS } from "../../protocols/protocol.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { listPoolsOfKinds } from "../../store/pool-lists.ts";
import type { PoolBook } from "../state/pool-book.ts";

/** The pools whose LP tokens can move: their Transfers are fetched by address. */
export class WatchedPools {
  readonly #pools: Set<Hex>;

  constructor(pools: Iterable<Hex> = []) {
    this.#pools = new Set(pools);
  }

  has(pool: string): boolean {
    return this.#pools.has(pool as Hex);
  }

  add(pool: string): void {
    this.#pools.add(pool as Hex);
  }

  delete(pool: string): void {
    this.#pools.delete(pool as Hex);
  }

  list(): Hex[] {
    return [...this.#pools];
  }
}

interface AtCheckpoint {
  readonly source: EvmSource;
  readonly pools: PoolBook;
  readonly checkpoint: CheckpointRow;
}

/** Pools whose entries are read at once. */
const PAGE = 1_000;

/** The watched pools at the checkpoint. */
export async function loadWatchedPools(store: Store, at: AtCheckpoint): Promise<WatchedPools> {
  const kinds = KINDS.filter((kind) => protocolOf(kind).lpTokens !== undefined);
  const { chainId } = at.checkpoint;
  const watched = new WatchedPools();
  await watch(watched, await listPoolsOfKinds(store, { chainId, kinds }), at);
  return watched;
}

/** Decides again on pools that were rolled back. */
export async function rewatch(
  watched: WatchedPools,
  { changed, gone, ...at }: AtCheckpoint & { changed: readonly string[]; gone: readonly string[] },
): Promise<void> {
  for (const pool of [...changed, ...gone]) watched.delete(pool);
  const rows = (await at.pools.read(changed)).map(({ row }) => row);
  await watch(
    watched,
    rows.filter(({ protocol }) => protocolOf(protocol).lpTokens !== undefined),
    at,
  );
}

/**
 * The state decides for a pool with events; one that is younger than the index and has none has no LP tokens; an older
 * one is read, and watched where no node has that state.
 */
async function watch(
  watched: WatchedPools,
  listed: readonly { poolAddress: string; protocol: string; createdBlock: number }[],
  { source, pools, checkpoint }: AtCheckpoint,
): Promise<void> {
  const { blockNumber, fromBlock } = checkpoint;
  const unknown: { pool: string; kind: string }[] = [];
  for (let from = 0; from < listed.length; from += PAGE) {
    const page = listed.slice(from, from + PAGE);
    const entries = await pools.read(page.map(({ poolAddress }) => poolAddress));
    const entryOf = new Map(entries.map((entry) => [entry.row.poolAddress, entry]));
    for (const { poolAddress: pool, protocol: kind, createdBlock } of page) {
      const entry = entryOf.get(pool);
      const { lpTokens } = protocolOf(kind);
      if (entry?.anchor !== undefined) {
        if (lpTokens?.isMovable(lpTokens.supply(entry.state)) === true) watched.add(pool);
      } else if (createdBlock < fromBlock) unknown.push({ pool, kind });
    }
  }
  const calls = unknown.flatMap(
    ({ pool, kind }) => protocolOf(kind).lpTokens?.supplyCall(pool, blockNumber) ?? [],
  );
  const results = await source.call(calls);
  unknown.forEach(({ pool, kind }, i) => {
    const supply = results[i];
    const isKnown = typeof supply === "string" && supply.length >= 66;
    if (!isKnown || protocolOf(kind).lpTokens?.isMovable(readUint(supply, 0)) === true) watched.add(pool);
  });
}
