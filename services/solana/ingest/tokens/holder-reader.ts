import { pause } from "../../../shared/process/pause.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { remove, type Store } from "../../../shared/storage/port.ts";
import type { SolanaSource, TokenAccountPage } from "../../chain/port.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../chain/program-address.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { holderRequests, type TokenRow, tokens } from "../../store/token-collections.ts";
import type { Indexer } from "../indexer.ts";
import type { SyncHooks, WrittenBatch } from "../sync.ts";
import { HolderImport } from "./holder-import.ts";
import { readTokenAccount } from "./mint-account.ts";

/** Tokens with fewer rows since the process began are read only when they are asked for: nodes search all accounts for it. */
const LEAST_ROWS = 100;
const BETWEEN_MS = 2_000;
const BETWEEN_PAGES_MS = 100;
/** Pause before another attempt for a token. */
const AGAIN_MS = 3_600_000;
/** The same where its mint is not read yet. */
const UNREAD_MS = 10_000;
/** Beyond so many tokens, those with few rows are dropped. */
const MAX_COUNTED = 50_000;
/** Requests looked at. */
const MAX_REQUESTS = 200;
/** Accounts added with a batch: a block is written every 0.4 seconds. */
const ACCOUNTS_A_BATCH = 2_500;
/** With so many accounts waiting to be added, no page is read. */
const MAX_PENDING = 10_000;

export interface HolderReaderDeps {
  readonly store: Store;
  readonly guard: Guard;
  readonly source: Pick<SolanaSource, "accounts" | "largestTokenAccounts" | "tokenAccounts">;
  readonly log: (message: string, fields: Record<string, unknown>) => void;
  /** Milliseconds. */
  readonly now?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly leastRows?: number;
}

/** An import and what is read for it: all accounts, or only the largest where no endpoint serves all. */
interface Reading {
  readonly token: TokenRow;
  readonly added: HolderImport;
  isWhole: boolean;
}

/**
 * Blocks only show holders that move tokens. The others are read from a node, one token after another, and only near the
 * head: first tokens that clients have asked for, then those with most rows since the process began. All accounts of a
 * token where an endpoint serves them, else its 20 largest.
 */
export class HolderReader implements SyncHooks {
  readonly #deps: HolderReaderDeps;
  #counts = new Map<string, number>();
  /** Mints whose accounts were read, or cannot be, with the time of the next attempt. */
  readonly #settled = new Map<string, number>();
  #reading: Reading | undefined;
  #checkpoint: CheckpointRow | undefined;
  #isFollowing = false;

  constructor(deps: HolderReaderDeps) {
    this.#deps = deps;
  }

