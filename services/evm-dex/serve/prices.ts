import { ServiceError } from "../../shared/errors.ts";
import type { PriceSource, PricesResponse, TokenPrice } from "../../shared/grpc/types.ts";
import type { Store } from "../../shared/storage/port.ts";
import { findKnownBlock } from "../store/block-times.ts";
import { type CheckpointRow, priceLinks } from "../store/collections.ts";
import { readPrices, type StoredPrice } from "../store/price-links.ts";
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
        signal: undefined,
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
  const { chainId, blockNumber, fromBlock } = checkpoint;
  const fault = await findBlockFault(store, { checkpoint, block });
  if (fault?.kind === "block_not_indexed") {
    throw new ServiceError(
      "not_found",
      `Block ${block} of chain ${chainId} is not indexed: blocks ${fromBlock} to ${blockNumber} are.`,
    );
  }
  if (fault !== undefined) {
    throw new ServiceError(
      "not_found",
      `Prices of block ${block} of chain ${chainId} are no longer kept: those from block ${fault.keptFrom} on are.`,
    );
  }
  return readPricesAt(store, { checkpoint, tokens, block });
}

type BlockFault =
  | { readonly kind: "block_not_indexed" }
  | { readonly kind: "block_not_kept"; readonly keptFrom: number };

/**
 * Why a block has no prices; undefined where it has. Prices change link by link: of blocks whose links are gone, some are
 * known and some are not, and none is told.
 */
export async function findBlockFault(
  store: Store,
  { checkpoint, block }: { checkpoint: CheckpointRow; block: number },
): Promise<BlockFault | undefined> {
  const { chainId, blockNumber, fromBlock } = checkpoint;
  if (block < fromBlock || block > blockNumber) return { kind: "block_not_indexed" };
  if (block === blockNumber) return undefined;
  const kept = await getRetention(store, { chainId, rows: priceLinks.name });
  if (kept === undefined || block >= kept.blockNumber) return undefined;
  return { kind: "block_not_kept", keptFrom: kept.blockNumber };
}

/** Prices at a block that has them; `blockTime` where it is known already. */
export async function readPricesAt(
  store: Store,
  {
    tokens,
    block,
    blockTime,
    checkpoint,
  }: { checkpoint: CheckpointRow; tokens: readonly string[]; block: number; blockTime?: number },
): Promise<PricesResponse> {
  const { chainId, fromTime } = checkpoint;
  const [prices, known] = await Promise.all([
    readPrices(store, { chainId, tokens, block }),
    blockTime === undefined ? findKnownBlock(store, { checkpoint, block }) : { time: blockTime },
  ]);
  return {
    block,
    blockTime: known?.time ?? fromTime,
    prices: tokens.map((token) => toTokenPrice(token, prices.get(token))),
  };
}

function toTokenPrice(token: string, price: StoredPrice | undefined): TokenPrice {
  if (price === undefined) return { token, usd: null, hops: 0, depthUsd: null };
  const { usd, hops, link, changedAt } = price;
  if (link === undefined) return { token, usd, hops, depthUsd: null };
  const { pool, parent, support, departure } = link;
  const origin = { pool, parent, restUsd: support.restUsd, changedAt, departed: departure !== undefined };
  return { token, usd, hops, depthUsd: support.depthUsd, origin };
}
