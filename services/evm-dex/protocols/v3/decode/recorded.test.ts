import { expect } from "chai";
import { before, describe, it } from "mocha";
import { type Log, parseEventLogs, toEventSelector } from "viem";
import { poolAbi } from "../../../../../deploy/devnet/contracts/uniswap.ts";
import type { Hex } from "../../../../shared/evm/port.ts";
import { readRecorded } from "../../../test/kit/recorded.ts";
import { createDecoder } from "../../protocol.ts";
import type { V3Event } from "../events.ts";
import { pancakeDecoders, slipstreamDecoders, uniswapDecoders } from "./pool.ts";

const decodeV3 = createDecoder(uniswapDecoders);

/** Of the ten Ethereum blocks, by their description. */
const SWAPS = 60;

interface RecordedBlock {
  readonly chain: string;
  readonly receipts: readonly {
    readonly logs: readonly { readonly topics: readonly Hex[]; readonly data: Hex }[];
  }[];
}

const swapTopic = toEventSelector("Swap(address,address,int256,int256,uint160,uint128,int24)");
const poolTopics = new Set(
  poolAbi.filter((item) => item.type === "event").map((event) => toEventSelector(event)),
);

/** Decodes a log with viem to our event type; undefined where it is not a pool event. */
function parseByViem(log: { topics: readonly Hex[]; data: Hex }): V3Event | undefined {
  const [event] = parseEventLogs({ abi: poolAbi, logs: [log as unknown as Log], strict: true });
  switch (event?.eventName) {
    case "Initialize":
      return { kind: "initialize", ...event.args };
    case "Swap": {
      const { sender: _, recipient: __, ...args } = event.args;
      return { kind: "swap", ...args };
    }
    case "Mint":
    case "Burn": {
      const { tickLower, tickUpper, amount, amount0, amount1 } = event.args;
      return {
        kind: event.eventName === "Mint" ? "mint" : "burn",
        tickLower,
        tickUpper,
        liquidity: amount,
        amount0,
        amount1,
      };
    }
    case "Collect":
    case "CollectProtocol": {
      const { amount0, amount1 } = event.args;
      return { kind: event.eventName === "Collect" ? "collect" : "collect_protocol", amount0, amount1 };
    }
    case "Flash":
      return { kind: "flash", paid0: event.args.paid0, paid1: event.args.paid1 };
    case "SetFeeProtocol":
      return {
        kind: "set_fee_protocol",
        feeProtocol: event.args.feeProtocol1New * 16 + event.args.feeProtocol0New,
      };
    default:
      return undefined;
  }
}

describe("recorded blocks", () => {
  let blocks: RecordedBlock[] = [];
  before(function () {
    blocks = readRecorded(this);
  });
  const logsOf = (list: readonly RecordedBlock[]) =>
    list.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs));

  it(`hold ${SWAPS} swaps on Ethereum, by topic and by form`, () => {
    const logs = logsOf(blocks.filter(({ chain }) => chain === "ethereum"));
    expect(logs.filter(({ topics }) => topics[0] === swapTopic)).to.have.length(SWAPS);
    expect(logs.filter((log) => decodeV3(log)?.kind === "swap")).to.have.length(SWAPS);
  });

  it("are read as viem reads them, every log of them", () => {
    const logs = logsOf(blocks);
    expect(logs.length).to.be.greaterThan(1_000);
    const found = new Set<string>();
    for (const log of logs) {
      const event = decodeV3(log);
      // viem is slow on logs of other contracts: those are recognised by their topic.
      const isOne = poolTopics.has(log.topics[0] as Hex);
      expect(event).to.deep.equal(isOne ? parseByViem(log) : undefined);
      if (event !== undefined) found.add(event.kind);
    }
    expect([...found]).to.include.members(["swap", "mint", "burn", "collect"]);
  });

  it("are read by the others' decoders as Uniswap's where the events are the same", () => {
    const [pancake, slipstream] = [createDecoder(pancakeDecoders), createDecoder(slipstreamDecoders)];
    let shared = 0;
    for (const log of logsOf(blocks)) {
      const event = decodeV3(log);
      expect(slipstream(log)).to.deep.equal(event);
      // Its swap has two words more.
      expect(pancake(log)).to.deep.equal(event?.kind === "swap" ? undefined : event);
      if (event !== undefined) shared += 1;
    }
    expect(shared).to.be.greaterThan(SWAPS);
  });
});
