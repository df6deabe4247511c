import { type AbiEvent, encodeAbiParameters, encodeEventTopics } from "viem";
import {
  aerodromeFactoryAbi,
  aerodromeGaugeAbi,
  aerodromePoolAbi,
  aerodromeVoterAbi,
} from "../../../../deploy/devnet/contracts/aerodrome/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { Factory } from "../../deployments.ts";
import type { Emitted } from "../kit/log-chain.ts";
import { address } from "../kit/rows.ts";

const events = [
  ...aerodromeFactoryAbi,
  ...aerodromePoolAbi,
  ...aerodromeGaugeAbi,
  ...aerodromeVoterAbi,
].filter((item) => item.type === "event") as readonly AbiEvent[];

/** The log that a contract would emit, by viem. */
export function emit(contract: Hex, name: string, args: Record<string, unknown>): Emitted {
  const event = events.find((each) => each.name === name);
  if (event === undefined) throw new Error(`There is no event ${name}.`);
  const topics = encodeEventTopics({ abi: [event], eventName: name, args }) as Hex[];
  const inData = event.inputs.filter((input) => input.indexed !== true);
  const data = encodeAbiParameters(
    inData,
    inData.map((input) => args[input.name ?? ""]),
  );
  return { address: contract, topics, data };
}

export const VOTER = address(0x707e);
export const aerodromeFactory: Factory = {
  address: address(0xfac2),
  dexName: "Aerodrome V2",
  family: "dexa",
  kind: "aerodrome-v2",
  fromBlock: 0,
  rewards: { voter: VOTER, token: address(0xae) },
};

const ANYONE = address(0xa0);
const ZERO = address(0);

export const created = (pool: Hex): Emitted =>
  emit(aerodromeFactory.address, "PoolCreated", {
    token0: address(0x10),
    token1: address(0x11),
    stable: false,
    pool,
    count: 1n,
  });

export const gaugeCreated = (pool: Hex, gauge: Hex, voter = VOTER): Emitted =>
  emit(voter, "GaugeCreated", {
    poolFactory: aerodromeFactory.address,
    votingRewardsFactory: ANYONE,
    gaugeFactory: ANYONE,
    pool,
    bribeVotingReward: ANYONE,
    feeVotingReward: ANYONE,
    gauge,
    creator: ANYONE,
  });

export const transfer = (pool: Hex, to: Hex, { from, value }: { from?: Hex; value?: bigint } = {}): Emitted =>
  emit(pool, "Transfer", { from: from ?? ZERO, to, value: value ?? 5_000n });

/** A deposit of liquidity: the LP tokens' Transfer, then the pool's events. */
export const minted = (pool: Hex, to: Hex, value = 5_000n): Emitted[] => [
  transfer(pool, to, { value }),
  emit(pool, "Sync", { reserve0: value, reserve1: value }),
  emit(pool, "Mint", { sender: ANYONE, amount0: value, amount1: value }),
];
