import { toCells } from "../../../../../../shared/contract/cells.ts";
import type { Cell } from "../../../../../../shared/contract/column.ts";
import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import type { Store } from "../../../../../../shared/storage/port.ts";
import { toWhole } from "../../../../../metrics/amount.ts";
import { computeShare } from "../../../../../metrics/holder-figures.ts";
import { computeValueUsd } from "../../../../../price/limits.ts";
import { answerAtHead } from "../../../../../serve/answer.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { readPriceUsd } from "../../../../../serve/tokens/head-price.ts";
import { type HolderRow, holders, type TokenRow, tokens } from "../../../../../store/collections.ts";
import { endpoint } from "./holders.endpoint.ts";

export function tokenHoldersHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return ({ token_address: mint, limit, offset: skip }) =>
    answerAtHead(deps.store, {
      endpoint,
      dataKind: "documents",
      read: async ({ time }, store) => {
        const token = await store.get(tokens, { mint });
        if (token === undefined) return [];
        const rows = await findHolders(store, { mint, skip, limit });
        const priceUsd = rows.length === 0 ? null : await readPriceUsd(store, { mint, time });
        return rows.map((row) => cellsOf(row, { token, priceUsd }));
      },
    });
}

type Holding = Pick<HolderRow, "owner" | "balance">;

/** By the index alone, which holds both: the token accounts of a wallet are many texts. */
function findHolders(
  store: Store,
  { mint, ...page }: { mint: string; skip: number; limit: number },
): Promise<Holding[]> {
  return store.find(holders, {
    filter: { mint },
    order: [
      { field: "balance", direction: "desc" },
      { field: "owner", direction: "asc" },
    ],
    fields: ["owner", "balance"],
    ...page,
  });
}

function cellsOf(
  { owner, balance }: Holding,
  { token, priceUsd }: { token: TokenRow; priceUsd: number | null },
): Cell[] {
  const balanceUi = toWhole(balance, token.decimals);
  return toCells(endpoint, {
    account: owner,
    balanceRaw: balance,
    balanceUi,
    balanceUSD: computeValueUsd(balanceUi, priceUsd),
    supplyShare: computeShare(balance, token.supply),
  });
}
