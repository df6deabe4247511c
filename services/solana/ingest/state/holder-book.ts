import type { Store } from "../../../shared/storage/port.ts";
import type { BalanceChange } from "../../decode/model.ts";
import { type HolderRow, holders } from "../../store/collections.ts";
import type { DecodedBlock } from "../indexer-block.ts";
import { type Change, DocBook } from "./doc-book.ts";

/** Wallets that came to hold a token, less those that do not any more. */
export interface HolderCountChange {
  readonly mint: string;
  readonly delta: 1 | -1;
}

/** A token account with what it holds, and whose it is. */
export interface Holding {
  readonly tokenAccount: string;
  readonly owner: string;
  readonly amount: bigint;
}

/** What wallets hold, over those of their token accounts that were seen. */
export class HolderBook {
  readonly #docs: DocBook<typeof holders>;

  constructor(store: Store) {
    this.#docs = new DocBook(store, { collection: holders });
  }

  load(blocks: readonly DecodedBlock[]): Promise<void> {
    const keys = blocks.flatMap(({ transactions }) =>
      transactions.flatMap(({ balances }) =>
        balances.flatMap(({ mint, owner }) => (owner === null ? [] : [{ mint, owner }])),
      ),
    );
    return this.#docs.load(keys);
  }

  /** Takes in the balances after each transaction of a block. */
  add({ transactions }: DecodedBlock): HolderCountChange[] {
    return transactions.flatMap(({ balances }) => balances.flatMap((change) => this.#hold(change)));
  }

  /** Takes in what accounts of a token hold as of the last block that was added. */
  async put(mint: string, holdings: readonly Holding[]): Promise<HolderCountChange[]> {
    await this.#docs.load(holdings.map(({ owner }) => ({ mint, owner })));
    return holdings.flatMap(({ owner, tokenAccount, amount }) =>
      this.#hold({ mint, owner, tokenAccount, after: amount }),
    );
  }

  take(): Change<HolderRow>[] {
    return this.#docs.take();
  }

  clear(): void {
    this.#docs.clear();
  }

  #hold({
    mint,
    owner,
    tokenAccount,
    after,
  }: Pick<BalanceChange, "mint" | "owner" | "tokenAccount" | "after">): HolderCountChange[] {
    if (owner === null) return [];
    const key = { mint, owner };
    const before = this.#docs.get(key);
    const accounts: Record<string, string> = { ...(before?.accounts as Record<string, string> | undefined) };
    if (after === 0n) delete accounts[tokenAccount];
    else accounts[tokenAccount] = after.toString();
    const amounts = Object.values(accounts);
    if (amounts.length === 0) {
      this.#docs.set(key, null);
      return before === undefined ? [] : [{ mint, delta: -1 }];
    }
    const balance = amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
    this.#docs.set(key, { ...key, balance, accounts });
    return before === undefined ? [{ mint, delta: 1 }] : [];
  }
}
