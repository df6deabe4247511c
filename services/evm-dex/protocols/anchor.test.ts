import { expect } from "chai";
import { describe, it } from "mocha";
import { encodeAbiParameters, parseAbiParameters } from "viem";
import type { Hex } from "../../shared/evm/port.ts";
import { pancakeV3 } from "./pancake-v3.ts";
import type { Protocol } from "./protocol.ts";
import { slipstream } from "./slipstream.ts";
import { uniswapV3 } from "./uniswap-v3.ts";
import { EMPTY_STATE } from "./v3/state.ts";

const PRICE = 3n ** 60n;
const liquidity = encodeAbiParameters(parseAbiParameters("uint128"), [77n]);
const balances = { amount0: 5n, amount1: 6n };
const state = { ...EMPTY_STATE, sqrtPriceX96: PRICE, tick: -9, liquidity: 77n, reserve0: 5n, reserve1: 6n };

/** slot0 as each contract returns it. */
const SLOT0: readonly [string, Protocol, Hex, object][] = [
  [
    "Uniswap v3",
    uniswapV3,
    encodeAbiParameters(parseAbiParameters("uint160,int24,uint16,uint16,uint16,uint8,bool"), [
      PRICE,
      -9,
      1,
      2,
      3,
      0x64,
      true,
    ]),
    { ...state, feeProtocol: 0x64 },
  ],
  [
    "PancakeSwap v3",
    pancakeV3,
    encodeAbiParameters(
      parseAbiParameters("uint160,int24,uint16,uint16,uint16,uint32,bool"),
      // 3,400 ten-thousandths either side: every swap says what was taken.
      [PRICE, -9, 1, 2, 3, 222_825_800, true],
    ),
    state,
  ],
  [
    "Slipstream",
    slipstream,
    encodeAbiParameters(parseAbiParameters("uint160,int24,uint16,uint16,uint16,bool"), [
      PRICE,
      -9,
      1,
      2,
      3,
      true,
    ]),
    state,
  ],
];

describe("anchor", () => {
  for (const [name, protocol, slot0, expected] of SLOT0) {
    it(`reads ${name}'s slot0, and nothing shorter`, () => {
      expect(protocol.anchor([slot0, liquidity], balances)).to.deep.equal(expected);
      expect(protocol.anchor([slot0.slice(0, -64) as Hex, liquidity], balances)).to.equal(undefined);
      expect(protocol.anchor([null, liquidity], balances)).to.equal(undefined);
      expect(protocol.anchor([slot0, "0x"], balances)).to.equal(undefined);
    });
  }
});
