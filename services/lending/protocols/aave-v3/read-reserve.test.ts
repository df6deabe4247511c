import { expect } from "chai";
import { describe, it } from "mocha";
import { type Abi, decodeFunctionData, encodeFunctionResult, parseAbi } from "viem";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader } from "../protocol.ts";
import { accrueReserve } from "./accrue.ts";
import { RAY } from "./ray.ts";
import { readReserve } from "./read-reserve.ts";

const address = (n: number): Hex => `0x${n.toString(16).padStart(40, "0")}`;
const [POOL, ASSET, A_TOKEN, DEBT, STABLE, OTHER] = [1, 2, 3, 4, 5, 8].map((n) => address(n)) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];
const ZERO = address(0);
const TIME = 1_800_000_000;
/** The flag in the configuration of v3.1 to v3.3. */
const VIRTUAL = 1n << 252n;

/** As it is declared from v3.1 on: a legacy struct of the layout that v3.0 had. */
const abi = parseAbi([
  "struct Legacy { uint256 configuration; uint128 liquidityIndex; uint128 currentLiquidityRate; uint128 variableBorrowIndex; uint128 currentVariableBorrowRate; uint128 currentStableBorrowRate; uint40 lastUpdateTimestamp; uint16 id; address aTokenAddress; address stableDebtTokenAddress; address variableDebtTokenAddress; address interestRateStrategyAddress; uint128 accruedToTreasury; uint128 unbacked; uint128 isolationModeTotalDebt; }",
  "function getReserveData(address) view returns (Legacy)",
  "function POOL_REVISION() view returns (uint256)",
  "function getVirtualUnderlyingBalance(address) view returns (uint128)",
  "function scaledTotalSupply() view returns (uint256)",
  "function balanceOf(address) view returns (uint256)",
  "function getSupplyData() view returns (uint256, uint256, uint256, uint40)",
  "function getFacilitatorBucket(address) view returns (uint256 capacity, uint256 level)",
]);

const DATA = {
  configuration: 18n << 48n,
  liquidityIndex: (3n * RAY) / 2n,
  currentLiquidityRate: 0n,
  variableBorrowIndex: (7n * RAY) / 5n,
  currentVariableBorrowRate: 0n,
  currentStableBorrowRate: 77n,
  lastUpdateTimestamp: TIME,
  id: 5,
  aTokenAddress: A_TOKEN,
  stableDebtTokenAddress: ZERO,
  variableDebtTokenAddress: DEBT,
  interestRateStrategyAddress: address(99),
  accruedToTreasury: 11n,
  unbacked: 78n,
  isolationModeTotalDebt: 79n,
};

/** By contract and function; what is not here reverts. */
type Answers = Record<string, unknown>;

function answersOf(revision: bigint, data: Partial<typeof DATA> = {}): Answers {
  return {
    [`${POOL} getReserveData`]: { ...DATA, ...data },
    [`${POOL} POOL_REVISION`]: revision,
    [`${POOL} getVirtualUnderlyingBalance`]: 500n,
    [`${A_TOKEN} scaledTotalSupply`]: 3n,
    [`${DEBT} scaledTotalSupply`]: 3n,
    [`${ASSET} balanceOf`]: 600n,
  };
}

