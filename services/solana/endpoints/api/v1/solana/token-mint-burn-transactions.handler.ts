import { formatDateTime, toCells } from "../../../../../shared/contract/cells.ts";
import type { Cell } from "../../../../../shared/contract/column.ts";
import type { Handler, SortableOf } from "../../../../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../../../../shared/contract/order.ts";
import { resolveWindow } from "../../../../../shared/contract/window.ts";
import type { OrderBy } from "../../../../../shared/storage/port.ts";
import { toWhole } from "../../../../metrics/amount.ts";
import { answerAtHead } from "../../../../serve/answer.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { findSlots } from "../../../../serve/lists/slot-window.ts";
import { readMultiplier } from "../../../../serve/tokens/ui-amounts.ts";
import { type SupplyRow, supplyRows } from "../../../../store/collections.ts";
import { endpoint } from "./token-mint-burn-transactions.endpoint.ts";

type Sortable = SortableOf<typeof endpoint>;

/** What each column is ordered by: "burn" comes before "mint", and a mint's decimals are the same in every row. */
const FIELD_OF: Readonly<Record<Sortable, keyof SupplyRow>> = {
  blockTime: "time",
  blockNumber: "slot",
  txSignature: "signature",
  tokenAddress: "mint",
  operationType: "isMint",
  accountCount: "accountCount",
  authority: "authority",
  amount: "amount",
  amountUI: "amount",
  decimals: "decimals",
};

const NEWEST_FIRST = [
  "slot",
  "transactionIndex",
  "instructionIndex",
  "leg",
] as const satisfies (keyof SupplyRow)[];

export function tokenMintBurnTransactionsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params, { signal }) =>
    answerAtHead(deps.store, {
      endpoint,
      dataKind: "rows",
      signal,
      read: async (checkpoint, store) => {
        const { token_address: mint, offset: skip, limit } = params;
        const range = await findSlots(store, { checkpoint, window: resolveWindow(params, checkpoint.time) });
        if (range === undefined) return [];
        const rows = await store.find(supplyRows, {
          filter: { mint, slot: { gte: range.fromSlot, lte: range.toSlot } },
          order: orderOf(params.order),
          via: supplyRows.key,
          skip,
          limit,
        });
        const multiplier = await readMultiplier(store, { mint, time: checkpoint.time });
        return rows.map((row) => cellsOf(row, multiplier));
      },
    });
}

/**
 * The requested order, then that of the chain; the first mention of a field counts. Rows have no index by column: other
 * orders sort the window's rows. Few mints and burns a token, but for LP and liquid staking tokens with thousands a day.
 */
function orderOf(order: readonly OrderTerm<Sortable>[]): OrderBy<SupplyRow>[] {
  const terms: OrderBy<SupplyRow>[] = order.map(({ field, direction }) => ({
    field: FIELD_OF[field],
    direction,
  }));
  for (const field of NEWEST_FIRST) terms.push({ field, direction: "desc" });
  return terms.filter(({ field }, at) => terms.findIndex((term) => term.field === field) === at);
}

function cellsOf(row: SupplyRow, multiplier: number): Cell[] {
  return toCells(endpoint, {
    blockTime: formatDateTime(row.time),
    blockNumber: row.slot,
    txSignature: row.signature,
    tokenAddress: row.mint,
    operationType: row.isMint ? "mint" : "burn",
    accountCount: row.accountCount,
    authority: row.authority,
    amount: row.amount,
    amountUI: toWhole(row.amount, row.decimals) * multiplier,
    decimals: row.decimals,
  });
}
