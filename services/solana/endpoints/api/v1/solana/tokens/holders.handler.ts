import { toCells } from "../../../../../../shared/contract/cells.ts";
import type { Cell } from "../../../../../../shared/contract/column.ts";
import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import { toWhole } from "../../../../../metrics/amount.ts";
import { computeShare } from "../../../../../metrics/holder-figures.ts";
import { computeValueUsd } from "../../../../../price/limits.ts";
import { answerAtHead } from "../../../../../serve/answer.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { readPriceUsd } from "../../../../../serve/tokens/head-price.ts";
import { findHolders, isCovered } from "../../../../../serve/tokens/holder-figures.ts";
import { findTokenMultiplier } from "../../../../../serve/tokens/ui-amounts.ts";
import { type HolderRow, type TokenRow, tokens } from "../../../../../store/token-collections.ts";
import { endpoint } from "./holders.endpoint.ts";

export function tokenHoldersHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return ({ token_address: mint, limit, offset: skip }, { signal }) =>
    answerAtHead(deps.store, {
      endpoint,
      dataKind: "documents",
      signal,
      read: async ({ time }, store) => {
        const token = await store.get(tokens, { mint });
        if (token === undefined) return [];
        if (!isCovered(token, deps.leastCoverage)) deps.requestHolders(token);
        const rows = await findHolders(store, { token, skip, limit });
        const priceUsd = rows.length === 0 ? null : await readPriceUsd(store, { mint, time });
        return rows.map((row) => cellsOf(row, { token, time, priceUsd }));
      },
    });
}

type Holding = Pick<HolderRow, "owner" | "balance">;

function cellsOf(
  { owner, balance }: Holding,
  { token, time, priceUsd }: { token: TokenRow; time: number; priceUsd: number | null },
): Cell[] {
  const whole = toWhole(balance, token.decimals);
  return toCells(endpoint, {
    account: owner,
    balanceRaw: balance,
    balanceUi: whole * findTokenMultiplier(token, time),
    balanceUSD: computeValueUsd(whole, priceUsd),
    supplyShare: computeShare(balance, token.supply),
  });
}
