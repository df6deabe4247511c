import { expect } from "chai";
import { describe, it } from "mocha";
import { decodeFunctionData, parseAbi } from "viem";
import { BlockUnavailable, type EthCall, type Hex } from "../../../shared/evm/port.ts";
import { EMPTY_V2_STATE } from "../../protocols/aerodrome-v2/state.ts";
import { aerodromeV2 } from "../../protocols/aerodrome-v2.ts";
import { EMPTY_STATE } from "../../protocols/v3/state.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, poolEntry, poolRow, word } from "../../test/kit/rows.ts";
import { balanceCalls, observeBalances, readBalance } from "./balances.ts";

const abi = parseAbi(["function balanceOf(address) view returns (uint256)"]);
const HEAD = 500;

function touched(n: number, { lastBlock, balanceBlock }: { lastBlock: number; balanceBlock?: number }) {
  const row = poolRow({
    poolAddress: address(0x900 + n),
    token0Address: address(2 * n),
    token1Address: address(2 * n + 1),
  });
  const state = { ...EMPTY_STATE, reserve0: 11n, reserve1: 22n };
  return poolEntry({ row, state, lastBlock, balanceBlock: balanceBlock ?? -1 });
}

/** Tokens with a balance of 1,000 × their number plus the block, for every pool; some fail. */
function answerWith(fails: (call: EthCall) => boolean) {
  return createFakeSource({
    call: (call) => (fails(call) ? null : word(1_000n * BigInt(call.to) + BigInt(call.block))),
  });
}

describe("balanceCalls", () => {
  it("call balanceOf(pool) of both tokens", () => {
    const row = poolRow();
    const calls = balanceCalls(row, 77);
    expect(calls.map(({ to, block }) => [to, block])).to.deep.equal([
      [row.token0Address, 77],
      [row.token1Address, 77],
    ]);
    for (const { data } of calls) {
      const { functionName, args } = decodeFunctionData({ abi, data });
      expect([functionName, args[0].toLowerCase()]).to.deep.equal(["balanceOf", row.poolAddress]);
    }
  });
});

describe("readBalance", () => {
  it("reads a word, and null where it is missing", () => {
    expect(readBalance(word(2n ** 256n - 1n))).to.equal(2n ** 256n - 1n);
    expect(readBalance(`${word(5n)}00`)).to.equal(5n);
    for (const none of [null, undefined, "0x", "0x05"] as (Hex | null | undefined)[]) {
      expect(readBalance(none)).to.equal(null);
    }
  });
});

describe("observeBalances", () => {
  it("reads each pool at the block of its last event, all in one request", async () => {
    const entries = [touched(1, { lastBlock: 300 }), touched(2, { lastBlock: 301 })];
    const source = answerWith(() => false);
    await observeBalances(source, { pools: entries, head: HEAD });
    expect(entries[0]).to.include({ balance0: 2_300n, balance1: 3_300n, balanceBlock: 300 });
    expect(entries[1]).to.include({ balance0: 4_301n, balance1: 5_301n, balanceBlock: 301 });
    expect(source.calls).to.have.length(1);
  });

  it("requests nothing for pools that were read at that block", async () => {
    const source = answerWith(() => false);
    await observeBalances(source, { pools: [touched(1, { lastBlock: 300, balanceBlock: 300 })], head: HEAD });
    await observeBalances(source, { pools: [], head: HEAD });
    expect(source.calls).to.have.length(0);
  });

  it("reads at the head where that block's state is pruned, for those pools only", async () => {
    const entries = [touched(1, { lastBlock: 300 }), touched(2, { lastBlock: 450 })];
    const source = answerWith(({ block }) => block < 400);
    await observeBalances(source, { pools: entries, head: HEAD });
    expect(entries[0]).to.include({ balance0: 2_500n, balance1: 3_500n, balanceBlock: HEAD });
    expect(entries[1]).to.include({ balance0: 4_450n, balance1: 5_450n, balanceBlock: 450 });
    expect(source.calls.map((calls) => calls.length)).to.deep.equal([4, 2]);
  });

  it("keeps the sums of events for a token that always fails", async () => {
    const entry = touched(1, { lastBlock: 300 });
    const source = answerWith(({ to }) => to === address(3));
    await observeBalances(source, { pools: [entry], head: HEAD });
    expect(entry).to.include({ balance0: 11n, balance1: 22n, balanceBlock: 300 });
  });

  it("uses the reserves from events where the protocol has them, and requests nothing", async () => {
    const row = poolRow({ protocol: "aerodrome-v2" });
    const state = { ...EMPTY_V2_STATE, reserve0: 33n, reserve1: 44n };
    const entry = poolEntry({ row, protocol: aerodromeV2, state, lastBlock: 300 });
    const source = answerWith(() => false);
    await observeBalances(source, { pools: [entry], head: HEAD });
    expect(entry).to.include({ balance0: 33n, balance1: 44n, balanceBlock: 300 });
    expect(source.calls.flat()).to.deep.equal([]);
  });
});

describe("observeBalances at a block's hash", () => {
  const HASH = `0x${"ab".repeat(32)}` as Hex;
  const hashOf = (block: number) => (block === 300 ? HASH : undefined);

  it("names the hash where it is known, and has reverts confirmed", async () => {
    const source = answerWith(() => false);
    await observeBalances(source, {
      pools: [touched(1, { lastBlock: 300 }), touched(2, { lastBlock: 301 })],
      head: HEAD,
      hashOf,
    });
    const calls = source.calls[0] ?? [];
    expect(calls.map(({ blockHash }) => blockHash)).to.deep.equal([HASH, HASH, undefined, undefined]);
    expect(calls.every(({ confirmRevert }) => confirmRevert === true)).to.equal(true);
  });

  it("reads by number where a state is unavailable by hash", async () => {
    const entry = touched(1, { lastBlock: 300 });
    const source = createFakeSource({
      call(call) {
        if (call.blockHash !== undefined) throw new BlockUnavailable("its state is gone");
        return word(7n);
      },
    });
    await observeBalances(source, { pools: [entry], head: HEAD, hashOf });
    expect([entry.balance0, entry.balance1, entry.balanceBlock]).to.deep.equal([7n, 7n, 300]);
    expect(source.calls).to.have.length(2);
  });
});
