import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { toEventSelector } from "viem";
import { poolAbi } from "../../../../../deploy/devnet/contracts/uniswap.ts";
import type { Hex } from "../../../../shared/evm/port.ts";
import {
  createDecoder,
  type Decoder,
  matchesDecoder,
  type PoolCreatedEvent,
  type PoolEvent,
} from "../../protocol.ts";
import {
  anyArgs,
  type EventAbi,
  encodeLog,
  pancakeAbi,
  slipstreamAbi,
  slipstreamFactoryAbi,
  uniswapAbi,
  uniswapFactoryAbi,
} from "../testkit/encode-event.ts";
import { poolCreated, slipstreamPoolCreated } from "./factory.ts";
import { pancakeDecoders, slipstreamDecoders, uniswapDecoders } from "./pool.ts";

// biome-ignore lint/suspicious/noExplicitAny: arguments of many events, read by name.
type Expected = (args: any) => unknown;
const toSwap: Expected = ({ amount0, amount1, sqrtPriceX96, liquidity, tick }) => ({
  kind: "swap",
  amount0,
  amount1,
  sqrtPriceX96,
  liquidity,
  tick,
});
const toLiquidity =
  (kind: string): Expected =>
  ({ tickLower, tickUpper, amount, amount0, amount1 }) => ({
    kind,
    tickLower,
    tickUpper,
    liquidity: amount,
    amount0,
    amount1,
  });
const toCollect =
  (kind: string): Expected =>
  ({ amount0, amount1 }) => ({ kind, amount0, amount1 });

/** What our decoders should make of the arguments of each event. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  Initialize: ({ sqrtPriceX96, tick }) => ({ kind: "initialize", sqrtPriceX96, tick }),
  Swap: toSwap,
  Mint: toLiquidity("mint"),
  Burn: toLiquidity("burn"),
  Collect: toCollect("collect"),
  CollectProtocol: toCollect("collect_protocol"),
  CollectFees: toCollect("collect_fees"),
  Flash: ({ paid0, paid1 }) => ({ kind: "flash", paid0, paid1 }),
  SetFeeProtocol: ({ feeProtocol0New, feeProtocol1New }) => ({
    kind: "set_fee_protocol",
    feeProtocol: feeProtocol1New * 16 + feeProtocol0New,
  }),
};
const PANCAKE: typeof EXPECTED = {
  ...EXPECTED,
  Swap: (args) => ({
    ...(toSwap(args) as object),
    protocolFees: { amount0: args.protocolFeesToken0, amount1: args.protocolFeesToken1 },
  }),
};

/** Every other form that an event of the same signature can have. */
function otherForms({ topics, data }: { topics: Hex[]; data: Hex }) {
  const word = "0".repeat(64);
  return [
    { topics: topics.slice(0, -1), data },
    { topics: [...topics, `0x${word}` as Hex], data },
    { topics, data: data.slice(0, -64) as Hex },
    { topics, data: `${data}${word}` as Hex },
    { topics, data: data.slice(0, -2) as Hex },
    { topics, data: `${data}00` as Hex },
    { topics, data: "0x" as Hex },
  ];
}

const POOLS: readonly [string, readonly Decoder<PoolEvent>[], readonly EventAbi[], typeof EXPECTED][] = [
  ["Uniswap v3", uniswapDecoders, uniswapAbi, EXPECTED],
  ["PancakeSwap v3", pancakeDecoders, pancakeAbi, PANCAKE],
  ["Slipstream", slipstreamDecoders, slipstreamAbi, EXPECTED],
];

for (const [name, decoders, abi, expected] of POOLS) {
  const decode = createDecoder(decoders);

  describe(`events of a ${name} pool`, () => {
    for (const event of abi) {
      // What SetFeeProtocol carries are 4 bits each.
      const args = anyArgs(event).map((values) =>
        event.name === "SetFeeProtocol"
          ? Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Number(value) % 16]))
          : values,
      );

      it(`${event.name} is read as viem wrote it`, () => {
        fc.assert(
          fc.property(args, (values) => {
            expect(decode(encodeLog(event, values))).to.deep.equal(expected[event.name]?.(values));
          }),
          { numRuns: 60 },
        );
      });

      it(`${event.name} with another number of topics or words is ignored`, () => {
        const [values] = fc.sample(args, { numRuns: 1, seed: 1 });
        const log = encodeLog(event, values as Record<string, unknown>);
        for (const other of otherForms(log)) expect(decode(other)).to.equal(undefined);
        expect(decode(log)).not.to.equal(undefined);
      });
    }

    it("have the topics of the contract's ABI, each once", () => {
      expect(decoders.map(({ topic }) => topic)).to.have.members(abi.map((event) => toEventSelector(event)));
    });

    it("are distinguished from other contracts' events, and from logs without topics", () => {
      const transfer: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
      expect(decode({ topics: [transfer], data: "0x" })).to.equal(undefined);
      expect(decode({ topics: [], data: "0x" })).to.equal(undefined);
    });
  });
}

describe("the ABI of the tests", () => {
  it("is Uniswap's own", () => {
    const own = poolAbi.filter((item) => item.type === "event").map((event) => toEventSelector(event));
    for (const event of uniswapAbi) expect(own).to.include(toEventSelector(event));
  });
});

const FACTORIES: readonly [string, Decoder<PoolCreatedEvent>, EventAbi, Expected][] = [
  ["Uniswap v3", poolCreated, uniswapFactoryAbi[0], (args) => args],
  ["Slipstream", slipstreamPoolCreated, slipstreamFactoryAbi[0], (args) => ({ ...args, fee: null })],
];

for (const [name, decoder, event, expected] of FACTORIES) {
  describe(`PoolCreated of ${name}`, () => {
    it("is read as viem wrote it", () => {
      expect(decoder.topic).to.equal(toEventSelector(event));
      fc.assert(
        fc.property(anyArgs(event), (values) => {
          const log = encodeLog(event, values);
          expect(matchesDecoder(log, decoder)).to.equal(true);
          expect(decoder.decode(log)).to.deep.equal(expected(values));
        }),
        { numRuns: 60 },
      );
    });

    it("of another form does not fit", () => {
      const [values] = fc.sample(anyArgs(event), { numRuns: 1, seed: 1 });
      for (const other of otherForms(encodeLog(event, values as Record<string, unknown>)))
        expect(matchesDecoder(other, decoder)).to.equal(false);
    });
  });
}
