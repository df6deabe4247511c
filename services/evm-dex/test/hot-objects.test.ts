import { expect } from "chai";
import { describe, it } from "mocha";
import type { BlockHeader, Hex } from "../../shared/evm/port.ts";
import { packPart, unpackPart } from "../../shared/evm/thread/packed-part.ts";
import { sharesHiddenClass } from "../../shared/testkit/hidden-class.ts";
import { readRollup, toRollup } from "../ingest/state/v2-book.ts";
import { emptyV2Bucket } from "../metrics/v2-bucket.ts";
import { pancakeDecoders } from "../protocols/v3/decode/pool.ts";
import { applyEvent, EMPTY_STATE } from "../protocols/v3/state.ts";
import { toLargeSwap, type V2SwapRow, v2BucketOf } from "../views/v2-swap.ts";
import { address, hash } from "./kit/rows.ts";

const swap: V2SwapRow = {
  ...{ poolAddress: address(1), time: 1_000, blockNumber: 1, logIndex: 1, txHash: hash(1, 1) },
  ...{ valueUsd: 2, feeUsd: 0.25, moved: { amount0: 5n, amount1: -4n } },
  fees: { amount0: 1n, amount1: 0n, totalSupply: 100n },
};
const header: BlockHeader = {
  ...{ number: 1, hash: hash(1, 2) as Hex, parentHash: hash(1, 3) as Hex, timestamp: 1_000 },
  logsBloom: "0x",
};
const at = { chainId: 8453, poolAddress: address(1), span: 3_600, start: 0 };

/** One of each kind that an ingest makes for an event, a block or a bucket of its cache. */
const MADE: Readonly<Record<string, () => object>> = {
  "a bucket of a v2 pool": emptyV2Bucket,
  "the bucket of one v2 swap": () => v2BucketOf(swap),
  "a stored bucket of a v2 pool": () => readRollup(toRollup(at, v2BucketOf(swap))),
  "a large swap": () => toLargeSwap(swap),
  "a v3 state after a flash loan": () =>
    applyEvent(EMPTY_STATE, { kind: "flash", paid0: 1n, paid1: 1n } as never),
  "a decoded swap of PancakeSwap": () => {
    const decoder = pancakeDecoders.find(({ words }) => words === 7);
    if (decoder === undefined) return expect.fail("it has no decoder of a swap");
    const data: Hex = `0x${"0".repeat(63)}1${"0".repeat(6 * 64)}`;
    return decoder.decode({ topics: [decoder.topic as Hex], data } as never);
  },
  "a block that has crossed threads": () => {
    const range = { fromBlock: 1, toBlock: 1 };
    const part = packPart({ range, blocks: [{ ...header, senders: [], logs: [] }] });
    return unpackPart(part).blocks[0] ?? expect.fail("it has no block");
  },
};

describe("objects of hot paths", () => {
  if ("Deno" in globalThis) {
    it("are not looked at where V8 cannot be asked: Deno takes no flags of V8", () =>
      expect(() => sharesHiddenClass(emptyV2Bucket)).to.throw(SyntaxError));
    return;
  }
  for (const [name, make] of Object.entries(MADE))
    it(`share a hidden class: ${name}`, () => expect(sharesHiddenClass(make)).to.equal(true));

  // Later versions make such objects as quickly as others.
  if (process.versions.node.startsWith("20."))
    it("would be seen if they did not", () => {
      const bucket = { swapCount: 0 };
      expect(sharesHiddenClass(() => ({ ...bucket, volume0: 0n, volume1: 0n }))).to.equal(false);
    });
});
