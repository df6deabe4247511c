import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, toEventSelector } from "viem";
import { factoryAbi, poolAbi } from "../../../../../deploy/devnet/contracts/uniswap.ts";
import type { Hex } from "../../../../shared/chain/evm/port.ts";
import { createDecode, fits } from "../../protocol.ts";
import type { V3Event } from "../events.ts";
import { uniswapDecoders } from "./index.ts";
import { poolCreated } from "./pool-created.ts";

const decodeV3 = createDecode(uniswapDecoders);

const uint = (bits: number) => {
  const max = 2n ** BigInt(bits) - 1n;
  return fc.oneof(fc.bigInt({ min: 0n, max }), fc.constantFrom(0n, 1n, max));
};
const int256 = fc.oneof(
  fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }),
  fc.constantFrom(0n, 1n, -1n, -(2n ** 255n), 2n ** 255n - 1n),
);
const int24 = fc.oneof(
  fc.integer({ min: -(2 ** 23), max: 2 ** 23 - 1 }),
  fc.constantFrom(0, -1, -887_272, 887_272, -(2 ** 23), 2 ** 23 - 1),
);
const address = fc
  .bigInt({ min: 0n, max: 2n ** 160n - 1n })
  .map((n): Hex => `0x${n.toString(16).padStart(40, "0")}`);

/** Random arguments of every event by the names of its ABI, and what our decoder should make of them. */
const EVENTS: readonly {
  readonly name: string;
  readonly args: fc.Arbitrary<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: arguments of many events, read by name.
  readonly expected: (args: any) => V3Event;
}[] = [
  {
    name: "Initialize",
    args: fc.record({ sqrtPriceX96: uint(160), tick: int24 }),
    expected: ({ sqrtPriceX96, tick }) => ({ kind: "initialize", sqrtPriceX96, tick }),
  },
  {
    name: "Swap",
    args: fc.record({
      sender: address,
      recipient: address,
      amount0: int256,
      amount1: int256,
      sqrtPriceX96: uint(160),
      liquidity: uint(128),
      tick: int24,
    }),
    expected: ({ amount0, amount1, sqrtPriceX96, liquidity, tick }) => ({
      kind: "swap",
      amount0,
      amount1,
      sqrtPriceX96,
      liquidity,
      tick,
    }),
  },
  ...(["Mint", "Burn"] as const).map((name) => ({
    name,
    args: fc.record({
      sender: address,
      owner: address,
      tickLower: int24,
      tickUpper: int24,
      amount: uint(128),
      amount0: uint(256),
      amount1: uint(256),
    }),
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    expected: ({ tickLower, tickUpper, amount, amount0, amount1 }: any): V3Event => ({
      kind: name === "Mint" ? "mint" : "burn",
      tickLower,
      tickUpper,
      liquidity: amount,
      amount0,
      amount1,
    }),
  })),
  {
    name: "Collect",
    args: fc.record({
      owner: address,
      recipient: address,
      tickLower: int24,
      tickUpper: int24,
      amount0: uint(128),
      amount1: uint(128),
    }),
    expected: ({ amount0, amount1 }) => ({ kind: "collect", amount0, amount1 }),
  },
  {
    name: "CollectProtocol",
    args: fc.record({ sender: address, recipient: address, amount0: uint(128), amount1: uint(128) }),
    expected: ({ amount0, amount1 }) => ({ kind: "collect_protocol", amount0, amount1 }),
  },
  {
    name: "Flash",
    args: fc.record({
      sender: address,
      recipient: address,
      amount0: uint(256),
      amount1: uint(256),
      paid0: uint(256),
      paid1: uint(256),
    }),
    expected: ({ paid0, paid1 }) => ({ kind: "flash", paid0, paid1 }),
  },
  {
    name: "SetFeeProtocol",
    args: fc.record({
      feeProtocol0Old: fc.nat(15),
      feeProtocol1Old: fc.nat(15),
      feeProtocol0New: fc.nat(15),
      feeProtocol1New: fc.nat(15),
    }),
    expected: ({ feeProtocol0New, feeProtocol1New }) => ({
      kind: "set_fee_protocol",
      feeProtocol: feeProtocol1New * 16 + feeProtocol0New,
    }),
  },
];

