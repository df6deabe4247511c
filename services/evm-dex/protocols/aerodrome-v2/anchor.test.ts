import { expect } from "chai";
import { describe, it } from "mocha";
import { type Abi, decodeFunctionData, encodeFunctionResult, parseAbi } from "viem";
import {
  aerodromeFactoryAbi,
  aerodromeGaugeAbi,
  aerodromePoolAbi,
  aerodromeVoterAbi,
} from "../../../../deploy/devnet/contracts/aerodrome/abi.ts";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import { address, poolRow } from "../../test/kit/rows.ts";
import {
  initialV2State,
  readV2Anchor,
  readV2Position,
  v2AnchorCalls,
  v2PositionCalls,
  v2Tier,
} from "./anchor.ts";
import { EMPTY_V2_STATE } from "./state.ts";

const [POOL, FACTORY, GAUGE, VOTER, ANN] = [
  address(0x900),
  address(0xfac),
  address(0x950),
  address(0x707e),
  address(0xa),
];
/** What the devnet's interface leaves out. */
const moreOfFactory = parseAbi([
  "function customFee(address) view returns (uint256)",
  "function stableFee() view returns (uint256)",
  "function volatileFee() view returns (uint256)",
]);
const ABIS: Record<string, Abi> = {
  [POOL]: aerodromePoolAbi,
  [FACTORY]: [...aerodromeFactoryAbi, ...moreOfFactory],
  [GAUGE]: aerodromeGaugeAbi,
  [VOTER]: aerodromeVoterAbi,
};
const RESULTS: Record<string, unknown> = {
  [`${POOL} getReserves`]: [11n, 12n, 13n],
  [`${POOL} totalSupply`]: 21n,
  [`${POOL} index0`]: 31n,
  [`${POOL} index1`]: 32n,
  [`${POOL} balanceOf`]: 41n,
  [`${FACTORY} getFee`]: 25n,
  [`${FACTORY} customFee`]: 25n,
  [`${FACTORY} volatileFee`]: 30n,
  [`${FACTORY} stableFee`]: 5n,
  [`${GAUGE} totalSupply`]: 51n,
  [`${GAUGE} rewardRate`]: 52n,
  [`${GAUGE} periodFinish`]: 53n,
  [`${GAUGE} balanceOf`]: 54n,
  [`${VOTER} isAlive`]: true,
};
const gauge = { gauge: GAUGE, voter: VOTER };
const pool = poolRow({ poolAddress: POOL, dexAddress: FACTORY, protocol: "aerodrome-v2" });

/** Decodes a call with viem, and returns its result. */
function answer({ to, data }: EthCall, results = RESULTS): { name: string; args: unknown; result: Hex } {
  const abi = ABIS[to] as Abi;
  const { functionName, args } = decodeFunctionData({ abi, data });
  const result = results[`${to} ${functionName}`];
  return { name: functionName, args, result: encodeFunctionResult({ abi, functionName, result }) };
}

const read = (calls: readonly EthCall[], results = RESULTS) =>
  calls.map((call) => answer(call, results).result);

describe("the state of a v2 pool from its getters", () => {
  it("comes from pool, factory, gauge and voter", () => {
    const calls = v2AnchorCalls(pool, 99, gauge);
    for (const { block } of calls) expect(block).to.equal(99);
    expect(readV2Anchor(read(calls), gauge)).to.deep.equal({
      ...EMPTY_V2_STATE,
      reserve0: 11n,
      reserve1: 12n,
      totalSupply: 21n,
      index0: 31n,
      index1: 32n,
      fee: 25,
      defaultFee: 30,
      hasCustomFee: true,
      gauge: GAUGE,
      staked: 51n,
      rewardRate: 52n,
      periodFinish: 53,
      isGaugeAlive: true,
    });
  });

  it("calls the factory for the pool's curve", () => {
    for (const stable of [false, true]) {
      const requested = v2AnchorCalls({ ...pool, stable }, 99).map((call) => answer(call));
      expect(requested.find(({ name }) => name === "getFee")?.args).to.deep.equal([POOL, stable]);
      expect(requested.map(({ name }) => name)).to.include(stable ? "stableFee" : "volatileFee");
    }
  });

  it("has no gauge for a pool without one, and no custom fee of 0", () => {
    const calls = v2AnchorCalls(pool, 99);
    const state = readV2Anchor(read(calls, { ...RESULTS, [`${FACTORY} customFee`]: 0n }));
    expect(state).to.include({ gauge: undefined, staked: 0n, hasCustomFee: false });
  });

  it("is undefined where the pool's calls fail, whatever else succeeds", () => {
    const answers = read(v2AnchorCalls(pool, 99, gauge));
    for (const missing of [0, 1, 2, 3]) {
      for (const none of [null, "0x" as const, undefined]) {
        const some = answers.map((each, i) => (i === missing ? none : each));
        expect(readV2Anchor(some, gauge)).to.equal(undefined);
      }
    }
  });

  it("leaves out gauge and factory whose calls fail", () => {
    const answers = read(v2AnchorCalls(pool, 99, gauge)).map((each, i) => (i < 4 ? each : null));
    expect(readV2Anchor(answers, gauge)).to.include({ gauge: GAUGE, staked: 0n, rewardRate: 0n, fee: 0 });
  });
});

describe("a pool just created", () => {
  it("has its factory's default fee, in hundredths of a bip", () => {
    const created = { pool: POOL, token0: ANN, token1: ANN, fee: null, tickSpacing: 0 };
    for (const [stable, fee] of [
      [false, 30],
      [true, 5],
    ] as const) {
      const { name, result } = answer(v2Tier.call({ ...created, stable }, { factory: FACTORY, block: 7 }));
      expect(name).to.equal(stable ? "stableFee" : "volatileFee");
      expect(initialV2State({ fee: Number(result) * v2Tier.unit })).to.deep.equal({
        ...EMPTY_V2_STATE,
        fee,
        defaultFee: fee,
      });
    }
  });
});

describe("a position from its getters", () => {
  const state = { ...EMPTY_V2_STATE, gauge: GAUGE, index0: 7n, index1: 8n };

  it("has what the wallet holds and has staked; its earnings count from the pool's indexes", () => {
    const calls = v2PositionCalls(ANN, { state, pool, block: 98 });
    expect(calls.map(({ to, block }) => [to, block])).to.deep.equal([
      [POOL, 98],
      [GAUGE, 98],
    ]);
    for (const call of calls) expect(String(answer(call).args).toLowerCase()).to.equal(ANN);
    expect(readV2Position(read(calls), state)).to.deep.equal({
      balance: 41n,
      staked: 54n,
      index0: 7n,
      index1: 8n,
      earned0: 0n,
      earned1: 0n,
    });
  });

  it("calls no gauge for a pool without one, and is empty where calls fail", () => {
    const ungauged = { ...state, gauge: undefined };
    const calls = v2PositionCalls(ANN, { state: ungauged, pool, block: 98 });
    expect(calls.map(({ to }) => to)).to.deep.equal([POOL]);
    expect(readV2Position([null], ungauged)).to.include({ balance: 0n, staked: 0n, index0: 7n });
  });
});
