import { pause } from "../../../shared/process/pause.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { MAX_ACCOUNTS_PER_REQUEST, type SolanaSource } from "../../chain/port.ts";
import { metadataAddress } from "../../chain/program-address.ts";
import { type CheckpointRow, supplyRows } from "../../store/collections.ts";
import { type TokenRow, tokens } from "../../store/token-collections.ts";
import type { Indexer } from "../indexer.ts";
import type { TokenDescription } from "../state/token-state.ts";
import type { SyncHooks, WrittenBatch } from "../sync.ts";
import { describeToken, findDescribedMint } from "./describe.ts";

/** A mint and its metadata account each. */
const TOKENS_PER_REQUEST = MAX_ACCOUNTS_PER_REQUEST / 2;
/** Snapshots that wait to be written with blocks. */
const MAX_PENDING = 4;
/** Tokens to read again at most: a dropped one is due again a day later. */
const MAX_DUE = 10_000;

const BETWEEN_MS = 200;
const IDLE_MS = 1_000;
const AFTER_FAILURE_MS = 10_000;

/** Tokens as their accounts were at a final slot. */
interface TokenSnapshot {
  readonly slot: number;
  readonly descriptions: ReadonlyMap<string, TokenDescription>;
}

export interface TokenReaderDeps {
  readonly store: Store;
  readonly source: Pick<SolanaSource, "accounts">;
  readonly log: (message: string, fields: Record<string, unknown>) => void;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Reads mint and metadata accounts of tokens, in parallel to the indexing: of each token once, again when an instruction
 * may have changed it, and when it moves a day later. Until then name and symbol are empty and all that the accounts
 * contain is null. Accounts are read as of final slots, which never roll back; the index adds later mints and burns.
 */
export class TokenReader implements SyncHooks {
  readonly #deps: TokenReaderDeps;
  /** Accounts that instructions may have changed, with the slot of the last one. */
  readonly #changed = new Map<string, number>();
  readonly #stale = new Set<string>();
  readonly #pending: TokenSnapshot[] = [];
  /** Mints that are being read or written. */
  readonly #inProgress = new Set<string>();
  #prepared: TokenSnapshot[] = [];
  #checkpoint: CheckpointRow | undefined;
  #indexer: Indexer | undefined;

  constructor(deps: TokenReaderDeps) {
    this.#deps = deps;
  }

