import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { encodeAbiParameters, encodeFunctionData, encodeFunctionResult } from "viem";
import { poolAbi } from "../../../../deploy/devnet/contracts/uniswap.ts";
import { type EthCall, type Hex, UpstreamError } from "../../../shared/evm/port.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { readV2State } from "../../protocols/aerodrome-v2/state.ts";
import { readState } from "../../protocols/v3/state.ts";
import { inactivePools, poolStates, pools } from "../../store/collections.ts";
import { gauges } from "../../store/v2-collections.ts";
import { createFakeSource, type FakeSource, headersUpTo } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, openTestStore, poolRow, poolStateRow, word } from "../../test/kit/rows.ts";
import { readInactivePools } from "./inactive-pools.ts";

const FROM = 500;
const HEAD = 900;
const SLOT0 = encodeFunctionData({ abi: poolAbi, functionName: "slot0" });
const LIQUIDITY = encodeFunctionData({ abi: poolAbi, functionName: "liquidity" });

/** A chain whose results encode pool and block; null where `fails`. */
function chainWhere(fails: (call: EthCall) => boolean = () => false): FakeSource {
  return createFakeSource({
    headers: headersUpTo(HEAD),
    call(call): Hex | null {
      if (fails(call)) return null;
      const pool = BigInt(call.to);
      if (call.data === SLOT0)
        return encodeFunctionResult({
          abi: poolAbi,
          functionName: "slot0",
          result: [2n ** 96n + pool, call.block, 1, 2, 3, 0, true],
        });
      return word(call.data === LIQUIDITY ? pool : 1_000_000n * pool + BigInt(call.block));
    },
  });
}

const TOKENS = { token0Address: address(0x10), token1Address: address(0x11) };
const silent = (n: number) =>
  poolRow({ poolAddress: address(0x5000 + n), createdBlock: FROM - 1 - (n % 9), ...TOKENS });

