import type { DecodedTransaction } from "../../decode/model.ts";

/** The tokens of a transaction's trades and liquidity changes. */
export function tradedMints({ events }: DecodedTransaction): Set<string> {
  const mints = new Set<string>();
  for (const event of events) {
    if (event.kind === "trade") mints.add(event.tokenIn).add(event.tokenOut);
    else if ("pool" in event) mints.add(event.tokenA).add(event.tokenB);
  }
  return mints;
}
