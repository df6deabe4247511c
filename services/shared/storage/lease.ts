import { setTimeout as sleep } from "node:timers/promises";
import { collection, type RowOf, requireRow, type Store, type WriteStep } from "./port.ts";

/** One row for each lease. It is never deleted, so that its token only ever grows. */
export const leases = collection({
  name: "leases",
  fields: { name: "text", holder: "text", token: "int", expiresAtMs: "int" },
  key: ["name"],
  indexes: [],
  shardKey: ["name"],
});

export interface LeaseOptions {
  /** What is leased, for example "evm-dex-ingest-8453". */
  readonly name: string;
  /** Who asks: different for every process and every start of it. */
  readonly holder: string;
  readonly ttlMs: number;
  /** Unix milliseconds; Date.now by default. */
  readonly now?: () => number;
  /** Pause between two looks at a lease that another holds; a quarter of the TTL, at most one second, by default. */
  readonly pollMs?: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

export interface Lease {
  /** Grows with every new holder: whoever holds a smaller one has been replaced. */
  readonly token: number;
  /** Aborted once the lease is another's, or could be because it was not renewed in time. */
  readonly lost: AbortSignal;
  /** Extends the lease by its TTL; answers false, and aborts `lost`, if another has it. Also done in the background. */
  renew(): Promise<boolean>;
  /** Gives the lease up, so that the next holder need not wait. Never throws: an unreleased lease runs out. */
  release(): Promise<void>;
  /**
   * A step for Store.write that fails with ConflictError once another holds the lease. On SQLite it fences the whole
   * write. On MongoDB steps are not one transaction: put it first, and again before the checkpoint.
   */
  guard(): WriteStep;
}

/** Steps that fail a write once another process holds the lease: see Lease.guard. */
export type Guard = () => readonly WriteStep[];

type LeaseRow = RowOf<typeof leases>;

/**
 * Waits until the lease is free and takes it; undefined if `signal` ends the waiting.
 *
 * Expiry is judged by each process's own clock. Clocks that differ, or a holder that sleeps past its time, can make
 * two processes believe in the lease: writes guarded by the token are what keeps the older one out.
 */
export async function acquireLease(store: Store, options: LeaseOptions): Promise<Lease | undefined> {
  const { signal, ttlMs } = options;
  const pollMs = options.pollMs ?? Math.min(1_000, Math.ceil(ttlMs / 4));
  await store.declare([leases]);
  while (!signal?.aborted) {
    const row = await tryAcquire(store, options);
    if (row !== undefined) return new HeldLease(store, row, options);
    // Half to one and a half pauses: waiters should not look in step.
    await sleep(pollMs * (0.5 + Math.random()), undefined, signal === undefined ? {} : { signal }).catch(
      () => {},
    );
  }
  return undefined;
}

/** Takes the lease if it is free now; undefined where another holds it. */
export async function tryAcquireLease(store: Store, options: LeaseOptions): Promise<Lease | undefined> {
  await store.declare([leases]);
  const row = await tryAcquire(store, options);
  return row && new HeldLease(store, row, options);
}

/** Who holds the lease now, and for how long if it is not renewed; undefined where it is free. */
export async function findLeaseHolder(
  store: Store,
  { name, now = Date.now }: Pick<LeaseOptions, "name" | "now">,
): Promise<{ readonly holder: string; readonly leftMs: number } | undefined> {
  await store.declare([leases]);
  const row = await store.get(leases, { name });
  const leftMs = (row?.expiresAtMs ?? 0) - now();
  return row === undefined || leftMs <= 0 ? undefined : { holder: row.holder, leftMs };
}

async function tryAcquire(
  store: Store,
  { name, holder, ttlMs, now = Date.now }: LeaseOptions,
): Promise<LeaseRow | undefined> {
  const seen = await store.get(leases, { name });
  const nowMs = now();
  if (seen !== undefined && seen.expiresAtMs > nowMs) return undefined;
  const mine = { name, holder, token: (seen?.token ?? 0) + 1, expiresAtMs: nowMs + ttlMs };
  // A renewal since we looked changes expiresAtMs, another waiter's success the token.
  const expected = seen === undefined ? null : { token: seen.token, expiresAtMs: seen.expiresAtMs };
  return (await store.compareAndSet(leases, mine, expected)) ? mine : undefined;
}

class HeldLease implements Lease {
  readonly token: number;
  readonly #store: Store;
  readonly #name: string;
  readonly #holder: string;
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #expiresAtMs: number;
  #renewing: Promise<boolean> | undefined;

  constructor(store: Store, row: LeaseRow, { ttlMs, now = Date.now }: LeaseOptions) {
    this.token = row.token;
    this.#store = store;
    this.#name = row.name;
    this.#holder = row.holder;
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#expiresAtMs = row.expiresAtMs;
    this.#timer = setInterval(() => this.#renewInBackground(), Math.max(1, Math.floor(ttlMs / 4)));
    this.#timer.unref();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  renew(): Promise<boolean> {
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewOnce(): Promise<boolean> {
    if (this.#lost.signal.aborted) return false;
    const expiresAtMs = this.#now() + this.#ttlMs;
    const renewed = await this.#store.compareAndSet(leases, this.#row(expiresAtMs), {
      token: this.token,
      holder: this.#holder,
    });
    if (renewed) this.#expiresAtMs = expiresAtMs;
    else this.#lose(`another process has taken the lease ${this.#name}`);
    return renewed;
  }

  #renewInBackground(): void {
    const late = this.#now() >= this.#expiresAtMs;
    // A renewal that hangs: nothing is certain beyond the time that was last agreed.
    if (this.#renewing !== undefined) {
      if (late) this.#lose(`the lease ${this.#name} was not renewed in time`);
      return;
    }
    this.renew().catch((cause: unknown) => {
      // A store that fails is no reason to stop before the time is up.
      if (this.#now() >= this.#expiresAtMs)
        this.#lose(`the lease ${this.#name} could not be renewed in time`, cause);
    });
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#lost.signal.aborted) return;
    this.#lose(`the lease ${this.#name} was released`);
    await this.#renewing?.catch(() => {});
    await this.#store
      .compareAndSet(leases, this.#row(0), { token: this.token, holder: this.#holder })
      .catch(() => {});
  }

  guard(): WriteStep {
    return requireRow(leases, { name: this.#name }, { token: this.token });
  }

  #row(expiresAtMs: number): LeaseRow {
    return { name: this.#name, holder: this.#holder, token: this.token, expiresAtMs };
  }

  #lose(why: string, cause?: unknown): void {
    clearInterval(this.#timer);
    this.#lost.abort(new Error(`Cannot go on as leader: ${why}`, { cause }));
  }
}
