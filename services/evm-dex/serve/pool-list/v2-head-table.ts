import type { Store } from "../../../shared/storage/port.ts";
import { priceFrom, type TokenPrice } from "../../price/link.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getTokens } from "../../store/queries.ts";
import type { RewardTokens, TokenFacts } from "../../views/v2-facts.ts";
import { readAtHead } from "../head.ts";
import { isCurrent, loadTable, updateTable, type V2PoolTable } from "./v2-pool-table.ts";

/** All v2 pools of a chain at the head. */
export interface V2HeadState {
  readonly checkpoint: CheckpointRow;
  readonly table: V2PoolTable;
  readonly tokens: TokenFacts;
}

/** Keeps the table of a chain's v2 pools and brings it to the head when it is read. */
export class V2HeadTable {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #rewards: RewardTokens;
  #headState: V2HeadState | undefined;
  /** A table read while the ingest wrote: it can be updated to a head. */
  #loaded: V2PoolTable | undefined;
  /** One reader at a time: the next ones reuse its state. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store, { chainId, rewards }: { chainId: number; rewards: RewardTokens }) {
    this.#store = store;
    this.#chainId = chainId;
    this.#rewards = rewards;
  }

  /** At one block, the same object as long as that is the head; undefined where nothing is indexed yet. */
  read(): Promise<V2HeadState | undefined> {
    const turn = this.#turn.then(() => this.#readAtHead());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #readAtHead(): Promise<V2HeadState | undefined> {
    const store = this.#store;
    const found = await readAtHead(store, {
      chainId: this.#chainId,
      signal: undefined,
      read: async (checkpoint): Promise<V2HeadState> => {
        const known = this.#headState;
        if (known !== undefined && isSame(known.checkpoint, checkpoint)) return known;
        const base = await this.#tableFor(checkpoint);
        const table = await updateTable(store, { table: base, checkpoint });
        return { checkpoint, table, tokens: await this.#tokensOf(table) };
      },
    });
    // Keeps only what was read between two reads of the same head.
    if (found === undefined) return undefined;
    this.#headState = found.value;
    this.#loaded = undefined;
    return found.value;
  }

  /** A table that can be updated to the checkpoint. */
  async #tableFor(checkpoint: CheckpointRow): Promise<V2PoolTable> {
    for (const table of [this.#loaded, this.#headState?.table]) {
      if (table !== undefined && (await isCurrent(this.#store, { table, checkpoint }))) return table;
    }
    const rewards = this.#rewards.all(this.#chainId);
    this.#loaded = await loadTable(this.#store, { checkpoint, tokens: rewards });
    return this.#loaded;
  }

  async #tokensOf({ links }: V2PoolTable): Promise<TokenFacts> {
    const chainId = this.#chainId;
    const paid = await getTokens(this.#store, { chainId, addresses: this.#rewards.all(chainId) });
    const decimals = new Map(paid.map((row) => [row.address, row.decimals]));
    const prices = new Map<string, TokenPrice | undefined>();
    return {
      price(token) {
        if (prices.has(token)) return prices.get(token);
        const price = priceFrom(token, (name) => links.get(name));
        prices.set(token, price);
        return price;
      },
      decimals: (token) => decimals.get(token),
    };
  }
}

/** The same block of an index that begins at the same block. */
function isSame(a: CheckpointRow, b: CheckpointRow): boolean {
  return a.blockHash === b.blockHash && a.fromBlock === b.fromBlock && a.fromTime === b.fromTime;
}
