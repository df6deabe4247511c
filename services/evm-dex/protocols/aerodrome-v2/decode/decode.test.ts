import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, toEventSelector } from "viem";
import {
  aerodromeFactoryAbi,
  aerodromeGaugeAbi,
  aerodromePoolAbi,
  aerodromeVoterAbi,
} from "../../../../../deploy/devnet/contracts/aerodrome/abi.ts";
import type { Hex } from "../../../../shared/evm/port.ts";
import { createDecoder } from "../../protocol.ts";
import { poolCreated, setCustomFee } from "./factory.ts";
import { deposit, notifyReward, withdraw } from "./gauge.ts";
import { poolDecoders, transfer } from "./pool.ts";
import { gaugeCreated, gaugeKilled, gaugeRevived } from "./voter.ts";

const max = 2n ** 256n - 1n;
const uint256 = fc.oneof(fc.bigInt({ min: 0n, max }), fc.constantFrom(0n, 1n, max));
const address = fc
  .bigInt({ min: 0n, max: 2n ** 160n - 1n })
  .map((n): Hex => `0x${n.toString(16).padStart(40, "0")}`);
const amounts = { amount0: uint256, amount1: uint256 };

type Args = Record<string, unknown>;
interface EventCase {
  readonly name: string;
  readonly args: fc.Arbitrary<Args>;
  readonly expected: (args: Args) => unknown;
}

/** Random arguments of every event by the names of its ABI, and what our decoder should make of them. */
const POOL_EVENTS: readonly EventCase[] = [
  {
    name: "Swap",
    args: fc.record({
      sender: address,
      to: address,
      amount0In: uint256,
      amount1In: uint256,
      amount0Out: uint256,
      amount1Out: uint256,
    }),
    expected: ({ sender: _, to: __, ...args }) => ({ kind: "swap", ...args }),
  },
  {
    name: "Fees",
    args: fc.record({ sender: address, ...amounts }),
    expected: ({ sender: _, ...args }) => ({ kind: "fees", ...args }),
  },
  {
    name: "Sync",
    args: fc.record({ reserve0: uint256, reserve1: uint256 }),
    expected: (args) => ({ kind: "sync", ...args }),
  },
  {
    name: "Mint",
    args: fc.record({ sender: address, ...amounts }),
    expected: ({ sender: _, ...args }) => ({ kind: "mint", ...args }),
  },
  {
    name: "Burn",
    args: fc.record({ sender: address, to: address, ...amounts }),
    expected: ({ sender: _, to: __, ...args }) => ({ kind: "burn", ...args }),
  },
  {
    name: "Claim",
    args: fc.record({ sender: address, recipient: address, ...amounts }),
    expected: ({ sender }) => ({ kind: "claim", owner: sender }),
  },
  {
    name: "Transfer",
    args: fc.record({ from: address, to: address, value: uint256 }),
    expected: ({ from, to, value }) => ({ kind: "transfer", from, to, amount: value }),
  },
];
const GAUGE_EVENTS: readonly EventCase[] = [
  {
    name: "Deposit",
    args: fc.record({ from: address, to: address, amount: uint256 }),
    expected: ({ to, amount }) => ({ kind: "deposit", owner: to, amount }),
  },
  {
    name: "Withdraw",
    args: fc.record({ from: address, amount: uint256 }),
    expected: ({ from, amount }) => ({ kind: "withdraw", owner: from, amount }),
  },
  {
    name: "NotifyReward",
    args: fc.record({ from: address, amount: uint256 }),
    expected: ({ amount }) => ({ kind: "notify_reward", amount }),
  },
];
const VOTER_EVENTS: readonly EventCase[] = [
  {
    name: "GaugeCreated",
    args: fc.record({
      poolFactory: address,
      votingRewardsFactory: address,
      gaugeFactory: address,
      pool: address,
      bribeVotingReward: address,
      feeVotingReward: address,
      gauge: address,
      creator: address,
    }),
    expected: ({ pool, gauge }) => ({ pool, event: { kind: "gauge_created", gauge } }),
  },
  {
    name: "GaugeKilled",
    args: fc.record({ gauge: address }),
    expected: ({ gauge }) => ({ kind: "gauge_killed", gauge }),
  },
  {
    name: "GaugeRevived",
    args: fc.record({ gauge: address }),
    expected: ({ gauge }) => ({ kind: "gauge_revived", gauge }),
  },
];
const FACTORY_EVENTS: readonly EventCase[] = [
  {
    name: "SetCustomFee",
    args: fc.record({ pool: address, fee: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }) }),
    expected: ({ pool, fee }) => ({ pool, event: { kind: "set_custom_fee", fee: Number(fee) } }),
  },
];

