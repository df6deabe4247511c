import { toCells } from "../../../shared/contract/cells.ts";
import type { Handler } from "../../../shared/contract/endpoint.ts";
import { versionOf } from "../../../shared/index/evm/checkpoint.ts";
import { priceCells } from "../../../shared/service/price-cells.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { ServeDeps } from "../../serve/deps.ts";
import { readAtHead } from "../../serve/head.ts";
import { findBlockFault, readPricesAt } from "../../serve/prices.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getTokens } from "../../store/queries.ts";
import { endpoint } from "./prices.endpoint.ts";

export function pricesHandler({ store }: Pick<ServeDeps, "store">): Handler<typeof endpoint> {
  return async ({ chain_id, tokens, at_block }) => {
    const found = await readAtHead(store, {
      chainId: chain_id,
      inSnapshot: true,
      read: (checkpoint, view) =>
        readRows(view, { checkpoint, tokens, block: at_block ?? checkpoint.blockNumber }),
    });
    if (found === undefined) return { rows: [] };
    return { rows: found.value, version: versionOf(found.checkpoint) };
  };
}

async function readRows(
  store: Store,
  at: { checkpoint: CheckpointRow; tokens: readonly string[]; block: number },
) {
  const { checkpoint, block } = at;
  const addresses = [...new Set(at.tokens)];
  const [fault, known] = await Promise.all([
    findBlockFault(store, at),
    getTokens(store, { chainId: checkpoint.chainId, addresses }),
  ]);
  const symbols = new Map(known.map(({ address, symbol }) => [address, symbol]));
  const found = fault === undefined ? await readPricesAt(store, at) : undefined;
  return at.tokens.map((token, i) => {
    const price = found?.prices[i];
    const whyNone = fault?.kind ?? (symbols.has(token) ? "no_path" : "unknown_token");
    return toCells(endpoint, {
      token,
      symbol: symbols.get(token) ?? null,
      ...priceCells(price, found?.blockTime ?? 0),
      block,
      blockTime: found?.blockTime ?? null,
      nullReason: price === undefined || price.usd === null ? whyNone : null,
    });
  });
}
