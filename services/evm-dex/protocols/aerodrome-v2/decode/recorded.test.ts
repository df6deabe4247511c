import { expect } from "chai";
import { before, describe, it } from "mocha";
import { type Log, parseEventLogs } from "viem";
import { aerodromePoolAbi } from "../../../../../deploy/devnet/contracts/aerodrome/abi.ts";
import type { Hex } from "../../../../shared/evm/port.ts";
import { INDEX_SCALE } from "../../../metrics/v2-bucket.ts";
import { readRecorded } from "../../../test/kit/recorded.ts";
import { createDecoder } from "../../protocol.ts";
import { applyV2 } from "../apply.ts";
import type { V2Event } from "../events.ts";
import { EMPTY_V2_STATE, type V2State } from "../state.ts";
import { poolDecoders, swap, transfer } from "./pool.ts";

/** A whole block of Base, of the time before Aerodrome, with Solidly pools in it. */
const RECORDED = "base_mainnet_native_block_2000000.json";
/** By the block's description: four swaps of Solidly pools, with a Fees, a Sync and a Swap each. */
const SOLIDLY = 4;
/** Solidly v1's Swap has the four amounts of Aerodrome's in the same order under Uniswap v2's topic. */
const V1_SWAP = "0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822";

interface RecordedLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

const decode = createDecoder<V2Event>([...poolDecoders, transfer]);

describe("a recorded block of Base", () => {
  let logs: RecordedLog[] = [];
  before(function () {
    const blocks = readRecorded<{ receipts: { logs: RecordedLog[] }[] }>(this, (name) => name === RECORDED);
    logs = blocks.flatMap(({ receipts }) => receipts.flatMap((receipt) => receipt.logs));
  });

  it(`holds ${SOLIDLY} Fees and Sync, and every log is decoded as by viem`, () => {
    const found: Record<string, number> = {};
    for (const log of logs) {
      const event = decode(log);
      const [byViem] = parseEventLogs({ abi: aerodromePoolAbi, logs: [log as unknown as Log], strict: true });
      expect(event === undefined, log.topics[0]).to.equal(byViem === undefined);
      if (event === undefined || byViem === undefined) continue;
      found[event.kind] = (found[event.kind] ?? 0) + 1;
      const args = Object.values(byViem.args).map((arg) => String(arg).toLowerCase());
      const { kind, ...own } = event;
      expect(byViem.eventName.toLowerCase()).to.equal(kind);
      expect(args).to.include.members(Object.values(own).map(String));
    }
    expect(found).to.include({ fees: SOLIDLY, sync: SOLIDLY });
    expect(found.transfer).to.be.greaterThan(10);
  });

  it("holds swaps that are complete after Fees, Sync and Swap", () => {
    const states = new Map<string, V2State>();
    let swaps = 0;
    for (const log of logs) {
      const event = log.topics[0] === V1_SWAP ? swap.decode(log) : decode(log);
      if (event === undefined || event.kind === "transfer") continue;
      const before = states.get(log.address) ?? { ...EMPTY_V2_STATE, totalSupply: INDEX_SCALE };
      const after = applyV2(before, event, 0);
      states.set(log.address, after);
      if (event.kind !== "swap" || after.reserve0 === 0n) continue;
      swaps += 1;
      expect(after.isSwapping).to.equal(false);
      // Their factory takes some 0.15 % of what comes in.
      const isSome = (fee: bigint, amountIn: bigint) => fee * 600n < amountIn && fee * 720n > amountIn;
      const { amount0In, amount1In } = event;
      expect(amount0In === 0n ? after.swapFee0 === 0n : isSome(after.swapFee0, amount0In)).to.equal(true);
      expect(amount1In === 0n ? after.swapFee1 === 0n : isSome(after.swapFee1, amount1In)).to.equal(true);
      expect([after.index0, after.index1]).to.deep.equal([after.swapFee0, after.swapFee1]);
    }
    expect(swaps).to.equal(SOLIDLY);
  });
});
