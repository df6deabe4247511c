import type { DecodedTransaction } from "../../decode/model.ts";

/** The tokens of a transaction's trades and liquidity changes. */
export function findTradedMints({ events }: DecodedTransaction): Set<string> {
  const mints = new Set<string>();
  for (const event of events) {
    if (event.kind === "trade") mints.add(event.tokenIn).add(event.tokenOut);
    else if ("pool" in event) mints.add(event.tokenA).add(event.tokenB);
  }
  // A liquidity change may name only the token that moved.
  mints.delete("");
  return mints;
}

/** The tokens with a row of it in their list: a liquidity change of 0 gives none. */
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