  async beforeBatch(indexer: Indexer, { checkpoint }: { checkpoint: CheckpointRow }): Promise<void> {
    if (this.#reading === undefined) return;
    const { token, added, isWhole } = this.#reading;
    const holdings = added.take(ACCOUNTS_A_BATCH, checkpoint.slot);
    if (holdings === undefined) return;
    await indexer.addHoldings(token.mint, holdings);
    if (added.isFinished) await indexer.tokens.markHolders(token.mint, { slot: checkpoint.slot, isWhole });
  }

  async afterBatch({
    blocks,
    batch,
    checkpoint,
    isFollowing,
  }: WrittenBatch & { isFollowing: boolean }): Promise<void> {
    this.#checkpoint = checkpoint;
    this.#isFollowing = isFollowing;
    this.#reading?.added.onWritten(blocks, checkpoint);
    for (const { mint } of batch.tokenRows) this.#counts.set(mint, (this.#counts.get(mint) ?? 0) + 1);
    if (this.#counts.size <= MAX_COUNTED) return;
    const halved = [...this.#counts].map(([mint, count]) => [mint, Math.floor(count / 2)] as const);
    this.#counts = new Map(halved.filter(([, count]) => count > 0));
  }

  afterRollback(checkpoint: CheckpointRow): void {
    this.#checkpoint = checkpoint;
    const reading = this.#reading;
    // What an import rests on is final once it reads.
    if (reading !== undefined && checkpoint.slot < reading.added.since) this.#drop(reading);
    else reading?.added.onRollback(checkpoint.slot);
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const wait = this.#deps.pause ?? pause;
    while (!signal.aborted) {
      let hasMore = false;
      try {
        hasMore = await this.readOnce();
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.log("holders could not be read; retrying later", { err: error });
        if (this.#reading !== undefined) this.#drop(this.#reading, AGAIN_MS);
      }
      await wait(hasMore ? BETWEEN_PAGES_MS : BETWEEN_MS, signal);
    }
  }

  /** The next step of the token that is being read, or the choice of the next one; returns whether a page follows. */
  async readOnce(): Promise<boolean> {
    const checkpoint = this.#checkpoint;
    if (!this.#isFollowing || checkpoint === undefined) return false;
    const reading = this.#reading;
    if (reading === undefined) {
      const token = await this.#nextToken();
      if (token !== undefined && this.#reading === undefined) {
        const added = new HolderImport({
          mint: token.mint,
          since: this.#checkpoint?.slot ?? checkpoint.slot,
        });
        this.#reading = { token, added, isWhole: true };
      }
      return false;
    }
    const { added } = reading;
    if (added.isOver) await this.#end(reading);
    if (added.hasReadAll || added.pendingCount >= MAX_PENDING || checkpoint.finalizedSlot < added.since)
      return false;
    const page = await this.#readPage(reading);
    if (this.#reading !== reading) return false;
    if (page === undefined) {
      this.#drop(reading, AGAIN_MS);
      return false;
    }
    added.addPage(page);
    return page.next !== null;
  }

  /** Undefined if no endpoint serves it, or if one is behind what it was asked for. */
  async #readPage(reading: Reading): Promise<TokenAccountPage | undefined> {
    const { token, added } = reading;
    const { since: minSlot, cursor: after } = added;
    const program = token.isToken2022 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM;
    let page = await this.#deps.source.tokenAccounts(token.mint, { program, minSlot, after });
    if (page === undefined && after === null) {
      reading.isWhole = false;
      // Once read, they are read again only where somebody asks for all.
      page = token.holdersSlot === null ? await this.#readLargest(token.mint) : undefined;
    }
    return page !== undefined && page.slot >= minSlot ? page : undefined;
  }

  async #readLargest(mint: string): Promise<TokenAccountPage | undefined> {
    const { source } = this.#deps;
    const largest = await source.largestTokenAccounts(mint);
    if (largest === undefined || largest.length === 0) return undefined;
    const addresses = largest.map(({ address }) => address);
    const { slot, accounts } = await source.accounts(addresses, "finalized");
    const held = accounts.flatMap((account, i) => {
      const facts = account === null ? undefined : readTokenAccount(account);
      if (facts === undefined || facts.mint !== mint || facts.amount === 0n) return [];
      return [{ address: addresses[i] as string, owner: facts.owner, amount: facts.amount }];
    });
    return { slot, accounts: held, next: null };
  }

  /** A token that was asked for, or the one with most rows of those whose accounts were never read. */
  async #nextToken(): Promise<TokenRow | undefined> {
    const { store, leastRows = LEAST_ROWS } = this.#deps;
    const now = this.#now();
    for (const [mint, until] of this.#settled) if (until <= now) this.#settled.delete(mint);
    const asked = await this.#nextRequest();
    if (asked !== undefined) return asked;
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
      if (token !== undefined && token.holdersSlot === null && lacksHolders(token)) return token;
      this.#settled.set(best, this.#now() + (token?.readSlot === null ? UNREAD_MS : AGAIN_MS));
    }
  }

  /** The oldest request that can be served; those of tokens that lack nothing are removed. */
  async #nextRequest(): Promise<TokenRow | undefined> {
    const { store } = this.#deps;
    const requests = await store.find(holderRequests, { limit: MAX_REQUESTS });
    requests.sort((a, b) => a.time - b.time);
    for (const { mint } of requests) {
      if (this.#settled.has(mint)) continue;
      const token = await store.get(tokens, { mint });
      // Not read yet: its accounts follow, and then its holders.
      if (token?.readSlot === null) continue;
      if (token !== undefined && lacksHolders(token)) return token;
      await this.#removeRequest(mint);
    }
    return undefined;
  }

  async #end(reading: Reading): Promise<void> {
    if (reading.isWhole) await this.#removeRequest(reading.token.mint);
    this.#drop(reading, AGAIN_MS);
  }

  async #removeRequest(mint: string): Promise<void> {
    const { store, guard } = this.#deps;
    await store.write([...guard(), remove(holderRequests, [{ mint }])]);
  }

  #drop(reading: Reading, againMs = 0): void {
    this.#settled.set(reading.token.mint, this.#now() + againMs);
    if (this.#reading === reading) this.#reading = undefined;
  }

  #now(): number {
    return (this.#deps.now ?? performance.now.bind(performance))();
  }
}

/** Whether the known holders have less than the supply. Wrapped SOL has none: whoever wraps some mints it. */
function lacksHolders({ supply, held, wholeSlot }: TokenRow): boolean {
  return supply !== null && supply > 0n && wholeSlot === null && held < supply;
}
