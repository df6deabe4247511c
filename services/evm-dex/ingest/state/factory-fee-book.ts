import type { Store } from "../../../shared/storage/port.ts";
import type { Factory } from "../../deployments.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { DefaultFeeCalls } from "../../protocols/protocol.ts";
import type { FactoryFeeRow } from "../../store/v2-collections.ts";
import { listFactoryFees } from "../../store/v2-queries.ts";
import type { StateSource } from "../reads/block-states.ts";
import { lastTurn, numberOf } from "../turns.ts";
import { parseFee } from "./fee-book.ts";

/**
 * Three minutes of Base. Fewer blocks than the 128 whose state every node keeps, and 432 requests of two calls a day
 * and factory, however many pools it has.
 */
export const FACTORY_FEE_BLOCKS = 100;

/**
 * Reads the default fees of factories that change them without an event, at one block in FACTORY_FEE_BLOCKS. The block
 * follows from the factory and the head alone, so that the store is a function of the chain; a rollback removes fees
 * read beyond it.
 */
export class FactoryFeeBook {
  readonly #chainId: number;
  readonly #factories: readonly { readonly address: string; readonly calls: DefaultFeeCalls }[];
  /** Block of the fees that are stored. */
  readonly #readAtBlock = new Map<string, number>();

  constructor(chainId: number, factories: readonly Pick<Factory, "address" | "kind">[]) {
    this.#chainId = chainId;
    this.#factories = factories.flatMap(({ address, kind }) => {
      const calls = protocolOf(kind).defaultFeeCalls;
      return calls === undefined ? [] : [{ address, calls }];
    });
  }

  static async load(
    store: Store,
    chain: { chainId: number; factories: readonly Pick<Factory, "address" | "kind">[] },
  ): Promise<FactoryFeeBook> {
    const book = new FactoryFeeBook(chain.chainId, chain.factories);
    for (const { factory, block } of await listFactoryFees(store, chain.chainId))
      book.#readAtBlock.set(factory, block);
    return book;
  }

  /** Forgets fees read beyond a block, as the store does. */
  rollback(target: number): void {
    for (const [factory, block] of this.#readAtBlock) if (block > target) this.#readAtBlock.delete(factory);
  }

  /** Reads the fees that are due at `head`; null where a call fails, as before the factory existed. */
  async refresh(source: StateSource, { head }: { head: number }): Promise<FactoryFeeRow[]> {
    const due = this.#factories
      .map((factory) => ({ ...factory, block: lastFactoryTurn(factory.address, head) }))
      .filter(({ address, block }) => block >= 0 && (this.#readAtBlock.get(address) ?? -1) < block);
    if (due.length === 0) return [];
    const results = await source.call(due.flatMap(({ address, calls, block }) => calls(address, block)));
    return due.map(({ address, block }, i) => {
      this.#readAtBlock.set(address, block);
      const [volatileFee, stableFee] = [parseFee(results[2 * i]), parseFee(results[2 * i + 1])];
      return { chainId: this.#chainId, factory: address, volatileFee, stableFee, block };
    });
  }
}

/** The last block up to `head` at which the factory's fees are read; negative where there was none. */
export function lastFactoryTurn(factory: string, head: number): number {
  return lastTurn(head, { every: FACTORY_FEE_BLOCKS, phase: numberOf(factory) });
}
