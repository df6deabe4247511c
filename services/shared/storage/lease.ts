import { setTimeout as sleep } from "node:timers/promises";
import { type Collection, collection, type RowOf } from "./collection.ts";
import {
  claim,
  FailoverError,
  type Fence,
  put,
  putFenced,
  requireRow,
  type Store,
  type WriteStep,
} from "./port.ts";

/**
 * One row for each lease, never deleted, so that its fencing token only grows. `expiresAtMs` changes with every renewal and
 * is 0 after a release. Nobody compares it with a clock: its date is for people.
 */
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
  /** How long a holder may be silent; the same in all processes. */
  readonly ttlMs: number;
  /** Monotonic milliseconds; performance.now by default. */
  readonly now?: () => number;
  /** Pause between two reads of a lease that another holds; a quarter of the TTL, at most one second, by default. */
  readonly pollMs?: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
  /** Another holds the lease; called once for each holder. */
  readonly onWait?: (holder: string) => void;
  /** The store could not be asked. Without it such an error ends the waiting. */
  readonly onFailure?: (error: unknown) => void;
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
 * A lease is free when it was released, or when the waiter has seen no renewal for the TTL by its own monotonic clock:
 * clocks of machines need not agree. A holder that sleeps past its TTL may still believe that it holds the lease: the
 * guard on each write excludes it.
 */
export async function acquireLease(store: Store, options: LeaseOptions): Promise<Lease | undefined> {
  const { signal, onWait, onFailure } = options;
  const watch = new LeaseWatch(store, options);
  let waitsFor: string | undefined;
  let isDeclared = false;
  while (!signal?.aborted) {
    try {
      // A store that is away now is waited for as one that goes away later.
      if (!isDeclared) await store.declare([leases]);
      isDeclared = true;
      const lease = await watch.tryAcquire();
      if (lease !== undefined) return lease;
      if (watch.holder !== waitsFor) onWait?.(watch.holder ?? "");
      waitsFor = watch.holder;
    } catch (error) {
      if (onFailure === undefined) throw error;
      onFailure(error);
    }
    await watch.pause();
  }
  return undefined;
}

/** Takes the lease once it is certain that nobody holds it; undefined as soon as another has renewed or taken it. */
export async function tryAcquireLease(store: Store, options: LeaseOptions): Promise<Lease | undefined> {
  await store.declare([leases]);
  const watch = new LeaseWatch(store, options);
  for (;;) {
    const lease = await watch.tryAcquire();
    if (lease !== undefined) return lease;
    if (watch.isAlive) {
      options.onWait?.(watch.holder ?? "");
      return undefined;
    }
    await watch.pause();
  }
}

/** The holder that has renewed the lease while we watched; undefined if the lease is free. */
export async function findLeaseHolder(
  store: Store,
  options: Pick<LeaseOptions, "name" | "ttlMs" | "now" | "pollMs">,
): Promise<string | undefined> {
  await store.declare([leases]);
  const watch = new LeaseWatch(store, { ...options, holder: "" });
  for (;;) {
    if (await watch.isFree()) return undefined;
    if (watch.isAlive) return watch.holder;
    await watch.pause();
  }
}

/** What one process has seen of a lease. */
class LeaseWatch {
  readonly #store: Store;
  readonly #options: LeaseOptions;
  readonly #now: () => number;
  #seen: LeaseRow | undefined;
  /** When the row was first read as it is now. */
  #sinceMs = 0;
  #isAlive = false;

  constructor(store: Store, options: LeaseOptions) {
    this.#store = store;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get holder(): string | undefined {
    return this.#seen?.holder;
  }

  /** Whether the lease was renewed or taken while it was watched. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  async isFree(): Promise<boolean> {
    // Before the read: the row is known to be unchanged up to here.
    const nowMs = this.#now();
    const row = await this.#store.get(leases, { name: this.#options.name });
    const before = this.#seen;
    const isSame = before?.token === row?.token && before?.expiresAtMs === row?.expiresAtMs;
    this.#seen = row;
    if (row === undefined || row.expiresAtMs === 0) return true;
    if (isSame) return nowMs - this.#sinceMs >= this.#options.ttlMs;
    this.#isAlive ||= before !== undefined;
    this.#sinceMs = this.#now();
    return false;
  }

  async tryAcquire(): Promise<Lease | undefined> {
    if (!(await this.isFree())) return undefined;
    const { name, holder, ttlMs } = this.#options;
    const seen = this.#seen;
    const takenAtMs = this.#now();
    const expiresAtMs = nextExpiry(seen, ttlMs);
    const mine = { name, holder, token: (seen?.token ?? 0) + 1, expiresAtMs };
    // A renewal since the read changes expiresAtMs, another waiter's success the token.
    const expected = seen === undefined ? null : { token: seen.token, expiresAtMs: seen.expiresAtMs };
    if (await this.#store.compareAndSet(leases, mine, expected))
      return new HeldLease(this.#store, mine, { ...this.#options, takenAtMs });
    // Another was faster.
    this.#isAlive = true;
    return undefined;
  }

  async pause(): Promise<void> {
    const { ttlMs, signal, pollMs = Math.min(1_000, Math.ceil(ttlMs / 4)) } = this.#options;
    // Jitter: waiters should not poll in step.
    const ms = pollMs * (0.5 + Math.random());
    await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  }
}

/** Another value than before, whatever this machine's clock says. */
function nextExpiry(before: LeaseRow | undefined, ttlMs: number): number {
  return Math.max(Date.now() + ttlMs, (before?.expiresAtMs ?? 0) + 1);
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
  #stored: LeaseRow;
  /** By our own clock. */
  #certainUntilMs: number;
  #renewing: Promise<boolean> | undefined;

  constructor(
    store: Store,
    row: LeaseRow,
    { ttlMs, now = () => performance.now(), takenAtMs }: LeaseOptions & { readonly takenAtMs: number },
  ) {
    this.token = row.token;
    this.#store = store;
    this.#name = row.name;
    this.#holder = row.holder;
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#stored = row;
    this.#certainUntilMs = takenAtMs + ttlMs;
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
    const certainUntilMs = this.#now() + this.#ttlMs;
    const row = this.#row(nextExpiry(this.#stored, this.#ttlMs));
    // Even where the answer is lost, the row may be stored.
    this.#stored = row;
    const renewed = await this.#store.compareAndSet(leases, row, {
      token: this.token,
      holder: this.#holder,
    });
    if (renewed) this.#certainUntilMs = certainUntilMs;
    else this.#lose(`another process has taken the lease ${this.#name}`);
    return renewed;
  }

  #renewInBackground(): void {
    const late = this.#now() >= this.#certainUntilMs;
    // A renewal hangs: the lease is only certain until the last stored expiry.
    if (this.#renewing !== undefined) {
      // On SQLite it waits for a write of ours, however slow the disk. Meanwhile nobody can take the lease, which needs the
      // file's lock; nor can we write once another has it: each write is one transaction with its guard.
      if (late && this.#store.engine !== "sqlite")
        this.#lose(`the lease ${this.#name} was not renewed in time`);
      return;
    }
    this.renew().catch((cause: unknown) => {
      // A failing store does not end the lease before its expiry.
      if (this.#now() >= this.#certainUntilMs)
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