describe("readInactivePools", () => {
  let store: Store;
  const paused: number[] = [];
  beforeEach(async () => {
    store = await openTestStore();
    paused.length = 0;
  });
  afterEach(() => store.close());

  const read = (source: FakeSource, signal = new AbortController().signal) =>
    readInactivePools({
      store,
      source,
      fromBlock: FROM,
      perSecond: 100,
      guard: () => [],
      signal,
      pause: async (ms) => {
        paused.push(ms);
      },
    });

  it("reads the state of inactive pools just before the index, and no others", async () => {
    const young = poolRow({ poolAddress: address(0x1), createdBlock: FROM });
    const busy = poolRow({ poolAddress: address(0x2), createdBlock: 3 });
    const elsewhere = poolRow({ poolAddress: address(0x4), createdBlock: 3, chainId: 1 });
    await store.write([
      put(pools, [young, busy, elsewhere, silent(7)]),
      put(poolStates, [poolStateRow({ poolAddress: busy.poolAddress })]),
    ]);
    const source = chainWhere();
    expect(await read(source)).to.equal(1);
    const [row, ...others] = await store.find(inactivePools, {});
    expect(others).to.deep.equal([]);
    expect(row).to.include({
      chainId: CHAIN_ID,
      poolAddress: silent(7).poolAddress,
      balance0: 16_000_000n + BigInt(FROM - 1),
      balance1: 17_000_000n + BigInt(FROM - 1),
      balanceBlock: FROM - 1,
    });
    expect(readState(row?.state ?? "")).to.deep.equal({
      sqrtPriceX96: 2n ** 96n + 0x5007n,
      tick: FROM - 1,
      liquidity: 0x5007n,
      reserve0: row?.balance0,
      reserve1: row?.balance1,
      feeProtocol: 0,
    });
    expect(source.calls.flat()).to.have.length(4);
  });

  it("reads a v2 pool's getters, and those of its gauge at that block", async () => {
    const v2 = poolRow({ poolAddress: address(0x3), createdBlock: 3, protocol: "aerodrome-v2" });
    const late = { ...v2, poolAddress: address(0x4) };
    const gaugeOf = (pool: string, createdBlock: number) => ({
      chainId: CHAIN_ID,
      gauge: address(Number(pool) + 0x70),
      poolAddress: pool,
      voter: address(0x707e),
      createdBlock,
    });
    const stored = [gaugeOf(v2.poolAddress, FROM - 1), gaugeOf(late.poolAddress, FROM)];
    await store.write([put(pools, [v2, late]), put(gauges, stored)]);
    const source = createFakeSource({
      headers: headersUpTo(HEAD),
      call: ({ to, block }) =>
        encodeAbiParameters([{ type: "uint256" }, { type: "uint256" }], [BigInt(to) * 1_000n, BigInt(block)]),
    });
    expect(await read(source)).to.equal(2);
    const rows = await store.find(inactivePools, {});
    const states = rows.map((row) => readV2State(row.state));
    expect(states.map(({ gauge, staked }) => [gauge, staked])).to.deep.equal([
      [stored[0]?.gauge, 0x73n * 1_000n],
      [undefined, 0n],
    ]);
    expect(states.map(({ reserve0, reserve1 }) => [reserve0, reserve1])).to.deep.equal([
      [3_000n, BigInt(FROM - 1)],
      [4_000n, BigInt(FROM - 1)],
    ]);
    expect(rows.map((row) => [row.balance0, row.balance1])).to.deep.equal([
      [3_000n, BigInt(FROM - 1)],
      [4_000n, BigInt(FROM - 1)],
    ]);
  });

  it("reads any number of pools in small requests, no faster than configured, and once", async () => {
    const many = Array.from({ length: 2_060 }, (_, n) => silent(n));
    await store.write([put(pools, many)]);
    const source = chainWhere();
    expect(await read(source)).to.equal(many.length);
    expect((await store.find(inactivePools, {})).map((row) => row.poolAddress)).to.deep.equal(
      many.map((row) => row.poolAddress),
    );
    expect(Math.max(...source.calls.map((calls) => calls.length))).to.be.at.most(100);
    const seconds = paused.reduce((sum, ms) => sum + ms, 0) / 1_000;
    expect(seconds).to.be.closeTo(many.length / 100, 1e-6);
    expect(await read(source)).to.equal(0);
    expect(source.calls.flat()).to.have.length(4 * many.length);
  });

  it("resumes where it was stopped", async () => {
    await store.write([
      put(
        pools,
        Array.from({ length: 60 }, (_, n) => silent(n)),
      ),
    ]);
    const stop = new AbortController();
    const source = chainWhere();
    const dying = {
      ...source,
      call: async (calls: readonly EthCall[]) => {
        if (source.calls.length === 1) stop.abort();
        return source.call(calls);
      },
    };
    const first = await read(dying as FakeSource, stop.signal);
    expect(first).to.be.greaterThan(0).and.lessThan(60);
    expect(await read(chainWhere())).to.equal(60 - first);
    expect(await store.count(inactivePools, {})).to.equal(60);
  });

  it("reads the head where that state is pruned, and leaves out pools whose calls fail", async () => {
    await store.write([put(pools, [silent(1), silent(2)])]);
    const mute = silent(2).poolAddress;
    await read(chainWhere(({ to, block }) => block === FROM - 1 || to === mute));
    const rows = await store.find(inactivePools, {});
    expect(rows.map((row) => [row.poolAddress, row.balanceBlock])).to.deep.equal([
      [silent(1).poolAddress, HEAD],
    ]);
  });

  it("waits for endpoints that do not respond", async () => {
    await store.write([put(pools, [silent(1)])]);
    const source = chainWhere();
    let failures = 2;
    const flaky = {
      ...source,
      call: async (calls: readonly EthCall[]) => {
        if (failures-- > 0) throw new UpstreamError("no endpoint responded");
        return source.call(calls);
      },
    };
    expect(await read(flaky as FakeSource)).to.equal(1);
    expect(paused.filter((ms) => ms === 5_000)).to.have.length(2);
  });
});
