import type { Cache } from "../../../shared/cache/port.ts";
import { type PoolViewKey, REQUESTED, requestedMember, requestedSet } from "../../views/snapshot.ts";

/** Least time between two reports of one pool, and the longest delay of a report. */
const AGAIN_MS = 10_000;
const FLUSH_MS = 500;

/** Reports requested pools to the ingest, through the cache. Costs a request nothing: reports are sent in groups. */
export class RequestedPools {
  readonly #cache: Cache;
  readonly #againMs: number;
  readonly #flushMs: number;
  readonly #sentAtMs = new Map<string, number>();
  readonly #pending = new Map<number, Set<string>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(cache: Cache, { againMs = AGAIN_MS, flushMs = FLUSH_MS } = {}) {
    this.#cache = cache;
    this.#againMs = againMs;
    this.#flushMs = flushMs;
  }

  record(at: PoolViewKey): void {
    const member = requestedMember(at);
    const known = `${at.chainId} ${member}`;
    const nowMs = performance.now();
    if (nowMs - (this.#sentAtMs.get(known) ?? Number.NEGATIVE_INFINITY) < this.#againMs) return;
    if (this.#sentAtMs.size >= REQUESTED.keep) this.#sentAtMs.clear();
    this.#sentAtMs.set(known, nowMs);
    const members = this.#pending.get(at.chainId);
    if (members === undefined) this.#pending.set(at.chainId, new Set([member]));
    else members.add(member);
    this.#timer ??= setTimeout(() => void this.#flush(), this.#flushMs).unref();
  }

  async #flush(): Promise<void> {
    this.#timer = undefined;
    const waiting = [...this.#pending];
    this.#pending.clear();
    for (const [chainId, members] of waiting)
      await this.#cache.touch(requestedSet(chainId), [...members], REQUESTED);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
