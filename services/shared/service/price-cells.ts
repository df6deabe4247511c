import type { TokenPrice } from "../grpc/types.ts";

/** The cells of priceColumns, and the age of a price; all null where there is none. */
export function priceCells(price: TokenPrice | undefined, blockTime: number) {
  const usd = price?.usd ?? null;
  const origin = usd === null ? undefined : price?.origin;
  return {
    priceUsd: usd,
    source: usd === null ? null : origin === undefined ? "stablecoin" : "pools",
    sourcePool: origin?.pool ?? null,
    parentToken: origin?.parent ?? null,
    hops: usd === null ? null : (price?.hops ?? null),
    depthUsd: origin === undefined ? null : (price?.depthUsd ?? null),
    otherDepthUsd: origin?.restUsd ?? null,
    departed: origin?.departed ?? null,
    // The clock of a chain may stand still for a block.
    ageSeconds: origin === undefined ? null : Math.max(0, blockTime - origin.changedAt),
  };
}
