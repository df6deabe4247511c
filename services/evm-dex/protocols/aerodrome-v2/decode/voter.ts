import { readAddress, readTopicAddress } from "../../../../shared/evm/abi.ts";
import type { Decoder, EventForPool } from "../../protocol.ts";
import type { GaugeEvent } from "../events.ts";

/**
 * GaugeCreated(address indexed poolFactory, address indexed votingRewardsFactory, address indexed gaugeFactory,
 * address pool, address bribeVotingReward, address feeVotingReward, address gauge, address creator)
 */
export const gaugeCreated: Decoder<EventForPool<GaugeEvent>> = {
  topic: "0xef9f7d1ffff3b249c6b9bf2528499e935f7d96bb6d6ec4e7da504d1d3c6279e1",
  indexed: 3,
  words: 5,
  decode: ({ data }) => ({
    pool: readAddress(data, 0),
    event: { kind: "gauge_created", gauge: readAddress(data, 3) },
  }),
};

/** GaugeKilled(address indexed gauge) */
export const gaugeKilled: Decoder<GaugeEvent> = {
  topic: "0x04a5d3f5d80d22d9345acc80618f4a4e7e663cf9e1aed23b57d975acec002ba7",
  indexed: 1,
  words: 0,
  decode: ({ topics }) => ({ kind: "gauge_killed", gauge: readTopicAddress(topics[1]) }),
};

/** GaugeRevived(address indexed gauge) */
export const gaugeRevived: Decoder<GaugeEvent> = {
  topic: "0xed18e9faa3dccfd8aa45f69c4de40546b2ca9cccc4538a2323531656516db1aa",
  indexed: 1,
  words: 0,
  decode: ({ topics }) => ({ kind: "gauge_revived", gauge: readTopicAddress(topics[1]) }),
};
