import type { Store } from "../../../shared/storage/port.ts";
import { type TraderRow, traders } from "../../store/token-collections.ts";
import type { TimedBlock } from "../timed-block.ts";
import { type Change, DocumentCache } from "./document-cache.ts";
import { findListedMints } from "./traded-mints.ts";

/** When each account last signed a transaction of a token. The signer is the fee payer: a routed trade names other accounts. */
export class TraderState {
  readonly #docs: DocumentCache<typeof traders>;

  constructor(store: Store) {
    this.#docs = new DocumentCache(store, { collection: traders });
  }

  load(blocks: readonly TimedBlock[]): Promise<void> {
    return this.#docs.load(blocks.flatMap(listKeys));
  }

  add(block: TimedBlock): void {
    for (const key of listKeys(block)) {
      const { mint, account } = key;
      this.#docs.set(key, { mint, account, lastTime: block.time });
    }
  }

  take(): Change<TraderRow>[] {
    return this.#docs.take();
  }

  clear(): void {
    this.#docs.clear();
  }
}

function listKeys({ transactions }: TimedBlock) {
  return transactions.flatMap((transaction) =>
    [...findListedMints(transaction)].map((mint) => ({ mint, account: transaction.feePayer })),
  );
}
