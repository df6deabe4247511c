import { pause } from "../../../shared/process/pause.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { SolanaSource } from "../../chain/port.ts";
import { type CheckpointRow, tokens } from "../../store/collections.ts";
import type { Indexer } from "../indexer.ts";
import type { TokenAccountBalance } from "../state/holder-state.ts";
import type { SyncHooks, WrittenBatch } from "../sync.ts";
import { readTokenAccount } from "./mint-account.ts";

/** Tokens with fewer rows since the process began are skipped: nodes search all accounts for a response. */
const LEAST_ROWS = 100;
const BETWEEN_MS = 2_000;
/** Pause before another attempt for a token. */
const AGAIN_MS = 3_600_000;
/** Beyond so many tokens, those with few rows are dropped. */
const MAX_COUNTED = 50_000;

/** The largest accounts of a token as of a slot. */
interface HolderSnapshot {
  readonly mint: string;
  readonly slot: number;
  readonly holdings: readonly TokenAccountBalance[];
}

export interface HolderReaderDeps {
  readonly store: Store;
  readonly source: Pick<SolanaSource, "accounts" | "largestTokenAccounts">;
  readonly log: (message: string, fields: Record<string, unknown>) => void;
  /** Milliseconds. */
  readonly now?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly leastRows?: number;
}

/**
 * Blocks only show holders that move tokens; a token's 20 largest accounts show those that do not. They are read once, for
 * the token with most rows since the process began that has none yet, one token every two seconds, and only near the
 * head. A snapshot is as of a slot, and is added when the index reaches that slot.
 */
export class HolderReader implements SyncHooks {
  readonly #deps: HolderReaderDeps;
  #counts = new Map<string, number>();
  /** Mints whose accounts were read, or cannot be, with the time of the next attempt. */
  readonly #settled = new Map<string, number>();
  #snapshot: HolderSnapshot | undefined;
  #checkpoint: CheckpointRow | undefined;
  #isFollowing = false;

  constructor(deps: HolderReaderDeps) {
    this.#deps = deps;
  }

  async beforeBatch(
    indexer: Indexer,
    { checkpoint, nextSlot }: { checkpoint: CheckpointRow; nextSlot: number },
  ): Promise<void> {
    const snapshot = this.#snapshot;
    if (snapshot === undefined || nextSlot <= snapshot.slot) return;
    this.#snapshot = undefined;
    // The index has passed it: adding it would revert later transfers.
    if (checkpoint.slot > snapshot.slot) this.#settled.delete(snapshot.mint);
    else await indexer.addHolders(snapshot);
  }

  async afterBatch({
    batch,
    checkpoint,
    isFollowing,
  }: WrittenBatch & { isFollowing: boolean }): Promise<void> {
    this.#checkpoint = checkpoint;
    this.#isFollowing = isFollowing;
    for (const { mint } of batch.tokenRows) this.#counts.set(mint, (this.#counts.get(mint) ?? 0) + 1);
    if (this.#counts.size <= MAX_COUNTED) return;
    const halved = [...this.#counts].map(([mint, count]) => [mint, Math.floor(count / 2)] as const);
    this.#counts = new Map(halved.filter(([, count]) => count > 0));
  }

  /** The added balances were rolled back, or the snapshot's slot was. */
  afterRollback(): void {
    this.#snapshot = undefined;
    this.#settled.clear();
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const wait = this.#deps.pause ?? pause;
    while (!signal.aborted) {
      try {
        await this.readOnce();
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.log("holders could not be read; retrying later", { err: error });
      }
      await wait(BETWEEN_MS, signal);
    }
  }

  /** Reads the largest accounts of the next token, if there is one and no snapshot is pending. */
  async readOnce(): Promise<void> {
    if (!this.#isFollowing || this.#snapshot !== undefined) return;
    const mint = await this.#nextToken();
    if (mint === undefined) return;
    const { source } = this.#deps;
    this.#settled.set(mint, this.#now() + AGAIN_MS);
    const largest = await source.largestTokenAccounts(mint);
    if (largest === undefined || largest.length === 0) return;
    const addresses = largest.map(({ address }) => address);
    const { slot, accounts } = await source.accounts(addresses, "confirmed");
    if (slot < (this.#checkpoint?.slot ?? 0)) {
      this.#settled.delete(mint);
      return;
    }
    const holdings = accounts.flatMap((account, i): TokenAccountBalance[] => {
      const facts = account === null ? undefined : readTokenAccount(account);
      if (facts === undefined || facts.mint !== mint) return [];
      return [{ tokenAccount: addresses[i] as string, owner: facts.owner, amount: facts.amount }];
    });
    this.#snapshot = { mint, slot, holdings };
  }

  /** The token with most rows of those whose accounts were never read. */
  async #nextToken(): Promise<string | undefined> {
    const { store, leastRows = LEAST_ROWS } = this.#deps;
    const now = this.#now();
    for (const [mint, until] of this.#settled) if (until <= now) this.#settled.delete(mint);
    for (;;) {
      let best: string | undefined;
      let most = leastRows - 1;
      for (const [mint, count] of this.#counts) {
        if (count <= most || this.#settled.has(mint)) continue;
        best = mint;
        most = count;
      }
      if (best === undefined) return undefined;
      const token = await store.get(tokens, { mint: best });
      if (token !== undefined && token.holdersSlot === null) return best;
      this.#settled.set(best, Number.POSITIVE_INFINITY);
    }
  }

  #now(): number {
    return (this.#deps.now ?? performance.now.bind(performance))();
  }
}
