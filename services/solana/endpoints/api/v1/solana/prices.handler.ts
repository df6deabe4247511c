import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { priceCells } from "../../../../../shared/service/price-cells.ts";
import { answerAtHead } from "../../../../serve/answer.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { toTokenPrice } from "../../../../serve/prices.ts";
import { loadPrices } from "../../../../serve/tokens/head-price.ts";
import { findTokenMultiplier } from "../../../../serve/tokens/ui-amounts.ts";
import { tokens as tokenDocuments } from "../../../../store/token-collections.ts";
import { endpoint } from "./prices.endpoint.ts";

export function pricesHandler({ store }: Pick<ServeDeps, "store">): Handler<typeof endpoint> {
  return ({ tokens }, { signal }) =>
    answerAtHead(store, {
      endpoint,
      dataKind: "documents",
      signal,
      read: async ({ slot, time }, view) => {
        const mints = [...new Set(tokens)];
        const [book, documents] = await Promise.all([
          loadPrices(view, mints),
          view.getMany(
            tokenDocuments,
            mints.map((mint) => ({ mint })),
          ),
        ]);
        const known = new Map(documents.map((document) => [document.mint, document]));
        return tokens.map((mint) => {
          const price = toTokenPrice(book, { mint, time });
          const document = known.get(mint);
          const multiplier = document === undefined ? 1 : findTokenMultiplier(document, time);
          const { priceUsd, ...cells } = priceCells(price, time);
          return toCells(endpoint, {
            token: mint,
            symbol: document?.symbol ?? null,
            // Per multiplied token, as in candles and in what wallets show.
            priceUsd: priceUsd === null ? null : priceUsd / multiplier,
            ...cells,
            slot,
            blockTime: time,
            nullReason: priceUsd !== null ? null : document === undefined ? "unknown_token" : "no_path",
          });
        });
      },
    });
}
