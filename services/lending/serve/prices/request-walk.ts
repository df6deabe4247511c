import { ServiceError } from "../../../shared/errors.ts";
import { MAX_PRICE_TOKENS, type PriceSource, type PricesResponse } from "../../../shared/grpc/types.ts";
import type { WalkPrices } from "./price-table.ts";

/** What the price walk said at a block; `not_kept`: it has that block no more; `not_indexed`: it does not know the chain. */
type WalkAt = WalkPrices | "not_kept" | "not_indexed";

export function isPriced(walk: WalkAt): walk is WalkPrices | "not_indexed" {
  return walk !== "not_kept";
}

/** Prices of tokens at exactly this block. Throws where evm-dex cannot be asked. */
export async function requestWalk(
  source: PriceSource,
  { chainId, block, tokens }: { chainId: number; block: number; tokens: ReadonlySet<string> },
): Promise<WalkAt> {
  const [first = [], ...others] = batches([...tokens].sort());
  const response = await undefinedIfNotFound(source.getPrices({ chainId, tokens: first, block }));
  if (response === undefined) {
    const atHead = await undefinedIfNotFound(source.getPrices({ chainId, tokens: [] }));
    return atHead === undefined ? "not_indexed" : "not_kept";
  }
  const rest = await Promise.all(others.map((batch) => source.getPrices({ chainId, tokens: batch, block })));
  return toWalk([response, ...rest]);
}

export function toWalk(responses: readonly PricesResponse[]): WalkPrices {
  const usdOf = new Map<string, number>();
  const anchors = new Set<string>();
  for (const { token, usd, hops } of responses.flatMap((response) => response.prices)) {
    if (usd === null || !Number.isFinite(usd)) continue;
    usdOf.set(token, usd);
    if (hops === 0) anchors.add(token);
  }
  return { usd: usdOf, anchors };
}

export async function undefinedIfNotFound(
  response: Promise<PricesResponse>,
): Promise<PricesResponse | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** As many as one request may name. */
export function batches(tokens: readonly string[]): string[][] {
  const slices: string[][] = [];
  for (let at = 0; at < tokens.length; at += MAX_PRICE_TOKENS) {
    slices.push(tokens.slice(at, at + MAX_PRICE_TOKENS));
  }
  return slices;
}
