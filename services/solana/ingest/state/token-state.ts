import type { Mutable } from "../../../shared/mutable.ts";
import type { RowOf } from "../../../shared/storage/collection.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { DecodedTransaction, SupplyChange } from "../../decode/model.ts";
import { type BalanceCounts, bucketOf, changeCounts } from "../../metrics/balance-buckets.ts";
import { type TokenRow, tokenFragments, tokens } from "../../store/token-collections.ts";
import { toTokenNumber } from "../../store/token-number.ts";
import { listFragments } from "../../store/token-search.ts";
import type { TimedBlock } from "../timed-block.ts";
import { type Change, DocumentCache } from "./document-cache.ts";
import type { HoldingChange } from "./holder-state.ts";

/** Of 0.4 seconds. */
const SLOTS_IN_DAY = 216_000;

/** Contents of a token's mint and metadata accounts. */
export type TokenDescription = Pick<
  TokenRow,
  | "symbol"
  | "name"
  | "decimals"
  | "supply"
  | "mintAuthority"
  | "freezeAuthority"
  | "isToken2022"
  | "extensions"
  | "mutableMetadata"
  | "readSlot"
>;

/** How a token's holders changed since the last batch. */
interface HolderChanges {
  count: number;
  held: bigint;
  /** By bucket of their balances. */
  readonly buckets: Map<number, number>;
}

/** Tokens, from the first block that moves them. */
export class TokenState {
  readonly #docs: DocumentCache<typeof tokens>;
  readonly #fragments: DocumentCache<typeof tokenFragments>;
  readonly #stale = new Set<string>();
  readonly #holders = new Map<string, HolderChanges>();

  constructor(store: Store) {
    this.#docs = new DocumentCache(store, { collection: tokens });
    this.#fragments = new DocumentCache(store, { collection: tokenFragments });
  }

  load(blocks: readonly TimedBlock[]): Promise<void> {
    const mints = new Set<string>();
    for (const { transactions } of blocks) {
      for (const { balances, events } of transactions) {
        for (const { mint } of balances) mints.add(mint);
        for (const event of events) for (const { mint } of listTokens(event)) mints.add(mint);
      }
    }
    return this.#docs.load([...mints].map((mint) => ({ mint })));
  }

  /** Adds new tokens, and mints and burns of those with a known supply. */
  add({ slot, transactions }: TimedBlock): void {
    const seen = new Set<string>();
    let added = 0;
    const addIfNew = (token: { mint: string; decimals: number; isToken2022?: boolean }) => {
      if (seen.has(token.mint)) return;
      seen.add(token.mint);
      if (this.#isKnown(token.mint, slot)) return;
      const { mint, decimals, isToken2022 = false } = token;
      this.#add({ mint, decimals, isToken2022, slot, number: toTokenNumber(slot, added++) });
    };
    for (const { balances, events } of transactions) {
      for (const balance of balances) addIfNew(balance);
      for (const event of events) {
        for (const token of listTokens(event)) addIfNew(token);
        if ("mint" in event) this.#changeSupply(event, slot);
      }
    }
  }

  #changeSupply({ kind, mint, amount }: SupplyChange, slot: number): void {
    const token = this.#docs.get({ mint }) as TokenRow;
    // The account's supply includes mints and burns up to its slot.
    if (token.supply === null || token.readSlot === null || token.readSlot >= slot) return;
    const supply = token.supply + (kind === "mint" ? amount : -amount);
    this.#docs.set({ mint }, { ...token, supply: supply < 0n ? 0n : supply });
  }

  /** The number of a loaded token; undefined of one that is not known yet. */
  numberOf(mint: string): number | undefined {
    return this.#docs.find({ mint })?.number;
  }

  changeHolding({ mint, before, after }: HoldingChange): void {
    let changes = this.#holders.get(mint);
    if (changes === undefined) {
      changes = { count: 0, held: 0n, buckets: new Map() };
      this.#holders.set(mint, changes);
    }
    changes.held += after - before;
    for (const [balance, step] of [
      [before, -1],
      [after, 1],
    ] as const) {
      if (balance === 0n) continue;
      changes.count += step;
      const bucket = bucketOf(balance);
      changes.buckets.set(bucket, (changes.buckets.get(bucket) ?? 0) + step);
    }
  }