function abiOf(name: string): AbiEvent {
  const found = [...poolAbi, ...factoryAbi].find((item) => item.type === "event" && item.name === name);
  if (found?.type !== "event") throw new Error(`The ABI has no event ${name}.`);
  return found;
}

/** The log that a contract would emit, by viem. */
function encodeLog(name: string, args: Record<string, unknown>): { topics: Hex[]; data: Hex } {
  const abi = abiOf(name);
  const topics = encodeEventTopics({ abi: [abi], eventName: name, args }) as Hex[];
  const inData = abi.inputs.filter((input) => input.indexed !== true);
  const data = encodeAbiParameters(
    inData,
    inData.map((input) => args[input.name ?? ""]),
  );
  return { topics, data };
}

describe("pool events", () => {
  for (const { name, args, expected } of EVENTS) {
    it(`${name} is read as viem wrote it`, () => {
      fc.assert(
        fc.property(args, (values) => {
          expect(decodeV3(encodeLog(name, values))).to.deep.equal(expected(values));
        }),
        { numRuns: 60 },
      );
    });

    it(`${name} with another number of topics or words is none`, () => {
      const [values] = fc.sample(args, { numRuns: 1, seed: 1 });
      const { topics, data } = encodeLog(name, values as Record<string, unknown>);
      const word = "0".repeat(64);
      const others = [
        { topics: topics.slice(0, -1), data },
        { topics: [...topics, `0x${word}` as Hex], data },
        { topics, data: data.slice(0, -64) as Hex },
        { topics, data: `${data}${word}` as Hex },
        { topics, data: data.slice(0, -2) as Hex },
        { topics, data: `${data}00` as Hex },
        { topics, data: "0x" as Hex },
      ];
      for (const other of others) expect(decodeV3(other)).to.equal(undefined);
      expect(decodeV3({ topics, data })).not.to.equal(undefined);
    });
  }

  it("have the topics of the genuine contracts' ABI", () => {
    const topics = EVENTS.map(({ name }) => toEventSelector(abiOf(name)));
    expect(new Set(uniswapDecoders.map(({ topic }) => topic))).to.deep.equal(new Set(topics));
    expect(uniswapDecoders).to.have.length(topics.length);
    expect(poolCreated.topic).to.equal(toEventSelector(abiOf("PoolCreated")));
  });

  it("are told from other contracts' events, and from logs without topics", () => {
    const transfer: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    expect(decodeV3({ topics: [transfer], data: "0x" })).to.equal(undefined);
    expect(decodeV3({ topics: [], data: "0x" })).to.equal(undefined);
  });
});

describe("PoolCreated", () => {
  it("is read as viem wrote it", () => {
    const args = fc.record({
      token0: address,
      token1: address,
      fee: fc.nat(2 ** 24 - 1),
      tickSpacing: fc.integer({ min: -(2 ** 23), max: 2 ** 23 - 1 }),
      pool: address,
    });
    fc.assert(
      fc.property(args, (values) => {
        const log = encodeLog("PoolCreated", values);
        expect(fits(log, poolCreated)).to.equal(true);
        expect(poolCreated.decode(log)).to.deep.equal(values);
      }),
      { numRuns: 60 },
    );
  });

  it("of another form does not fit", () => {
    const log = encodeLog("PoolCreated", {
      token0: `0x${"1".repeat(40)}`,
      token1: `0x${"2".repeat(40)}`,
      fee: 500,
      tickSpacing: 10,
      pool: `0x${"3".repeat(40)}`,
    });
    expect(fits({ ...log, topics: log.topics.slice(1) }, poolCreated)).to.equal(false);
    expect(fits({ ...log, data: `${log.data}${"0".repeat(64)}` }, poolCreated)).to.equal(false);
  });
});
