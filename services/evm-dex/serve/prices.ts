import { ServiceError } from "../../shared/errors.ts";
import type { PriceSource, PricesResponse, TokenPrice } from "../../shared/grpc/types.ts";
import { headers } from "../../shared/index/evm/headers.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, priceLinks } from "../store/collections.ts";
import { readPrices, type StoredPrice } from "../store/price-links.ts";
import { lastEventTime } from "../store/queries.ts";
import { getRetention } from "../store/retention.ts";
import type { StoreDeps } from "./deps.ts";
import { readAtHead } from "./head.ts";

/** USD prices at the indexed head or any indexed block before it, for gRPC peers. */
export function createPriceSource({ store, chains }: StoreDeps): PriceSource {
  return {
    async getPrices({ chainId, tokens, block }) {
      if (!chains.some((chain) => chain.chainId === chainId)) {
        throw new ServiceError("not_found", `Chain ${chainId} is not indexed.`);
      }
      const found = await readAtHead(store, {
        chainId,
        inSnapshot: true,
        read: (checkpoint, view) =>
          readAnswer(view, { checkpoint, tokens, block: block ?? checkpoint.blockNumber }),
      });
      if (found === undefined) {
        throw new ServiceError("unavailable", `Chain ${chainId} has no indexed block yet.`, {
          retryAfterSeconds: 5,
        });
      }
      return found.value;
    },
  };
}

async function readAnswer(
  store: Store,
  { tokens, block, checkpoint }: { checkpoint: CheckpointRow; tokens: readonly string[]; block: number },
): Promise<PricesResponse> {
  const { chainId, blockNumber, blockTime, fromBlock, fromTime } = checkpoint;
  if (block < fromBlock || block > blockNumber) {
    throw new ServiceError(
      "not_found",
      `Block ${block} of chain ${chainId} is not indexed: blocks ${fromBlock} to ${blockNumber} are.`,
    );
  }
  if (block < blockNumber) await requireKept(store, { chainId, block });
  const [prices, time] = await Promise.all([
    readPrices(store, { chainId, tokens, block }),
    block === blockNumber ? blockTime : timeOf(store, { chainId, block }),
  ]);
  return {
    block,
    blockTime: time ?? fromTime,
    prices: tokens.map((token) => toTokenPrice(token, prices.get(token))),
  };
}

/** Prices change link by link: of blocks whose links are gone, some are known and some are not, and none is told. */
async function requireKept(
  store: Store,
  { chainId, block }: { chainId: number; block: number },
): Promise<void> {
  const kept = await getRetention(store, { chainId, rows: priceLinks.name });
  if (kept === undefined || block >= kept.blockNumber) return;
  throw new ServiceError(
    "not_found",
    `Prices of block ${block} of chain ${chainId} are no longer kept: those from block ${kept.blockNumber} on are.`,
  );
}

function toTokenPrice(token: string, price: StoredPrice | undefined): TokenPrice {
  if (price === undefined) return { token, usd: null, hops: 0, depthUsd: null };
  const { usd, hops, link, changedAt } = price;
  if (link === undefined) return { token, usd, hops, depthUsd: null };
  const { pool, parent, support, departure } = link;
  const origin = { pool, parent, restUsd: support.restUsd, changedAt, departed: departure !== undefined };
  return { token, usd, hops, depthUsd: support.depthUsd, origin };
}

/** Only the last blocks have headers; before them, prices are those of the last block with events. */
async function timeOf(store: Store, at: { chainId: number; block: number }): Promise<number | undefined> {
  const [header, eventTime] = await Promise.all([
    store.get(headers, { chainId: at.chainId, number: at.block }),
    lastEventTime(store, at),
  ]);
  return header?.time ?? eventTime;
}
