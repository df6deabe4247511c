import type { DecodedTransaction } from "../../decode/model.ts";

/** The tokens of a transaction's trades and liquidity changes. */
export function findTradedMints({ events }: DecodedTransaction): Set<string> {
  const mints = new Set<string>();
  for (const event of events) {
    if (event.kind === "trade") mints.add(event.tokenIn).add(event.tokenOut);
    else if ("pool" in event) mints.add(event.tokenA).add(event.tokenB);
  }
  // A change that names only the token which moved.
  mints.delete("");
  return mints;
}

/** Those of them that have a row of it in their list: where nothing of a token was added or removed, it has none. */
export function findListedMints({ events }: DecodedTransaction): Set<string> {
  const mints = new Set<string>();
  for (const event of events) {
    if (event.kind === "trade") mints.add(event.tokenIn).add(event.tokenOut);
    else if ("pool" in event) {
      if (event.amountA > 0n) mints.add(event.tokenA);
      if (event.amountB > 0n) mints.add(event.tokenB);
    }
  }
  return mints;
}
