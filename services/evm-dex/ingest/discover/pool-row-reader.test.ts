import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { encodeAbiParameters, toFunctionSelector } from "viem";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { createFakeSource, headersUpTo } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, openTestStore } from "../../test/kit/rows.ts";
import type { CreatedPool } from "../fetch/block-batch.ts";
import { PoolRowReader } from "./pool-row-reader.ts";
import { readTokens } from "./token-reader.ts";

const SYMBOL = toFunctionSelector("symbol()");
const AT = { block: 9 };

/** Pool n of tokens 1 and n. */
function created(n: number, block = 2): CreatedPool {
  const factory = {
    address: address(0xfac),
    dexName: "Uniswap",
    family: "a",
    kind: "uniswap-v3",
    fromBlock: 0,
  };
  const pool = {
    pool: address(0x900 + n),
    token0: address(1),
    token1: address(n),
    fee: 500,
    tickSpacing: 10,
  };
  return { ...pool, block, time: 1_700_000_000, factory } as CreatedPool;
}

describe("PoolRowReader", () => {
  let store: Store;
  let asked: string[];
  let fails: boolean;
  beforeEach(async () => {
    store = await openTestStore();
    [asked, fails] = [[], false];
  });
  afterEach(() => store.close());

  function openReader(): PoolRowReader {
    const call = ({ to, data }: EthCall): Hex | null => {
      if (fails) throw new Error("the node is away");
      if (data === SYMBOL) asked.push(to);
      return data === SYMBOL
        ? encodeAbiParameters([{ type: "string" }], [`T${Number(to)}`])
        : encodeAbiParameters([{ type: "uint256" }], [6n]);
    };
    const source = createFakeSource({ call, headers: headersUpTo(9) });
    return new PoolRowReader(store, source, readTokens);
  }
  const symbolsOf = ({ pools }: { pools: readonly { token0Symbol: string; token1Symbol: string }[] }) =>
    pools.map(({ token0Symbol, token1Symbol }) => `${token0Symbol}/${token1Symbol}`);

  it("reads what was foreseen before it is asked for, and asks nothing again", async () => {
    const reader = openReader();
    reader.foresee([created(2), created(3)]);
    reader.foresee([created(4)]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(asked).to.include.members([address(2), address(3), address(4)]);
    const before = asked.length;
    const first = await reader.read([created(2), created(3)], AT);
    expect(symbolsOf(first)).to.deep.equal(["T1/T2", "T1/T3"]);
    expect(first.tokens.map(({ address: token }) => token)).to.have.members([1, 2, 3].map((n) => address(n)));
    expect(symbolsOf(await reader.read([created(4)], AT))).to.deep.equal(["T1/T4"]);
    expect(asked).to.have.length(before);
  });

  it("reads what was not foreseen, or was of another block, beside what was", async () => {
    const reader = openReader();
    reader.foresee([created(2, 2), created(3, 3)]);
    const { pools } = await reader.read([created(2, 2), created(3, 4), created(5)], AT);
    expect(pools.map(({ poolAddress, createdBlock }) => [poolAddress, createdBlock])).to.have.deep.members([
      [address(0x902), 2],
      [address(0x903), 4],
      [address(0x905), 2],
    ]);
  });

  it("reads again what could not be read ahead, and throws where that fails too", async () => {
    const reader = openReader();
    fails = true;
    reader.foresee([created(2)]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const error = await reader.read([created(2)], AT).catch((cause: unknown) => cause);
    expect((error as Error).message).to.contain("the node is away");
    reader.foresee([created(2)]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    fails = false;
    const { pools, tokens } = await reader.read([created(2)], AT);
    expect(symbolsOf({ pools })).to.deep.equal(["T1/T2"]);
    expect(tokens.map(({ chainId, symbol }) => [chainId, symbol])).to.have.deep.members([
      [CHAIN_ID, "T1"],
      [CHAIN_ID, "T2"],
    ]);
  });
});
