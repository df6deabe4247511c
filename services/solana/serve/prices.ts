import { ServiceError } from "../../shared/errors.ts";
import { type PriceSource, SOLANA_CHAIN_ID, type TokenPrice } from "../../shared/grpc/types.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { PriceTracker } from "../price/price-tracker.ts";
import { toPriceRow } from "../store/price-row.ts";
import { readAtHead } from "./head.ts";
import { loadPrices } from "./tokens/head-price.ts";

/** USD prices at the indexed head, for gRPC peers: what values rows, candles and holders. */
export function createPriceSource(store: Store): PriceSource {
  return {
    async getPrices({ block, chainId, tokens }) {
      if (chainId !== SOLANA_CHAIN_ID)
        throw new ServiceError("not_found", `Chain ${chainId} is not indexed here: chain 0, Solana, is.`);
      const found = await readAtHead(store, {
        dataKind: "documents",
        signal: undefined,
        read: async ({ time }, view) => {
          const book = await loadPrices(view, tokens);
          return tokens.map((mint) => toTokenPrice(book, { mint, time }));
        },
      });
      if (found === undefined)
        throw new ServiceError("unavailable", "No slot of Solana is indexed yet.", { retryAfterSeconds: 5 });
      const { checkpoint, value: prices } = found;
      if (block !== undefined && block !== checkpoint.slot)
        throw new ServiceError(
          "not_found",
          `Prices of slot ${block} are not kept: Solana has those of its head, slot ${checkpoint.slot}.`,
        );
      return { block: checkpoint.slot, blockTime: checkpoint.time, prices };
    },
  };
}

/** A token's price as of a time, with what it rests on. */
export function toTokenPrice(book: PriceTracker, { mint, time }: { mint: string; time: number }): TokenPrice {
  const price = book.price(mint, time);
  if (price === undefined) return { token: mint, usd: null, hops: 0, depthUsd: null };
  const { depthUsd, hops, restUsd, usd } = price;
  const entry = book.entry(mint);
  if (entry === undefined) return { token: mint, usd, hops, depthUsd: null };
  const { parent, pool, time: changedAt } = toPriceRow(entry);
  const departed = entry.used?.departure !== undefined;
  return { token: mint, usd, hops, depthUsd, origin: { pool, parent, restUsd, changedAt, departed } };
}