const CONTRACTS = [
  { name: "pool", abi: aerodromePoolAbi, decoders: [...poolDecoders, transfer], events: POOL_EVENTS },
  {
    name: "gauge",
    abi: aerodromeGaugeAbi,
    decoders: [deposit, withdraw, notifyReward],
    events: GAUGE_EVENTS,
  },
  {
    name: "voter",
    abi: aerodromeVoterAbi,
    decoders: [gaugeCreated, gaugeKilled, gaugeRevived],
    events: VOTER_EVENTS,
  },
  { name: "factory", abi: aerodromeFactoryAbi, decoders: [setCustomFee], events: FACTORY_EVENTS },
] as const;

function eventOf(abi: readonly unknown[], name: string): AbiEvent {
  const found = (abi as readonly AbiEvent[]).find((item) => item.type === "event" && item.name === name);
  if (found === undefined) throw new Error(`The ABI has no event ${name}.`);
  return found;
}

/** The log that a contract would emit, by viem. */
function encodeLog(event: AbiEvent, args: Args): { topics: Hex[]; data: Hex } {
  const topics = encodeEventTopics({ abi: [event], eventName: event.name, args }) as Hex[];
  const inData = event.inputs.filter((input) => input.indexed !== true);
  return {
    topics,
    data: encodeAbiParameters(
      inData,
      inData.map((input, i) => args[input.name ?? ""] ?? args[`#${i}`]),
    ),
  };
}

for (const { name: contract, abi, decoders, events } of CONTRACTS) {
  const decode = createDecoder<unknown>(decoders);
  describe(`events of an Aerodrome v2 ${contract}`, () => {
    for (const { name, args, expected } of events) {
      const event = eventOf(abi, name);
      it(`${name} is read as viem wrote it`, () => {
        fc.assert(
          fc.property(args, (values) => {
            expect(decode(encodeLog(event, values))).to.deep.equal(expected(values));
          }),
          { numRuns: 60 },
        );
      });

      it(`${name} with another number of topics or words is ignored`, () => {
        const [values] = fc.sample(args, { numRuns: 1, seed: 1 });
        const { topics, data } = encodeLog(event, values as Args);
        const word = "0".repeat(64);
        const others = [
          { topics: topics.slice(0, -1), data },
          { topics: [...topics, `0x${word}` as Hex], data },
          { topics, data: `${data}${word}` as Hex },
          { topics, data: `${data}00` as Hex },
          ...(data === "0x" ? [] : [{ topics, data: data.slice(0, -64) as Hex }]),
        ];
        for (const other of others) expect(decode(other)).to.equal(undefined);
        expect(decode({ topics, data })).not.to.equal(undefined);
      });
    }

    it("have the topics of the contract's ABI", () => {
      const topics = events.map(({ name }) => toEventSelector(eventOf(abi, name)));
      expect(decoders.map(({ topic }) => topic)).to.have.members(topics);
    });
  });
}

describe("PoolCreated of an Aerodrome v2 factory", () => {
  const event = eventOf(aerodromeFactoryAbi, "PoolCreated");

  it("is read as viem wrote it, its fee left to the factory", () => {
    const args = fc.record({
      token0: address,
      token1: address,
      stable: fc.boolean(),
      pool: address,
      "#1": uint256,
    });
    fc.assert(
      fc.property(args, (values) => {
        const { token0, token1, stable, pool } = values;
        expect(createDecoder([poolCreated])(encodeLog(event, values))).to.deep.equal({
          pool,
          token0,
          token1,
          stable,
          fee: null,
          tickSpacing: 0,
        });
      }),
      { numRuns: 60 },
    );
    expect(poolCreated.topic).to.equal(toEventSelector(event));
  });
});
