import { isAsOf } from "../../../shared/contract/as-of.ts";
import { toCells } from "../../../shared/contract/cells.ts";
import type { DataVersion, Handler, ParamsOf } from "../../../shared/contract/endpoint.ts";
import { versionOf } from "../../../shared/index/evm/checkpoint.ts";
import { priceCells } from "../../../shared/service/price-cells.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { ServeDeps } from "../../serve/deps.ts";
import { readAtHead } from "../../serve/head.ts";
import { pastVersionOf, resolvePastBlock } from "../../serve/past/past-block.ts";
import { findBlockFault, readPricesAt } from "../../serve/prices.ts";
import { findKnownBlock } from "../../store/block-times.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getTokens } from "../../store/queries.ts";
import { endpoint } from "./prices.endpoint.ts";

type Params = ParamsOf<typeof endpoint>;

export function pricesHandler({ store }: Pick<ServeDeps, "store">): Handler<typeof endpoint> {
  return async (params, { signal }) => {
    const found = await readAtHead(store, {
      chainId: params.chain_id,
      inSnapshot: true,
      signal,
      async read(checkpoint, view) {
        const at = await findBlock(view, { checkpoint, params });
        const rows = await readRows(view, { checkpoint, tokens: params.tokens, ...at });
        return { rows, version: at.version };
      },
    });
    return found === undefined ? { rows: [] } : found.value;
  };
}

interface PriceBlock {
  readonly block: number;
  /** Of the last block up to it that is known; absent at the head. */
  readonly blockTime?: number;
  /** Why there are no prices of it. */
  readonly fault?: Awaited<ReturnType<typeof findBlockFault>>;
  readonly version: DataVersion;
}

/** The block that is asked for. A block without prices is told row by row, a time without one is refused. */
async function findBlock(
  store: Store,
  { checkpoint, params }: { checkpoint: CheckpointRow; params: Params },
): Promise<PriceBlock> {
  if (!isAsOf(params)) return { block: checkpoint.blockNumber, version: versionOf(checkpoint) };
  const { at_block } = params;
  if (at_block === undefined) {
    const block = await resolvePastBlock(store, { checkpoint, asOf: params });
    const version = await pastVersionOf(store, { checkpoint, block });
    return { block: block.number, blockTime: block.time, version };
  }
  const fault = await findBlockFault(store, { checkpoint, block: at_block });
  if (fault !== undefined) return { block: at_block, fault, version: versionOf(checkpoint) };
  const block = await findPriceBlock(store, { checkpoint, block: at_block });
  const version = await pastVersionOf(store, { checkpoint, block });
  return { block: at_block, blockTime: block.time, version };
}

/** Prices need no single events: the last block with another price will do, however long ago. */
async function findPriceBlock(store: Store, at: { checkpoint: CheckpointRow; block: number }) {
  const { fromBlock, fromTime } = at.checkpoint;
  return (await findKnownBlock(store, at)) ?? { number: fromBlock, time: fromTime };
}

async function readRows(
  store: Store,
  at: { checkpoint: CheckpointRow; tokens: readonly string[] } & PriceBlock,
) {
  const { checkpoint, block, fault } = at;
  const addresses = [...new Set(at.tokens)];
  const known = await getTokens(store, { chainId: checkpoint.chainId, addresses });
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
