import type { Cache } from "../../../shared/cache/port.ts";
import { type AsOf, isAsOf } from "../../../shared/contract/as-of.ts";
import type { DataVersion } from "../../../shared/contract/endpoint.ts";
import { versionOf } from "../../../shared/index/evm/checkpoint.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { readSnapshot, type Snapshot, snapshotKey } from "../../views/snapshot.ts";
import type { PoolView } from "../../views/view.ts";
import type { Heads } from "../heads.ts";
import { HeadMemory, isSameHead } from "./head-memory.ts";
import { type PoolKey, readPool, readPoolAt } from "./read-pool.ts";
import { RequestedPools } from "./requested-pools.ts";

/** Where a row came from; `joined`: from a read that was already in flight. */
export type ReadSource = "memory" | "cache" | "store" | "joined";

export interface PoolReaderDeps {
  readonly store: Store;
  readonly heads: Heads;
  /** Snapshots that the ingest wrote ahead. */
  readonly cache?: Cache;
  /** Called for every row returned; `ageMs` since it was computed. */
  readonly onRead?: (read: { source: ReadSource; ageMs: number }) => void;
  /** Called for a malformed snapshot; the store is read in its place. */
  readonly onFailure?: (error: Error) => void;
}

interface PoolResult {
  readonly source: ReadSource;
  readonly snapshot: Snapshot;
  readonly checkpoint: CheckpointRow;
}

/**
 * Reads views of single pools at the head: from this process's memory, the cache or the store, whichever has it
 * first. Only the store decides which block is the head; snapshots of other blocks are ignored.
 */
export class PoolReader {
  readonly #deps: PoolReaderDeps;
  readonly #memory = new HeadMemory();
  readonly #requestedPools: RequestedPools | undefined;
  readonly #inFlight = new Map<string, Promise<PoolResult | undefined>>();

  constructor(deps: PoolReaderDeps) {
    this.#deps = deps;
    if (deps.cache !== undefined) this.#requestedPools = new RequestedPools(deps.cache);
  }

  /** Undefined where the family has no such pool. Throws the view's and the store's errors. */
  async read<R extends object>(
    view: PoolView<R>,
    key: PoolKey,
  ): Promise<{ checkpoint: CheckpointRow; row: R } | undefined> {
    const found = await this.#find(view, key);
    if (found === undefined || found.snapshot.family !== key.family) return undefined;
    const { source, snapshot, checkpoint } = found;
    this.#requestedPools?.record({ ...key, view: view.name });
    this.#deps.onRead?.({ source, ageMs: Math.max(0, Date.now() - snapshot.computedAtMs) });
    return { checkpoint, row: snapshot.row as R };
  }

  /** The same at an earlier block where one is asked for: from the store, as each is asked for by few. */
  async readAsOf<R extends object>(
    view: PoolView<R>,
    key: PoolKey,
    { asOf, signal }: { asOf: AsOf; signal: AbortSignal },
  ): Promise<{ version: DataVersion; row: R } | undefined> {
    if (isAsOf(asOf)) return readPoolAt(this.#deps.store, { view, key, asOf, signal });
    const found = await this.read(view, key);
    return found && { version: versionOf(found.checkpoint), row: found.row };
  }

  async #find(view: PoolView, key: PoolKey): Promise<PoolResult | undefined> {
    const head = this.#deps.heads.current(key.chainId);
    const name = snapshotKey({ ...key, view: view.name });
    if (head !== undefined) {
      const snapshot = this.#memory.get({ chainId: key.chainId, head, key: name });
      if (snapshot !== undefined) return { source: "memory", snapshot, checkpoint: head };
    }
    // By family too: for another family the pool does not exist, and its row is not computed.
    const flight = `${name} ${key.family} ${head?.blockHash}`;
    const underWay = this.#inFlight.get(flight);
    if (underWay !== undefined) {
      const found = await underWay;
      return found && { ...found, source: "joined" };
    }
    const reading = this.#fetch({ view, key, head, name }).finally(() => this.#inFlight.delete(flight));
    this.#inFlight.set(flight, reading);
    return reading;
  }

  async #fetch({
    view,
    key,
    head,
    name,
  }: {
    view: PoolView;
    key: PoolKey;
    head: CheckpointRow | undefined;
    name: string;
  }): Promise<PoolResult | undefined> {
    const cached = head && (await this.#fromCache(name, head));
    const found: PoolResult | undefined =
      cached !== undefined && cached.family === key.family
        ? { source: "cache", snapshot: cached, checkpoint: head as CheckpointRow }
        : await this.#fromStore(view, key);
    if (found === undefined) return undefined;
    const { snapshot, checkpoint } = found;
    // The head may have moved meanwhile: a row of an older block is returned once, and not cached.
    const now = this.#deps.heads.current(key.chainId);
    if (now !== undefined && isSameHead(now, checkpoint)) {
      this.#memory.put({ chainId: key.chainId, head: checkpoint, key: name }, snapshot);
    }
    return found;
  }

  async #fromCache(name: string, head: CheckpointRow): Promise<Snapshot | undefined> {
    const text = await this.#deps.cache?.get(name);
    if (text === undefined) return undefined;
    try {
      return readSnapshot(text, head);
    } catch (error) {
      this.#deps.onFailure?.(error as Error);
      return undefined;
    }
  }

  async #fromStore(view: PoolView, key: PoolKey): Promise<PoolResult | undefined> {
    const { store, heads } = this.#deps;
    const found = await readPool(store, {
      view,
      key,
      seen: (checkpoint, startedMs) => heads.observe(checkpoint, startedMs),
    });
    if (found === undefined) return undefined;
    const snapshot = { family: key.family, row: found.row, computedAtMs: Date.now() };
    return { source: "store", snapshot, checkpoint: found.checkpoint };
  }

  close(): void {
    this.#requestedPools?.close();
  }
}
