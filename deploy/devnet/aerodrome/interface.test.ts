import { expect } from "chai";
import { describe, it } from "mocha";
import { type Abi, encodeEventTopics, getAbiItem, type Hex, toEventSelector } from "viem";
import {
  aerodromeFactoryAbi,
  aerodromeGaugeAbi,
  aerodromePoolAbi,
  aerodromeVoterAbi,
} from "../contracts/aerodrome/abi.ts";
import * as artifacts from "../contracts/aerodrome/artifacts.ts";

/** As the originals emit them on Base. */
const TOPICS: readonly (readonly [Abi, string, Hex])[] = [
  [aerodromeFactoryAbi, "PoolCreated", "0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e"],
  [aerodromeFactoryAbi, "SetCustomFee", "0xae468ce586f9a87660fdffc1448cee942042c16ae2f02046b134b5224f31936b"],
  [aerodromePoolAbi, "Fees", "0x112c256902bf554b6ed882d2936687aaeb4225e8cd5b51303c90ca6cf43a8602"],
  [aerodromePoolAbi, "Mint", "0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f"],
  [aerodromePoolAbi, "Burn", "0x5d624aa9c148153ab3446c1b154f660ee7701e549fe9b62dab7171b1c80e6fa2"],
  [aerodromePoolAbi, "Swap", "0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b"],
  [aerodromePoolAbi, "Sync", "0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a"],
  [aerodromePoolAbi, "Claim", "0x865ca08d59f5cb456e85cd2f7ef63664ea4f73327414e9d8152c4158b0e94645"],
  [aerodromeGaugeAbi, "Deposit", "0x5548c837ab068cf56a2c2479df0882a4922fd203edb7517321831d95078c5f62"],
  [aerodromeGaugeAbi, "Withdraw", "0x884edad9ce6fa2440d8a54cc123490eb96d2768479d49ff9c7366125a9424364"],
  [aerodromeGaugeAbi, "NotifyReward", "0x095667752957714306e1a6ad83495404412df6fdb932fca6dc849a7ee910d4c1"],
  [aerodromeGaugeAbi, "ClaimFees", "0xbc567d6cbad26368064baa0ab5a757be46aae4d70f707f9203d9d9b6c8ccbfa3"],
  [aerodromeGaugeAbi, "ClaimRewards", "0x1f89f96333d3133000ee447473151fa9606543368f02271c9d95ae14f13bcc67"],
  [aerodromeVoterAbi, "GaugeCreated", "0xef9f7d1ffff3b249c6b9bf2528499e935f7d96bb6d6ec4e7da504d1d3c6279e1"],
  [aerodromeVoterAbi, "GaugeKilled", "0x04a5d3f5d80d22d9345acc80618f4a4e7e663cf9e1aed23b57d975acec002ba7"],
  [aerodromeVoterAbi, "GaugeRevived", "0xed18e9faa3dccfd8aa45f69c4de40546b2ca9cccc4538a2323531656516db1aa"],
  [
    aerodromeVoterAbi,
    "DistributeReward",
    "0x4fa9693cae526341d334e2862ca2413b2e503f1266255f9e0869fb36e6d89b17",
  ],
];

describe("devnet: Aerodrome's interface", () => {
  const compiled = Object.values(artifacts).flatMap(({ abi }) => abi as unknown as Abi);

  for (const [abi, name, topic] of TOPICS) {
    it(`${name} has the original's topic, indexed fields and types, in the interface and in the contract`, () => {
      expect(encodeEventTopics({ abi, eventName: name })[0]).to.equal(topic);
      const shape = ({ inputs }: { inputs: readonly { type: string; indexed?: boolean }[] }) =>
        inputs.map(({ type, indexed = false }) => [type, indexed]);
      const emitted = compiled.filter((item) => item.type === "event" && toEventSelector(item) === topic);
      expect(emitted).to.have.length.greaterThan(0);
      const declared = getAbiItem({ abi, name }) as {
        inputs: readonly { type: string; indexed?: boolean }[];
      };
      for (const item of emitted)
        if (item.type === "event") expect(shape(item as never)).to.deep.equal(shape(declared));
    });
  }
});
