import { setTimeout as sleep } from "node:timers/promises";
import {
  type Collection,
  claim,
  collection,
  FailoverError,
  type Fence,
  put,
  putFenced,
  type RowOf,
  requireRow,
  type Store,
  type WriteStep,
} from "./port.ts";

/** One row for each lease, never deleted, so that its fencing token only grows. */
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
  /** Unique for every process and every start of it. */
  readonly holder: string;
  readonly ttlMs: number;
  /** Unix milliseconds; Date.now by default. */
  readonly now?: () => number;
  /** Pause between two reads of a lease that another holds; a quarter of the TTL, at most one second, by default. */
  readonly pollMs?: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

export interface Lease {
  /** The fencing token: grows with every new holder. */
  readonly token: number;
  /** Aborted when another process has the lease, or may have it because it was not renewed in time. */
  readonly lost: AbortSignal;
  /** Extends the lease by its TTL; returns false, and aborts `lost`, if another has it. Also runs in the background. */
  renew(): Promise<boolean>;
  /** Releases the lease, so that the next holder need not wait. Never throws: an unreleased lease expires. */
  release(): Promise<void>;
  /**
   * A step for Store.write that fails with ConflictError once another holds the lease. On SQLite it fences the whole
   * write. On MongoDB steps are not one transaction: put it first, and write the checkpoint by guardedPut.
   * Throws, and aborts `lost`, after a failover of the store: the next holder reads everything again.
   */
  guard(): GuardStep;
}

/** A "require" step that knows the token that it requires. */
export type GuardStep = WriteStep & { readonly token: number };

/** Steps that fail a write once another process holds the lease: see Lease.guard. None in tests without a lease. */
export type Guard = () => readonly (WriteStep | GuardStep)[];

/** The put of a checkpoint: it fails once a later holder of the lease has claimed or written the row. */
export function guardedPut<C extends Collection>(guard: Guard, target: C, row: RowOf<C>): WriteStep[] {
  const steps = guard();
  const fence = fenceOf(steps);
  return [...steps, fence === undefined ? put(target, [row]) : putFenced(target, row, fence)];
}

/** The first write of a new holder, before it reads the checkpoint: no earlier holder writes it from here on. */
export async function claimRow<C extends Collection>(
  store: Store,
  guard: Guard,
  { target, key }: { target: C; key: Partial<RowOf<C>> },
): Promise<void> {
  const fence = fenceOf(guard());
  if (fence !== undefined) await store.write([fence.guard, claim(target, key, fence)]);
}

function fenceOf(steps: readonly (WriteStep | GuardStep)[]): Fence | undefined {
  for (const step of steps) if ("token" in step) return { token: step.token, guard: step };
  return undefined;
}

type LeaseRow = RowOf<typeof leases>;

/**
 * Waits until the lease is free and takes it; undefined if `signal` ends the waiting.
 *
 * Each process judges expiry by its own clock. Different clocks, or a holder that sleeps past its TTL, can make two
 * processes believe that they hold the lease: the guard on each write excludes the older one.
 */
export async function acquireLease(store: Store, options: LeaseOptions): Promise<Lease | undefined> {
  const { signal, ttlMs } = options;
  const pollMs = options.pollMs ?? Math.min(1_000, Math.ceil(ttlMs / 4));
  await store.declare([leases]);
  while (!signal?.aborted) {
    const row = await tryAcquire(store, options);
    if (row !== undefined) return new HeldLease(store, row, options);
    // Jitter: waiters should not poll in step.
    await sleep(pollMs * (0.5 + Math.random()), undefined, signal === undefined ? {} : { signal }).catch(
      () => {},
    );
  }
  return undefined;
}

/** Takes the lease if it is free now; undefined if another holds it. */
export async function tryAcquireLease(store: Store, options: LeaseOptions): Promise<Lease | undefined> {
  await store.declare([leases]);
  const row = await tryAcquire(store, options);
  return row && new HeldLease(store, row, options);
}

/** The current holder and the time to expiry; undefined if the lease is free. */
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
  // A renewal since the read changes expiresAtMs, another waiter's success the token.
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
  /** The server that has the lease's last certain state. */
  readonly #term: string;
  /** Whether it may stand in the store under our name, to be released. */
  #isOurs = true;
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
    this.#term = store.term;
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
    // A renewal hangs: the lease is only certain until the last stored expiry.
    if (this.#renewing !== undefined) {
      if (late) this.#lose(`the lease ${this.#name} was not renewed in time`);
      return;
    }
    this.renew().catch((cause: unknown) => {
      // A failing store does not end the lease before its expiry.
      if (this.#now() >= this.#expiresAtMs)
        this.#lose(`the lease ${this.#name} could not be renewed in time`, cause);
    });
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#isOurs) return;
    this.#lose(`the lease ${this.#name} was released`);
    await this.#renewing?.catch(() => {});
    await this.#store
      .compareAndSet(leases, this.#row(0), { token: this.token, holder: this.#holder })
      .catch(() => {});
  }

  guard(): GuardStep {
    if (this.#store.term !== this.#term) {
      const cause = new FailoverError();
      const isOurs = this.#isOurs;
      this.#lose(`the store of the lease ${this.#name} has failed over`, cause);
      this.#isOurs = isOurs;
      throw cause;
    }
    return {
      ...requireRow(leases, { name: this.#name }, { token: this.token }),
      token: this.token,
    };
  }

  #row(expiresAtMs: number): LeaseRow {
    return { name: this.#name, holder: this.#holder, token: this.token, expiresAtMs };
  }

  #lose(why: string, cause?: unknown): void {
    clearInterval(this.#timer);
    this.#isOurs = false;
    this.#lost.abort(new Error(`Cannot continue as leader: ${why}`, { cause }));
  }
}