  /** Adds contents of accounts to known tokens. Written with the next batch. */
  async describe(described: ReadonlyMap<string, TokenDescription>): Promise<void> {
    await this.#docs.load([...described.keys()].map((mint) => ({ mint })));
    const rows = [...described].flatMap(([mint, description]) => {
      const token = this.#docs.get({ mint });
      return token === undefined ? [] : [{ before: token, after: { ...token, ...description } }];
    });
    const old = rows.flatMap(({ before }) => toFragmentRows(before));
    const fresh = rows.flatMap(({ after }) => toFragmentRows(after));
    await this.#fragments.load([...old, ...fresh]);
    for (const row of old) this.#fragments.set(row, null);
    for (const row of fresh) this.#fragments.set(row, row);
    for (const { after } of rows) this.#docs.set({ mint: after.mint }, after);
  }

  /** Records since which slot a token's accounts are known, the largest or all. */
  async markHolders(mint: string, known: { slot: number; isWhole: boolean }): Promise<void> {
    await this.#docs.load([{ mint }]);
    const token = this.#docs.get({ mint });
    if (token === undefined) return;
    const { slot, isWhole } = known;
    this.#docs.set({ mint }, { ...token, holdersSlot: slot, ...(isWhole && { wholeSlot: slot }) });
  }

  /** Tokens that moved since the last call, though their accounts were last read more than a day ago. */
  takeStale(): string[] {
    const stale = [...this.#stale];
    this.#stale.clear();
    return stale;
  }

  /** Before balances of its accounts are put. */
  async loadOne(mint: string): Promise<void> {
    await this.#docs.load([{ mint }]);
  }

  take(): { tokens: Change<TokenRow>[]; tokenFragments: Change<RowOf<typeof tokenFragments>>[] } {
    this.#countHolders();
    return { tokens: this.#docs.take(), tokenFragments: this.#fragments.take() };
  }

  clear(): void {
    this.#docs.clear();
    this.#fragments.clear();
    this.#holders.clear();
  }

  #countHolders(): void {
    for (const [mint, { count, held, buckets }] of this.#holders) {
      const token = this.#docs.get({ mint });
      if (token === undefined) continue;
      const changed: Mutable<TokenRow> = { ...token };
      changed.holderCount += count;
      changed.held += held;
      changed.balanceCounts = changeCounts(token.balanceCounts as BalanceCounts, buckets);
      this.#docs.set({ mint }, changed);
    }
    this.#holders.clear();
  }

  #isKnown(mint: string, slot: number): boolean {
    const known = this.#docs.get({ mint });
    if (known === undefined) return false;
    if (known.readSlot !== null && slot - known.readSlot > SLOTS_IN_DAY) this.#stale.add(mint);
    return true;
  }

  #add(seen: { mint: string; decimals: number; isToken2022: boolean; slot: number; number: number }): void {
    const { mint, decimals, isToken2022, slot, number } = seen;
    const token: TokenRow = {
      mint,
      number,
      symbol: "",
      name: "",
      decimals,
      supply: null,
      mintAuthority: null,
      freezeAuthority: null,
      isToken2022,
      extensions: null,
      mutableMetadata: null,
      holderCount: 0,
      held: 0n,
      balanceCounts: [],
      readSlot: null,
      holdersSlot: null,
      wholeSlot: null,
      foundSlot: slot,
    };
    this.#docs.set({ mint }, token);
  }
}

/** The tokens of an event; lamports count as wrapped SOL. */
function listTokens(event: DecodedTransaction["events"][number]): { mint: string; decimals: number }[] {
  if ("mint" in event) return [event];
  const sides =
    event.kind === "trade"
      ? [
          { mint: event.tokenIn, decimals: event.decimalsIn },
          { mint: event.tokenOut, decimals: event.decimalsOut },
        ]
      : [
          { mint: event.tokenA, decimals: event.decimalsA },
          { mint: event.tokenB, decimals: event.decimalsB },
        ];
  // A liquidity change may name only the token that moved.
  return sides.filter(({ mint }) => mint !== "");
}

function toFragmentRows({ number, symbol, name }: TokenRow): RowOf<typeof tokenFragments>[] {
  return [...listFragments(symbol, name)].map((fragment) => ({ fragment, symbol, token: number }));
}
