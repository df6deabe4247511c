import { readTopicAddress, readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { RewardEvent, StakeEvent } from "../events.ts";

/** Deposit(address indexed from, address indexed to, uint256 amount): staked for `to`. */
export const deposit: Decoder<StakeEvent> = {
  topic: "0x5548c837ab068cf56a2c2479df0882a4922fd203edb7517321831d95078c5f62",
  indexed: 2,
  words: 1,
  decode: ({ topics, data }) => ({
    kind: "deposit",
    owner: readTopicAddress(topics[2]),
    amount: readUint(data, 0),
  }),
};

/** Withdraw(address indexed from, uint256 amount) */
export const withdraw: Decoder<StakeEvent> = {
  topic: "0x884edad9ce6fa2440d8a54cc123490eb96d2768479d49ff9c7366125a9424364",
  indexed: 1,
  words: 1,
  decode: ({ topics, data }) => ({
    kind: "withdraw",
    owner: readTopicAddress(topics[1]),
    amount: readUint(data, 0),
  }),
};

/** NotifyReward(address indexed from, uint256 amount) */
export const notifyReward: Decoder<RewardEvent> = {
  topic: "0x095667752957714306e1a6ad83495404412df6fdb932fca6dc849a7ee910d4c1",
  indexed: 1,
  words: 1,
  decode: ({ data }) => ({ kind: "notify_reward", amount: readUint(data, 0) }),
};

/** Without ClaimRewards and ClaimFees: they change neither a pool's state nor a position. */
export const gaugeDecoders = [deposit, withdraw, notifyReward] as const;
