import type { EvmSource } from "../../../shared/evm/port.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { PoolRow, TokenRow } from "../../store/collections.ts";
import type { CreatedPool } from "../fetch/block-batch.ts";
import { readPoolRows } from "./pool-rows.ts";
import { type ReadTokens, TokenReader } from "./token-reader.ts";

export interface PoolAndTokenRows {
  readonly pools: readonly PoolRow[];
  /** Those that the store did not have. */
  readonly tokens: readonly TokenRow[];
}

interface Foreseen {
  readonly created: CreatedPool;
  /** Of all pools that were foreseen together. */
  readonly rows: Promise<PoolAndTokenRows>;
}

/**
 * Rows of new pools and of tokens seen for the first time. A pool takes three or four requests in turn, each as long as the
 * way to the node and back: in a backfill they are begun when its blocks arrive, not when it is their turn to be added.
 */
export class PoolRowReader {
  readonly #source: EvmSource;
  readonly #tokenReader: TokenReader;
  /** By pool. */
  readonly #foreseen = new Map<string, Foreseen>();

  constructor(store: Store, source: EvmSource, readTokens?: ReadTokens) {
    this.#source = source;
    this.#tokenReader = new TokenReader(store, source, readTokens);
  }

  /** Begins to read the rows of pools that `read` will be asked for. */
  foresee(created: readonly CreatedPool[]): void {
    if (created.length === 0) return;
    const rows = this.#readAtHead(created);
    // Awaited later, or never: until then a failure must not count as unhandled.
    rows.catch(() => {});
    for (const pool of created) this.#foreseen.set(pool.pool, { created: pool, rows });
  }

  /**
   * The rows of these pools; what was foreseen and could not be read is read again. Nodes must have the state of `block`.
   */
  async read(
    created: readonly CreatedPool[],
    { block }: { readonly block: number },
  ): Promise<PoolAndTokenRows> {
    const found = await this.#takeForeseen(created);
    const has = new Set(found.pools.map(({ poolAddress }) => poolAddress));
    const late = await this.#readNow(
      created.filter(({ pool }) => !has.has(pool)),
      block,
    );
    return { pools: [...found.pools, ...late.pools], tokens: [...found.tokens, ...late.tokens] };
  }

  async #takeForeseen(created: readonly CreatedPool[]): Promise<PoolAndTokenRows> {
    const groups = new Map<Promise<PoolAndTokenRows>, Set<string>>();
    for (const { pool, block } of created) {
      const known = this.#foreseen.get(pool);
      this.#foreseen.delete(pool);
      if (known === undefined || known.created.block !== block) continue;
      const group = groups.get(known.rows);
      if (group === undefined) groups.set(known.rows, new Set([pool]));
      else group.add(pool);
    }
    const pools: PoolRow[] = [];
    const tokens: TokenRow[] = [];
    for (const [rows, wanted] of groups) {
      const read = await rows.catch(() => undefined);
      if (read === undefined) continue;
      pools.push(...read.pools.filter(({ poolAddress }) => wanted.has(poolAddress)));
      tokens.push(...read.tokens);
    }
    return { pools, tokens };
  }

  async #readAtHead(created: readonly CreatedPool[]): Promise<PoolAndTokenRows> {
    const { number } = await this.#source.head();
    return this.#readNow(created, number);
  }

  #readNow(created: readonly CreatedPool[], block: number): Promise<PoolAndTokenRows> {
    const { chainId } = this.#source;
    return readPoolRows(
      { tokenReader: this.#tokenReader, source: this.#source },
      { chainId, created, block },
    );
  }
}
