import { LRUCache } from "lru-cache";
import { headers } from "../../../shared/index/evm/headers.ts";
import type { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { findWalletsChanges } from "../../store/wallet-queries.ts";
import { type PastPositions, readPastPositions } from "./past-positions.ts";
import { isOfInterest, type Position, readPositions, readSomePositions } from "./positions.ts";

/** Wallets kept; one of 5,000 positions takes some 5 MB. */
const MOST_WALLETS = 32;
/** Below this all is read anew: most wallets have a few positions. All but tests use it. */
const LEAST_POSITIONS = 100;
/** LP events since a wallet was last read; with more it is read anew. */
const MOST_CHANGES = 2_000;

interface WalletQuery {
  readonly chainId: number;
  readonly wallet: string;
  /** Whether what it held before the index is known: if that changes, all is read anew. */
  readonly isKnown: boolean;
  readonly slices: TimeSlices;
}

/** A wallet's positions, and those of interest just before some times. */
export interface WalletPositions {
  readonly all: ReadonlyMap<string, Position>;
  /** Pools whose positions changed since the last read that was kept; undefined: all. */
  readonly changed: ReadonlySet<string> | undefined;
}

interface Kept {
  readonly checkpoint: CheckpointRow;
  readonly isKnown: boolean;
  readonly all: ReadonlyMap<string, Position>;
  readonly times: readonly number[];
  readonly past: PastPositions;
}

/**
 * What was last read of wallets with many positions. At the next head only what changed is read again: while the block
 * that they were read at is still one of the chain, nothing before it has changed.
 */
export class WalletMemory {
  readonly #kept = new LRUCache<string, Kept>({ max: MOST_WALLETS });
  readonly #leastPositions: number;

  constructor({ leastPositions = LEAST_POSITIONS }: { leastPositions?: number } = {}) {
    this.#leastPositions = leastPositions;
  }

  /** The positions now. */
  async readPositions(
    store: Store,
    query: WalletQuery & { checkpoint: CheckpointRow },
  ): Promise<WalletPositions> {
    const kept = this.#kept.get(keyOf(query));
    const changed = kept && (await findChanges(store, kept, query));
    if (kept === undefined || changed === undefined) {
      const all = await readPositions(store, query);
      return { all: new Map(all.map((position) => [position.poolAddress, position])), changed: undefined };
    }
    const all = new Map(kept.all);
    for (const position of await readSomePositions(store, { ...query, pools: [...changed] }))
      all.set(position.poolAddress, position);
    return { all, changed };
  }

  /** What positions were just before some times, ascending. */
  async readPast(
    store: Store,
    query: WalletQuery & { positions: WalletPositions; since: number; times: readonly number[] },
  ): Promise<PastPositions> {
    const { positions, since, times } = query;
    const kept = this.#kept.get(keyOf(query));
    const { changed } = positions;
    const isSame =
      kept !== undefined && changed !== undefined && times.every((time, i) => time === kept.times[i]);
    const wanted = [...(isSame ? changed : positions.all.keys())].flatMap((pool) => {
      const position = positions.all.get(pool);
      return position !== undefined && isOfInterest(position, since) ? [position] : [];
    });
    const read = await readPastPositions(store, { ...query, positions: wanted });
    return isSame ? new Map([...kept.past, ...read]) : read;
  }

  /** Keeps what was read, once all of it is known to be of the checkpoint's block. */
  keep(
    query: WalletQuery,
    read: {
      checkpoint: CheckpointRow;
      positions: WalletPositions;
      times: readonly number[];
      past: PastPositions;
    },
  ): void {
    const { checkpoint, past, positions, times } = read;
    if (positions.all.size < this.#leastPositions) return;
    this.#kept.set(keyOf(query), { checkpoint, isKnown: query.isKnown, all: positions.all, times, past });
  }
}

function keyOf({ chainId, wallet }: WalletQuery): string {
  return `${chainId}:${wallet}`;
}

/** The pools whose positions changed since; undefined where that cannot be told. */
async function findChanges(
  store: Store,
  { checkpoint: before, isKnown }: Kept,
  query: WalletQuery & { checkpoint: CheckpointRow },
): Promise<Set<string> | undefined> {
  const { chainId, checkpoint: now, wallet } = query;
  if (isKnown !== query.isKnown || before.fromBlock !== now.fromBlock) return undefined;
  if (now.blockNumber < before.blockNumber) return undefined;
  const header = await store.get(headers, { chainId, number: before.blockNumber });
  if (header?.hash !== before.blockHash) return undefined;
  const changes = await findWalletsChanges(store, {
    chainId,
    after: before.blockNumber,
    limit: MOST_CHANGES,
  });
  if (changes.length === MOST_CHANGES) return undefined;
  return new Set(changes.filter((change) => change.wallet === wallet).map(({ poolAddress }) => poolAddress));
}
