import { expect } from "chai";
import { describe, it } from "mocha";
import { encodeAbiParameters, encodeFunctionData, encodeFunctionResult } from "viem";
import { poolAbi } from "../../../../deploy/devnet/contracts/uniswap.ts";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import { aerodromeV2 } from "../../protocols/aerodrome-v2.ts";
import { EMPTY_STATE } from "../../protocols/v3/state.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, poolEntry, poolRow, word } from "../../test/kit/rows.ts";
import type { PoolEntry } from "../state/pool-book.ts";
import { readAnchors } from "./anchors.ts";

const SLOT0 = encodeFunctionData({ abi: poolAbi, functionName: "slot0" });
const LIQUIDITY = encodeFunctionData({ abi: poolAbi, functionName: "liquidity" });
const HEAD = 900;

const slot0 = (sqrtPriceX96: bigint, tick: number) =>
  encodeFunctionResult({
    abi: poolAbi,
    functionName: "slot0",
    result: [sqrtPriceX96, tick, 1, 2, 3, 0x54, true],
  });

function oldPool(n: number) {
  const row = poolRow({
    poolAddress: address(0x900 + n),
    token0Address: address(2 * n),
    token1Address: address(2 * n + 1),
  });
  return poolEntry({ row });
}

const anchorOf = ({ protocol, anchor }: PoolEntry) => protocol.read(anchor as string);

/** A chain whose values encode their block; null where `fails`. */
function chainWhere(fails: (call: EthCall) => Hex | null | undefined) {
  return createFakeSource({
    call(call) {
      const failure = fails(call);
      if (failure !== undefined) return failure;
      if (call.data === SLOT0) return slot0(2n ** 96n + BigInt(call.block), -call.block);
      if (call.data === LIQUIDITY) return word(10n ** 20n + BigInt(call.block));
      return word(1_000n * BigInt(call.to) + BigInt(call.block));
    },
  });
}

describe("readAnchors", () => {
  it("reads slot0, liquidity and balances just before each pool's first event, in one request", async () => {
    const [first, second] = [oldPool(1), oldPool(2)];
    const source = chainWhere(() => undefined);
    await readAnchors(source, {
      pools: [
        { entry: first, block: 301 },
        { entry: second, block: 401 },
      ],
      head: HEAD,
    });
    expect(anchorOf(first)).to.deep.equal({
      sqrtPriceX96: 2n ** 96n + 300n,
      tick: -300,
      liquidity: 10n ** 20n + 300n,
      reserve0: 2_300n,
      reserve1: 3_300n,
      feeProtocol: 0x54,
    });
    expect(anchorOf(second)).to.include({ tick: -400, reserve0: 4_400n, reserve1: 5_400n });
    for (const entry of [first, second]) expect(entry.state).to.deep.equal(anchorOf(entry));
    expect(source.calls[0]).to.have.length(8);
    expect(source.calls.flat()).to.have.length(8);
  });

  it("takes the balances of the head where that state is gone; price and liquidity are unknown", async () => {
    const [gone, there] = [oldPool(1), oldPool(2)];
    const source = chainWhere(({ block }) => (block < 400 ? null : undefined));
    await readAnchors(source, {
      pools: [
        { entry: gone, block: 301 },
        { entry: there, block: 401 },
      ],
      head: HEAD,
    });
    expect(anchorOf(gone)).to.deep.equal({ ...EMPTY_STATE, reserve0: 2_900n, reserve1: 3_900n });
    expect(gone.state).to.deep.equal(anchorOf(gone));
    expect(anchorOf(there)).to.include({ tick: -400, reserve0: 4_400n });
  });

  const partial: readonly [string, (call: EthCall) => Hex | null | undefined][] = [
    ["slot0 is missing", ({ data }) => (data === SLOT0 ? null : undefined)],
    [
      "slot0 has another form",
      ({ data }) => (data === SLOT0 ? (`0x${"00".repeat(6 * 32)}` as Hex) : undefined),
    ],
    ["liquidity is missing", ({ data }) => (data === LIQUIDITY ? null : undefined)],
    ["liquidity is empty", ({ data }) => (data === LIQUIDITY ? "0x" : undefined)],
    ["a balance is missing", ({ to, block }) => (to === address(3) && block < HEAD ? null : undefined)],
  ];
  for (const [name, fails] of partial) {
    it(`does not mix states where ${name}`, async () => {
      const entry = oldPool(1);
      await readAnchors(chainWhere(fails), { pools: [{ entry, block: 301 }], head: HEAD });
      expect(anchorOf(entry)).to.deep.equal({ ...EMPTY_STATE, reserve0: 2_900n, reserve1: 3_900n });
    });
  }

  it("knows nothing of a pool whose tokens always fail", async () => {
    const entry = oldPool(1);
    await readAnchors(
      chainWhere(() => null),
      { pools: [{ entry, block: 301 }], head: HEAD },
    );
    expect(anchorOf(entry)).to.deep.equal(EMPTY_STATE);
  });

  it("requests nothing without pools", async () => {
    const source = chainWhere(() => undefined);
    await readAnchors(source, { pools: [], head: HEAD });
    expect(source.calls).to.have.length(0);
  });

  it("reads the reserves of a pool at the head where its past is pruned, and no balances", async () => {
    const row = poolRow({ poolAddress: address(0x77), dexAddress: address(0xfac), protocol: "aerodrome-v2" });
    const gauge = { gauge: address(0x95), voter: address(0x707e) };
    const entry = poolEntry({ row, protocol: aerodromeV2 });
    const requested: EthCall[] = [];
    const source = createFakeSource({
      call(call) {
        requested.push(call);
        if (call.block !== HEAD) return null;
        return encodeAbiParameters([{ type: "uint256" }, { type: "uint256" }], [BigInt(call.to), 5n]);
      },
    });
    await readAnchors(source, { pools: [{ entry, block: 301, gauge }], head: HEAD });
    expect(anchorOf(entry)).to.include({ reserve0: 0x77n, reserve1: 5n, totalSupply: 0x77n, staked: 0x95n });
    expect(entry.state).to.deep.equal(anchorOf(entry));
    const contracts = [row.poolAddress, row.dexAddress, gauge.gauge, gauge.voter];
    expect(contracts).to.include.members(requested.map(({ to }) => to));
    expect(new Set(requested.map(({ block }) => block))).to.deep.equal(new Set([300, HEAD]));
  });
});
