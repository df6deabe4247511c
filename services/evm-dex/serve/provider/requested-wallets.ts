import { put, type Store } from "../../../shared/storage/port.ts";
import { walletRequests } from "../../store/v2-collections.ts";
import { listWalletRequests } from "../../store/wallet-queries.ts";

/** Most wallets of a chain that wait for the ingest: whoever invents addresses fills this, and no more. */
export const MAX_WAITING = 100;
/** Least time between two requests of this process for one wallet. */
const AGAIN_MS = 60_000;
/** Requests are written in groups. */
const FLUSH_MS = 200;
const MAX_REMEMBERED = 10_000;

interface WalletKey {
  readonly chainId: number;
  readonly wallet: string;
}

/** Takes wallets whose positions before the index are unknown. */
export interface WalletQueue {
  request(wallet: WalletKey): void;
}

/** Queues wallets in the store, where the ingest finds them; a response never waits for it. */
export class RequestedWallets implements WalletQueue {
  readonly #store: Store;
  readonly #onFailure: (error: unknown) => void;
  readonly #againMs: number;
  readonly #sentAtMs = new Map<string, number>();
  readonly #pending = new Map<number, Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(
    store: Store,
    { onFailure, againMs = AGAIN_MS }: { onFailure: (error: unknown) => void; againMs?: number },
  ) {
    this.#store = store;
    this.#onFailure = onFailure;
    this.#againMs = againMs;
  }

  request({ chainId, wallet }: WalletKey): void {
    if (this.#store.isReadOnly) return;
    const waiting = this.#pending.get(chainId) ?? new Set();
    const key = `${chainId} ${wallet}`;
    const nowMs = performance.now();
    if (nowMs - (this.#sentAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < this.#againMs) return;
    if (waiting.size >= MAX_WAITING) return;
    if (this.#sentAtMs.size >= MAX_REMEMBERED) this.#sentAtMs.clear();
    this.#sentAtMs.set(key, nowMs);
    this.#pending.set(chainId, waiting.add(wallet));
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes what is pending, as far as the queue has room. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const groups = [...this.#pending];
    this.#pending.clear();
    this.#flushing = this.#flushing.then(async () => {
      for (const [chainId, wallets] of groups)
        await this.#enqueue(chainId, [...wallets]).catch(this.#onFailure);
    });
    return this.#flushing;
  }

  async #enqueue(chainId: number, wallets: readonly string[]): Promise<void> {
    const queued = await listWalletRequests(this.#store, { chainId, limit: MAX_WAITING });
    const isQueued = new Set(queued.map(({ wallet }) => wallet));
    const fresh = wallets.filter((wallet) => !isQueued.has(wallet));
    const accepted = fresh.slice(0, MAX_WAITING - queued.length);
    // Those without room may ask again at once.
    for (const wallet of fresh.slice(accepted.length)) this.#sentAtMs.delete(`${chainId} ${wallet}`);
    const requestedAtMs = Date.now();
    await this.#store.write([
      put(
        walletRequests,
        accepted.map((wallet) => ({ chainId, wallet, requestedAtMs })),
      ),
    ]);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#flushing;
  }
}