/** Answers from a table, all calls that were made meanwhile together, and counts how often it had to. */
function readerOf(answers: Answers): ContractReader & { rounds: number } {
  let waiting: (() => void)[] = [];
  const reader = {
    chainId: 1,
    block: 1,
    time: TIME,
    caller: OTHER,
    rounds: 0,
    async call(to: Hex, data: Hex): Promise<Hex | null> {
      const { functionName } = decodeFunctionData({ abi, data });
      if (waiting.length === 0) {
        setImmediate(() => {
          reader.rounds++;
          const due = waiting;
          waiting = [];
          for (const answer of due) answer();
        });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
      const result = answers[`${to} ${functionName}`];
      return result === undefined ? null : encodeFunctionResult({ abi: abi as Abi, functionName, result });
    },
    token: async (token: string) => ({
      address: token,
      symbol: `S${token.at(-1)}`,
      name: `N${token.at(-1)}`,
      decimals: 18,
    }),
  };
  return reader;
}

async function readFresh(answers: Answers) {
  const state = await readReserve(
    { pool: POOL, asset: ASSET },
    { reader: readerOf(answers), previous: null },
  );
  if (state === null) throw new Error("There is no such reserve");
  return state;
}

describe("aave-v3: reserves of every version", () => {
  it("are read from the same layout", async () => {
    expect(await readFresh(answersOf(9n))).to.deep.equal({
      revision: 9,
      id: 5,
      underlying: { address: ASSET, symbol: "S2" },
      aToken: { address: A_TOKEN, symbol: "S3", name: "N3" },
      variableDebtToken: DEBT,
      stableDebtToken: ZERO,
      configuration: DATA.configuration,
      lastUpdate: TIME,
      liquidityIndex: DATA.liquidityIndex,
      liquidityRate: 0n,
      variableBorrowIndex: DATA.variableBorrowIndex,
      variableBorrowRate: 0n,
      accruedToTreasury: 11n,
      scaledSupply: 3n,
      scaledVariableDebt: 3n,
      stableDebt: null,
      liquidity: 500n,
      mintable: null,
    });
  });

  it("round to the nearer before v3.5, and since then in favour of the protocol", async () => {
    // 3 × 1.5 supplied, 3 × 1.4 owed.
    const at = async (revision: bigint) => {
      const { supply, debt } = accrueReserve(await readFresh(answersOf(revision)), TIME);
      return [supply, debt];
    };
    for (const revision of [1n, 3n, 4n, 5n, 6n, 7n, 8n]) expect(await at(revision)).to.deep.equal([5n, 4n]);
    for (const revision of [9n, 10n, 11n, 12n]) expect(await at(revision)).to.deep.equal([4n, 5n]);
  });

  it("compound by other terms since v3.4", async () => {
    const data = {
      currentVariableBorrowRate: RAY,
      variableBorrowIndex: RAY,
      configuration: DATA.configuration,
    };
    const at = async (revision: bigint) => {
      const answers = { ...answersOf(revision, data), [`${DEBT} scaledTotalSupply`]: RAY };
      return accrueReserve(await readFresh(answers), TIME + 31_536_000).debt;
    };
    const [before, since] = [await at(7n), await at(8n)];
    expect(since).to.equal(2_666_666_666_666_666_666_666_666_666n);
    expect(before < since && since - before < RAY / 10n ** 5n).to.equal(true);
    expect(await at(11n)).to.equal(since);
  });

  it("count their tokens themselves where they say so, and all since v3.4", async () => {
    const at = async (revision: bigint, configuration: bigint) =>
      (await readFresh(answersOf(revision, { configuration }))).liquidity;
    expect(await at(6n, DATA.configuration)).to.equal(600n);
    expect(await at(6n, DATA.configuration | VIRTUAL)).to.equal(500n);
    expect(await at(8n, DATA.configuration)).to.equal(500n);
    const old = answersOf(1n, { configuration: DATA.configuration });
    delete old[`${POOL} getVirtualUnderlyingBalance`];
    expect((await readFresh(old)).liquidity).to.equal(600n);
    // A token that is paused spoils only what depends on it.
    const paused = answersOf(9n);
    delete paused[`${ASSET} balanceOf`];
    expect((await readFresh(paused)).liquidity).to.equal(500n);
  });

  it("have a stable debt only where their token reports one", async () => {
    const stableDebtTokenAddress = STABLE;
    const silent = answersOf(6n, { stableDebtTokenAddress });
    expect((await readFresh(silent)).stableDebt).to.equal(null);
    const none = { ...silent, [`${STABLE} getSupplyData`]: [0n, 0n, 0n, 0] };
    expect((await readFresh(none)).stableDebt).to.equal(null);
    const some = { ...silent, [`${STABLE} getSupplyData`]: [21n, 22n, 23n, 24] };
    expect((await readFresh(some)).stableDebt).to.deep.equal({
      principal: 21n,
      averageRate: 23n,
      lastUpdate: 24,
    });
  });

  it("take one round of calls once they are known, and one more for what is another than before", async () => {
    const reserve = { pool: POOL, asset: ASSET };
    const first = readerOf(answersOf(9n));
    const previous = await readReserve(reserve, { reader: first, previous: null });
    expect(first.rounds).to.equal(2);

    const again = readerOf({ ...answersOf(9n), [`${POOL} getVirtualUnderlyingBalance`]: 501n });
    const next = await readReserve(reserve, { reader: again, previous });
    expect(again.rounds).to.equal(1);
    expect(next).to.deep.equal({ ...previous, liquidity: 501n });

    const moved = {
      ...answersOf(9n, { aTokenAddress: OTHER }),
      [`${OTHER} scaledTotalSupply`]: 33n,
    };
    const elsewhere = readerOf(moved);
    const other = await readReserve(reserve, { reader: elsewhere, previous });
    expect(elsewhere.rounds).to.equal(2);
    expect(other).to.deep.equal(await readFresh(moved));
    expect(other?.scaledSupply).to.equal(33n);
  });

  it("vanish when they are dropped", async () => {
    const dropped = { ...answersOf(6n, { aTokenAddress: ZERO, variableDebtTokenAddress: ZERO }) };
    const read = { reader: readerOf(dropped), previous: null };
    expect(await readReserve({ pool: POOL, asset: ASSET }, read)).to.equal(null);
  });
});
