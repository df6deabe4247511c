import type { Store } from "../../../shared/storage/port.ts";
import type { BalanceChange } from "../../decode/model.ts";
import { type HolderAccountRow, type HolderRow, holderAccounts, holders } from "../../store/collections.ts";
import type { TimedBlock } from "../timed-block.ts";
import { type Change, DocumentCache } from "./document-cache.ts";

/** Change of a token's holder count. */
export interface HolderCountChange {
  readonly mint: string;
  readonly delta: 1 | -1;
}

/** A token account with its owner and balance. */
export interface TokenAccountBalance {
  readonly tokenAccount: string;
  readonly owner: string;
  readonly amount: bigint;
}

/** Wallets with more accounts of a token have a row for each: otherwise every change would write the whole list. */
const MAX_LISTED = 8;

type OwnedBalance = Pick<BalanceChange, "mint" | "tokenAccount" | "after"> & { readonly owner: string };

/** Balances of wallets: sums over their token accounts as blocks carry them after each transaction. */
export class HolderState {
  readonly #docs: DocumentCache<typeof holders>;
  readonly #accounts: DocumentCache<typeof holderAccounts>;

  constructor(store: Store) {
    this.#docs = new DocumentCache(store, { collection: holders });
    this.#accounts = new DocumentCache(store, { collection: holderAccounts });
  }

  load(blocks: readonly TimedBlock[]): Promise<void> {
    return this.#load(
      blocks.flatMap(({ transactions }) => transactions.flatMap(({ balances }) => balances.filter(isOwned))),
    );
  }

  /** Adds the balances after each transaction of a block. */
  add({ transactions }: TimedBlock): HolderCountChange[] {
    const counted: HolderCountChange[] = [];
    for (const { balances } of transactions) {
      for (const change of balances) {
        if (!isOwned(change)) continue;
        const delta = this.#setBalance(change);
        if (delta !== 0) counted.push({ mint: change.mint, delta });
      }
    }
    return counted;
  }

  /** Adds balances of a token's accounts as of the last added block. */
  async put(mint: string, holdings: readonly TokenAccountBalance[]): Promise<HolderCountChange[]> {
    const held = holdings.map(({ owner, tokenAccount, amount }) => ({
      mint,
      owner,
      tokenAccount,
      after: amount,
    }));
    await this.#load(held);
    return held.flatMap((each) => {
      const delta = this.#setBalance(each);
      return delta === 0 ? [] : [{ mint, delta }];
    });
  }

  take(): { holders: Change<HolderRow>[]; holderAccounts: Change<HolderAccountRow>[] } {
    return { holders: this.#docs.take(), holderAccounts: this.#accounts.take() };
  }

  clear(): void {
    this.#docs.clear();
    this.#accounts.clear();
  }

  async #load(held: readonly OwnedBalance[]): Promise<void> {
    await this.#docs.load(held.map(({ mint, owner }) => ({ mint, owner })));
    const listed = held.filter((each) => this.#docs.get(each)?.accounts === null);
    await this.#accounts.load(
      listed.map(({ mint, owner, tokenAccount }) => ({ mint, owner, account: tokenAccount })),
    );
  }

  /** Returns the change of the token's holder count. */
  #setBalance(held: OwnedBalance): -1 | 0 | 1 {
    const { mint, owner, tokenAccount, after } = held;
    const key = { mint, owner };
    const known = this.#docs.get(key);
    if (known === undefined) {
      if (after === 0n) return 0;
      this.#docs.set(key, { mint, owner, balance: after, accounts: [tokenAccount, after.toString()] });
      return 1;
    }
    const listed = known.accounts as readonly string[] | null;
    const { before, accounts } = listed === null ? this.#setInRow(held) : this.#setInList(listed, held);
    if (before === after) return 0;
    const balance = known.balance + after - before;
    // Only amounts above zero are stored.
    this.#docs.set(key, balance === 0n ? null : { mint, owner, balance, accounts });
    return balance === 0n ? -1 : 0;
  }

  #setInList(listed: readonly string[], { mint, owner, tokenAccount, after }: OwnedBalance) {
    let before = 0n;
    const accounts: string[] = [];
    for (let i = 0; i < listed.length; i += 2) {
      if (listed[i] === tokenAccount) before = BigInt(listed[i + 1] as string);
      else accounts.push(listed[i] as string, listed[i + 1] as string);
    }
    if (before === after) return { before, accounts: listed };
    if (after > 0n) accounts.push(tokenAccount, after.toString());
    if (accounts.length <= 2 * MAX_LISTED) return { before, accounts };
    for (let i = 0; i < accounts.length; i += 2) {
      const key = { mint, owner, account: accounts[i] as string };
      this.#accounts.assumeAbsent(key);
      this.#accounts.set(key, { ...key, amount: BigInt(accounts[i + 1] as string) });
    }
    return { before, accounts: null };
  }

  #setInRow({ mint, owner, tokenAccount, after }: OwnedBalance) {
    const key = { mint, owner, account: tokenAccount };
    // Accounts that are not loaded belong to a wallet whose list became rows within this batch.
    this.#accounts.assumeAbsent(key);
    const before = this.#accounts.get(key)?.amount ?? 0n;
    if (before !== after) this.#accounts.set(key, after === 0n ? null : { ...key, amount: after });
    return { before, accounts: null };
  }
}

function isOwned(change: BalanceChange): change is BalanceChange & { owner: string } {
  return change.owner !== null;
}
