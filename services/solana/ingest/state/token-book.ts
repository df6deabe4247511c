import type { RowOf, Store } from "../../../shared/storage/port.ts";
import { type TokenRow, tokenFragments, tokens } from "../../store/collections.ts";
import { fragmentsOf } from "../../store/token-search.ts";
import type { DecodedBlock } from "../indexer-block.ts";
import { type Change, DocBook } from "./doc-book.ts";
import type { HolderCountChange } from "./holder-book.ts";

/** What a token's mint and metadata accounts say. */
export type TokenDescription = Omit<TokenRow, "mint" | "holderCount" | "foundSlot">;

/** Tokens, from the first block that moves one. */
export class TokenBook {
  readonly #docs: DocBook<typeof tokens>;
  readonly #fragments: DocBook<typeof tokenFragments>;

  constructor(store: Store) {
    this.#docs = new DocBook(store, { collection: tokens });
    this.#fragments = new DocBook(store, { collection: tokenFragments });
  }

  load(blocks: readonly DecodedBlock[]): Promise<void> {
    const mints = blocks.flatMap(({ transactions }) =>
      transactions.flatMap(({ balances, events }) => [
        ...balances.map(({ mint }) => mint),
        ...events.flatMap((event) => ("mint" in event ? [event.mint] : [])),
      ]),
    );
    return this.#docs.load([...new Set(mints)].map((mint) => ({ mint })));
  }

  /** Takes in new tokens, and mints and burns of those whose supply is known. */
  add({ slot, transactions }: DecodedBlock): void {
    for (const { balances, events } of transactions) {
      for (const { mint, decimals, isToken2022 } of balances)
        this.#meet({ mint, decimals, isToken2022, slot });
      for (const event of events) {
        if (event.kind !== "mint" && event.kind !== "burn") continue;
        const { mint, decimals, amount } = event;
        const token = this.#meet({ mint, decimals, isToken2022: false, slot });
        // The account that was read had the mints and burns up to its slot in it.
        if (token.supply === null || token.readSlot === null || token.readSlot >= slot) continue;
        const supply = token.supply + (event.kind === "mint" ? amount : -amount);
        this.#docs.set({ mint }, { ...token, supply: supply < 0n ? 0n : supply });
      }
    }
  }

  countHolders({ mint, delta }: HolderCountChange): void {
    const token = this.#docs.get({ mint });
    if (token !== undefined) this.#docs.set({ mint }, { ...token, holderCount: token.holderCount + delta });
  }

  /** Puts in what accounts said, of tokens that are known. To be written with the next batch. */
  async describe(described: ReadonlyMap<string, TokenDescription>): Promise<void> {
    await this.#docs.load([...described.keys()].map((mint) => ({ mint })));
    const rows = [...described].flatMap(([mint, description]) => {
      const token = this.#docs.get({ mint });
      return token === undefined ? [] : [{ before: token, after: { ...token, ...description } }];
    });
    const old = rows.flatMap(({ before }) => fragmentRows(before));
    const fresh = rows.flatMap(({ after }) => fragmentRows(after));
    await this.#fragments.load([...old, ...fresh]);
    for (const row of old) this.#fragments.set(row, null);
    for (const row of fresh) this.#fragments.set(row, row);
    for (const { after } of rows) this.#docs.set({ mint: after.mint }, after);
  }

  take(): { tokens: Change<TokenRow>[]; tokenFragments: Change<RowOf<typeof tokenFragments>>[] } {
    return { tokens: this.#docs.take(), tokenFragments: this.#fragments.take() };
  }

  clear(): void {
    this.#docs.clear();
    this.#fragments.clear();
  }

  #meet(seen: { mint: string; decimals: number; isToken2022: boolean; slot: number }): TokenRow {
    const { mint, decimals, isToken2022, slot } = seen;
    const known = this.#docs.get({ mint });
    if (known !== undefined) return known;
    const token: TokenRow = {
      mint,
      symbol: "",
      name: "",
      decimals,
      supply: null,
      mintAuthority: null,
      freezeAuthority: null,
      isToken2022,
      transferFeeBps: null,
      nonTransferable: null,
      mutableMetadata: null,
      holderCount: 0,
      readSlot: null,
      foundSlot: slot,
    };
    this.#docs.set({ mint }, token);
    return token;
  }
}

function fragmentRows({ mint, symbol, name }: TokenRow): RowOf<typeof tokenFragments>[] {
  return [...fragmentsOf(symbol, name)].map((fragment) => ({ fragment, symbol, mint }));
}
