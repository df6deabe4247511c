import type { Cache } from "../../shared/cache/port.ts";
import { ASKED, askedMember, askedSet, type PoolAt } from "../views/snapshot.ts";

/** How often one pool is told again, and how long what is asked for may wait to be told. */
const AGAIN_MS = 10_000;
const FLUSH_MS = 500;

/** Tells the ingest, through the cache, which pools are asked for. Costs a request nothing: they are told together. */
export class AskedPools {
  readonly #cache: Cache;
  readonly #again: number;
  readonly #flushMs: number;
  readonly #toldAtMs = new Map<string, number>();
  readonly #waiting = new Map<number, Set<string>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(cache: Cache, { againMs = AGAIN_MS, flushMs = FLUSH_MS } = {}) {
    this.#cache = cache;
    this.#again = againMs;
    this.#flushMs = flushMs;
  }

  note(at: PoolAt): void {
    const member = askedMember(at);
    const known = `${at.chainId} ${member}`;
    const nowMs = performance.now();
    if (nowMs - (this.#toldAtMs.get(known) ?? Number.NEGATIVE_INFINITY) < this.#again) return;
    if (this.#toldAtMs.size >= ASKED.keep) this.#toldAtMs.clear();
    this.#toldAtMs.set(known, nowMs);
    const members = this.#waiting.get(at.chainId);
    if (members === undefined) this.#waiting.set(at.chainId, new Set([member]));
    else members.add(member);
    this.#timer ??= setTimeout(() => void this.#flush(), this.#flushMs).unref();
  }

  async #flush(): Promise<void> {
    this.#timer = undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [chainId, members] of waiting) await this.#cache.touch(askedSet(chainId), [...members], ASKED);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
