import { expect } from "chai";
import type { Store } from "../../../shared/storage/port.ts";
import { readPrices } from "../../store/price-links.ts";
import type { PriceAt } from "./pool-expectation.ts";

/** How far pools of the same token drift apart on a chain where nobody trades them level. */
const DRIFT = 0.08;

/**
 * The prices that the walk decided on, each held against the chain: near that of one pool of the token. Which pool the
 * walk takes is tested with the walk (price/); these prices are for what is worked out from them.
 */
export function decidedPrices(store: Store, onePool: PriceAt): PriceAt {
  return async (token, block) => {
    const expected = await onePool(token, block);
    const prices = await readPrices(store, { chainId: 8453, tokens: [token], block });
    const usd = prices.get(token)?.usd ?? null;
    if (expected === null || usd === null) expect(usd, `${token} at ${block}`).to.equal(expected);
    else expect(usd, `${token} at ${block}`).to.be.closeTo(expected, expected * DRIFT);
    return usd;
  };
}