  async beforeBatch(indexer: Indexer, { checkpoint }: { checkpoint: CheckpointRow }): Promise<void> {
    this.#indexer = indexer;
    this.#prepared = this.#pending.splice(0);
    for (const reading of this.#prepared) {
      await indexer.tokens.describe(await addLaterSupply(this.#deps.store, { reading, checkpoint }));
    }
  }

  async afterBatch({ blocks, checkpoint }: WrittenBatch): Promise<void> {
    this.#checkpoint = checkpoint;
    for (const { descriptions } of this.#prepared)
      for (const mint of descriptions.keys()) this.#inProgress.delete(mint);
    this.#prepared = [];
    for (const { slot, changedMetadata } of blocks) {
      for (const address of changedMetadata) {
        this.#changed.delete(address);
        this.#changed.set(address, slot);
      }
    }
    for (const mint of this.#indexer?.tokens.takeStale() ?? []) this.#stale.add(mint);
    for (const due of [this.#changed, this.#stale])
      for (const oldest of due.keys()) if (due.size > MAX_DUE) due.delete(oldest);
  }

  /** Until the signal. Failures are logged and retried later. */
  async run(signal: AbortSignal): Promise<void> {
    const wait = this.#deps.pause ?? pause;
    while (!signal.aborted) {
      try {
        const hasRead = await this.readOnce();
        await wait(hasRead ? BETWEEN_MS : IDLE_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.log("tokens could not be read; retrying later", { err: error });
        await wait(AFTER_FAILURE_MS, signal);
      }
    }
  }

  /** Reads the next tokens that are due; returns whether there were any. */
  async readOnce(): Promise<boolean> {
    const finalSlot = this.#checkpoint && Math.min(this.#checkpoint.finalizedSlot, this.#checkpoint.slot);
    if (finalSlot === undefined || this.#pending.length >= MAX_PENDING) return false;
    const hasResolved = await this.#resolveChanged(finalSlot);
    const due = await this.#nextTokens(finalSlot);
    if (due.length === 0) return hasResolved;
    for (const { mint } of due) this.#inProgress.add(mint);
    try {
      await this.#read(due);
    } catch (error) {
      for (const { mint } of due) this.#inProgress.delete(mint);
      throw error;
    }
    return true;
  }

  async #read(due: readonly TokenRow[]): Promise<void> {
    const addresses = [...due.map(({ mint }) => mint), ...due.map(({ mint }) => metadataAddress(mint))];
    const { slot, accounts } = await this.#deps.source.accounts(addresses, "finalized");
    const descriptions = new Map<string, TokenDescription>();
    for (const [i, token] of due.entries()) {
      // The node is behind and may not know the token yet.
      if (slot < token.foundSlot || slot < (token.readSlot ?? 0)) {
        this.#inProgress.delete(token.mint);
        continue;
      }
      const mintAccount = accounts[i] ?? null;
      const metadataAccount = accounts[due.length + i] ?? null;
      descriptions.set(token.mint, describeToken(token, { mintAccount, metadataAccount, slot }));
      this.#stale.delete(token.mint);
    }
    this.#pending.push({ slot, descriptions });
  }

  /** Finds the tokens of changed accounts whose slots have become final. */
  async #resolveChanged(finalSlot: number): Promise<boolean> {
    const final = [...this.#changed]
      .filter(([, slot]) => slot <= finalSlot)
      .slice(0, MAX_ACCOUNTS_PER_REQUEST);
    if (final.length === 0) return false;
    const { slot, accounts } = await this.#deps.source.accounts(
      final.map(([address]) => address),
      "finalized",
    );
    const changedAt = new Map<string, number>();
    for (const [i, [address, changedSlot]] of final.entries()) {
      if (slot < changedSlot) continue;
      if (this.#changed.get(address) === changedSlot) this.#changed.delete(address);
      const mint = findDescribedMint(address, accounts[i] ?? null);
      if (mint !== undefined) changedAt.set(mint, changedSlot);
    }
    const known = await this.#deps.store.getMany(
      tokens,
      [...changedAt.keys()].map((mint) => ({ mint })),
    );
    for (const { mint, readSlot } of known)
      if (readSlot !== null && readSlot < (changedAt.get(mint) ?? 0)) this.#stale.add(mint);
    return true;
  }

  /** Tokens that may have changed, then those never read. */
  async #nextTokens(finalSlot: number): Promise<TokenRow[]> {
    const { store } = this.#deps;
    const again = [...this.#stale].filter((mint) => !this.#inProgress.has(mint)).slice(0, TOKENS_PER_REQUEST);
    const rows = await store.getMany(
      tokens,
      again.map((mint) => ({ mint })),
    );
    for (const mint of again) if (!rows.some((row) => row.mint === mint)) this.#stale.delete(mint);
    const unread = await store.find(tokens, {
      filter: { readSlot: null },
      limit: 2 * TOKENS_PER_REQUEST + this.#inProgress.size,
    });
    for (const row of unread) {
      if (rows.length >= TOKENS_PER_REQUEST) break;
      if (row.foundSlot <= finalSlot && !this.#inProgress.has(row.mint)) rows.push(row);
    }
    return rows;
  }
}

/** Adds the indexed mints and burns after the accounts' slot. */
async function addLaterSupply(
  store: Store,
  { reading, checkpoint }: { reading: TokenSnapshot; checkpoint: CheckpointRow },
): Promise<ReadonlyMap<string, TokenDescription>> {
  const { slot, descriptions } = reading;
  if (checkpoint.slot <= slot) return descriptions;
  const added = await Promise.all(
    [...descriptions].map(async ([mint, description]) => {
      const later = await store.find(supplyRows, {
        filter: { mint, slot: { gt: slot } },
        fields: ["isMint", "amount"],
      });
      const supply = later.reduce(
        (sum, { isMint, amount }) => sum + (isMint ? amount : -amount),
        description.supply ?? 0n,
      );
      return [mint, { ...description, supply: supply < 0n ? 0n : supply }] as const;
    }),
  );
  return new Map(added);
}
