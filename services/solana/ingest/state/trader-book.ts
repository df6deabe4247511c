import type { Store } from "../../../shared/storage/port.ts";
import { type TraderRow, traders } from "../../store/collections.ts";
import type { DecodedBlock } from "../indexer-block.ts";
import { type Change, DocBook } from "./doc-book.ts";
import { listedMints } from "./traded-mints.ts";

/** When each account last signed a transaction of a token. The signer is the fee payer: a routed trade has others beneath. */
export class TraderBook {
  readonly #docs: DocBook<typeof traders>;

  constructor(store: Store) {
    this.#docs = new DocBook(store, { collection: traders });
  }

  load(blocks: readonly DecodedBlock[]): Promise<void> {
    return this.#docs.load(blocks.flatMap(keysOf));
  }

  add(block: DecodedBlock): void {
    for (const key of keysOf(block)) this.#docs.set(key, { ...key, lastTime: block.time });
  }

  take(): Change<TraderRow>[] {
    return this.#docs.take();
  }

  clear(): void {
    this.#docs.clear();
  }
}

function keysOf({ transactions }: DecodedBlock) {
  return transactions.flatMap((transaction) =>
    [...listedMints(transaction)].map((mint) => ({ mint, account: transaction.feePayer })),
  );
}
