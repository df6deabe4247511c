import type { Store } from "../../../shared/storage/port.ts";
import type { BalanceChange } from "../../decode/model.ts";
import {
  type HolderAccountRow,
  type HolderRow,
  holderAccounts,
  holders,
} from "../../store/token-collections.ts";
import { toAccountId } from "../../store/token-number.ts";
import type { TimedBlock } from "../timed-block.ts";
import { type Change, DocumentCache } from "./document-cache.ts";

/** What a wallet holds of a token, before and after a change. */
export interface HoldingChange {
  readonly mint: string;
  readonly before: bigint;
  readonly after: bigint;
}

/** A token account with its owner and balance. */
export interface TokenAccountBalance {
  readonly tokenAccount: string;
  readonly owner: string;
  readonly amount: bigint;
}

type OwnedBalance = Pick<BalanceChange, "mint" | "tokenAccount" | "after"> & { readonly owner: string };

/** Balances of wallets: sums over their token accounts as blocks carry them after each transaction. */
export class HolderState {
  readonly #docs: DocumentCache<typeof holders>;
  readonly #accounts: DocumentCache<typeof holderAccounts>;
  readonly #numberOf: (mint: string) => number | undefined;
  /** Tokens that had no number yet when the batch was loaded: nobody holds any so far. */
  #newMints: ReadonlySet<string> = new Set();

  /** `numberOf` knows the tokens of a batch before it is loaded, new ones once they were added. */
  constructor(store: Store, numberOf: (mint: string) => number | undefined) {
    this.#docs = new DocumentCache(store, { collection: holders });
    this.#accounts = new DocumentCache(store, { collection: holderAccounts });
    this.#numberOf = numberOf;
  }

  load(blocks: readonly TimedBlock[]): Promise<void> {
    return this.#load(
      blocks.flatMap(({ transactions }) => transactions.flatMap(({ balances }) => balances.filter(isOwned))),
    );
  }

  /** Adds the balances after each transaction of a block, whose tokens have their numbers. */
  add({ transactions }: TimedBlock): HoldingChange[] {
    const changes: HoldingChange[] = [];
    for (const { balances } of transactions)
      for (const change of balances) if (isOwned(change)) this.#setBalance(change, changes);
    return changes;
  }

  /** Adds balances of a token's accounts as of the last added block. */
  async put(mint: string, holdings: readonly TokenAccountBalance[]): Promise<HoldingChange[]> {
    const held = holdings.map(({ owner, tokenAccount, amount }) => ({
      mint,
      owner,
      tokenAccount,
      after: amount,
    }));
    await this.#load(held);
    const changes: HoldingChange[] = [];
    for (const each of held) this.#setBalance(each, changes);
    return changes;
  }

  take(): { holders: Change<HolderRow>[]; holderAccounts: Change<HolderAccountRow>[] } {
    return { holders: this.#docs.take(), holderAccounts: this.#accounts.take() };
  }

  clear(): void {
    this.#docs.clear();
    this.#accounts.clear();
  }

  async #load(held: readonly OwnedBalance[]): Promise<void> {
    const newMints = new Set<string>();
    const numbered = held.flatMap(({ mint, owner, tokenAccount }) => {
      const token = this.#numberOf(mint);
      if (token !== undefined) return [{ token, owner, account: toAccountId(tokenAccount) }];
      newMints.add(mint);
      return [];
    });
    this.#newMints = newMints;
    await this.#docs.load(numbered.map(({ token, owner }) => ({ token, owner })));
    await this.#accounts.load(numbered.filter((each) => this.#docs.get(each)?.account === null));
  }

  #setBalance({ mint, owner, tokenAccount, after }: OwnedBalance, changes: HoldingChange[]): void {
    const token = this.#numberOf(mint);
    if (token === undefined) throw new Error(`Token ${mint} has no number.`);
    const key = { token, owner };
    if (this.#newMints.has(mint)) this.#docs.assumeAbsent(key);
    const known = this.#docs.get(key);
    const account = toAccountId(tokenAccount);
    const held = known?.balance ?? 0n;
    const before = this.#readAmount(known, { token, owner, account });
    if (before === after) return;
    const balance = held + after - before;
    const only = known === undefined || known.account === account ? account : null;
    if (only === null) this.#setAmount(known as HolderRow, { token, owner, account, amount: after });
    // Only amounts above zero are stored.
    this.#docs.set(key, balance === 0n ? null : { token, owner, balance, account: only });
    changes.push({ mint, before: held, after: balance });
  }

  /** What one of a wallet's accounts held. */
  #readAmount(known: HolderRow | undefined, key: Omit<HolderAccountRow, "amount">): bigint {
    if (known === undefined) return 0n;
    if (known.account !== null) return known.account === key.account ? known.balance : 0n;
    // Accounts that are not loaded belong to a wallet whose second account came within this batch.
    this.#accounts.assumeAbsent(key);
    return this.#accounts.get(key)?.amount ?? 0n;
  }

  #setAmount(
    { account: only, balance }: HolderRow,
    { token, owner, account, amount }: HolderAccountRow,
  ): void {
    const set = (row: HolderAccountRow) => {
      const key = { token, owner, account: row.account };
      this.#accounts.assumeAbsent(key);
      this.#accounts.set(key, row.amount === 0n ? null : row);
    };
    // From its second account on, a wallet has a row for each.
    if (only !== null) set({ token, owner, account: only, amount: balance });
    set({ token, owner, account, amount });
  }
}

function isOwned(change: BalanceChange): change is BalanceChange & { owner: string } {
  return change.owner !== null;
}
