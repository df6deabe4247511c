import type { Store } from "../../../shared/storage/port.ts";
import { EMPTY_POSITION, type LpPosition, positionText } from "../../metrics/lp-position.ts";
import type { PositionChange } from "../../protocols/protocol.ts";
import type { LpEventRow, LpPositionRow } from "../../store/v2-collections.ts";
import { getPositions } from "../../store/v2-queries.ts";
import { RecentRows } from "./recent-rows.ts";

/** Most positions kept in memory between writes. */
const MAX_POSITIONS = 20_000;

/** Key of a position: its pool and wallet. */
export interface PositionKey {
  readonly poolAddress: string;
  readonly wallet: string;
}

interface CachedPosition extends PositionKey {
  position: LpPosition;
  readonly anchor: LpPosition;
  /** Undefined before its first event. */
  seen: { readonly firstTime: number; readonly lastTime: number; readonly lastBlock: number } | undefined;
}

interface EventPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly blockHash: string;
  readonly time: number;
}

/**
 * The LP positions of one chain's wallets. Every event leaves a row with the position after it, so that the position
 * at any block is its last row up to it.
 */
export class LpBook {
  readonly #store: Store;
  readonly #chainId: number;
  /** By pool and wallet. */
  readonly #positions = new RecentRows<string, CachedPosition>(MAX_POSITIONS, "addresses");
  readonly #events: LpEventRow[] = [];
  readonly #dirty = new Set<CachedPosition>();

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /** Loads the positions that will change; returns those that are not stored. */
  async prepare(holdings: Iterable<PositionKey>): Promise<PositionKey[]> {
    const wanted = new Map<string, PositionKey>();
    for (const holding of holdings) {
      const { poolAddress, wallet } = holding;
      if (this.#positions.get(poolAddress, wallet) === undefined) wanted.set(keyOf(holding), holding);
    }
    if (wanted.size === 0) return [];
    const stored = await getPositions(this.#store, {
      chainId: this.#chainId,
      positions: [...wanted.values()].map(({ wallet, poolAddress }) => ({ wallet, poolAddress })),
    });
    for (const { wallet, poolAddress, position, anchor, firstTime, lastTime, lastBlock } of stored) {
      wanted.delete(keyOf({ wallet, poolAddress }));
      this.#positions.set(poolAddress, wallet, {
        poolAddress,
        wallet,
        position: positionText.read(position),
        anchor: positionText.read(anchor),
        seen: { firstTime, lastTime, lastBlock },
      });
    }
    return [...wanted.values()];
  }

  /** Sets the position of a wallet before its first event; default empty. */
  anchor(holding: PositionKey, position: LpPosition): void {
    const { poolAddress, wallet } = holding;
    const cached = { poolAddress, wallet, position, anchor: position, seen: undefined };
    this.#positions.set(poolAddress, wallet, cached);
  }

  add(poolAddress: string, change: PositionChange, at: EventPosition): void {
    const { wallet } = change;
    const { blockNumber, logIndex, blockHash, time } = at;
    if (this.#positions.get(poolAddress, wallet) === undefined)
      this.anchor({ poolAddress, wallet }, EMPTY_POSITION);
    const cached = this.#positions.get(poolAddress, wallet) as CachedPosition;
    cached.position = change.after(cached.position);
    cached.seen = { firstTime: cached.seen?.firstTime ?? time, lastTime: time, lastBlock: blockNumber };
    this.#dirty.add(cached);
    this.#events.push({
      chainId: this.#chainId,
      blockNumber,
      logIndex,
      wallet,
      poolAddress,
      blockHash,
      time,
      position: positionText.write(cached.position),
    });
  }

  /** Returns the rows that changed since the last flush. */
  flush(): { events: LpEventRow[]; positions: LpPositionRow[] } {
    const positions = [...this.#dirty].map((cached) => this.#toRow(cached));
    this.#dirty.clear();
    this.#positions.age();
    return { events: this.#events.splice(0), positions };
  }

  /** Forgets the positions in pools that were rolled back in the store. */
  forget(pools: Iterable<string>): void {
    for (const pool of pools) this.#positions.forget(pool);
  }

  #toRow({ poolAddress, wallet, position, anchor, seen }: CachedPosition): LpPositionRow {
    return {
      chainId: this.#chainId,
      wallet,
      poolAddress,
      position: positionText.write(position),
      anchor: positionText.write(anchor),
      ...(seen as NonNullable<typeof seen>),
    };
  }
}

function keyOf({ poolAddress, wallet }: PositionKey): string {
  return `${poolAddress}:${wallet}`;
}
