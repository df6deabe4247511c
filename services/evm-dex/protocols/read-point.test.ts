import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { EMPTY_V2_STATE } from "./aerodrome-v2/state.ts";
import { protocolOf } from "./index.ts";
import { KINDS } from "./protocol.ts";
import { EMPTY_STATE } from "./v3/state.ts";

/** Of any size, and often 0. */
const amount = fc
  .integer({ min: 0, max: 255 })
  .chain((bits) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }));
const decimals = fc.integer({ min: 0, max: 255 });
const anyPool = fc.record({ token0Decimals: decimals, token1Decimals: decimals, stable: fc.boolean() });
const anyState = fc.record({
  sqrtPriceX96: amount,
  liquidity: amount,
  // A lying token takes out more than came in.
  reserve0: fc.oneof(
    amount,
    amount.map((value) => -value),
  ),
  reserve1: amount,
  tick: fc.integer({ min: -887_272, max: 887_272 }),
  feeProtocol: fc.nat(255),
});

describe("a point read from a state's text", () => {
  for (const kind of KINDS) {
    it(`is the price and the depth of the state, of ${kind} to the last bit`, () => {
      const protocol = protocolOf(kind);
      fc.assert(
        fc.property(anyState, anyPool, (made, pool) => {
          const { reserve0, reserve1 } = made;
          const state = protocol.generation === "v2" ? { ...EMPTY_V2_STATE, reserve0, reserve1 } : made;
          const price = protocol.price(state, pool);
          const { amount0: depth0, amount1: depth1 } = protocol.depth(state, pool);
          const expected = price === undefined ? undefined : { price, depth0, depth1 };
          expect(protocol.readPoint(protocol.write(state), pool)).to.deep.equal(expected);
        }),
        { numRuns: 500 },
      );
      const empty = protocol.generation === "v2" ? EMPTY_V2_STATE : EMPTY_STATE;
      const pool = { token0Decimals: 18, token1Decimals: 6, stable: false };
      expect(protocol.readPoint(protocol.write(empty), pool)).to.equal(undefined);
    });
  }
});
