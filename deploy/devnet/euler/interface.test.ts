import { expect } from "chai";
import { describe, it } from "mocha";
import { type Abi, type AbiEvent, encodeEventTopics, type Hex, toEventSelector } from "viem";
import {
  eulerEarnAbi,
  eulerEarnFactoryAbi,
  eulerFactoryAbi,
  eulerPerspectiveAbi,
  eulerVaultAbi,
} from "../contracts/euler/abi.ts";
import * as artifacts from "../contracts/euler/artifacts.ts";

/** As the originals emit them (https://github.com/euler-xyz/euler-interfaces). */
const TOPICS: readonly (readonly [Abi, string, Hex])[] = [
  [eulerFactoryAbi, "ProxyCreated", "0x04e664079117e113faa9684bc14aecb41651cbf098b14eda271248c6d0cda57c"],
  [eulerVaultAbi, "EVaultCreated", "0x0cd345140b9008a43f99a999a328ece572a0193e8c8bf5f5755585e6f293b85e"],
  [eulerVaultAbi, "VaultStatus", "0x80b61abbfc5f73cfe5cf93cec97a69ed20643dc6c6f1833b05a1560aa164e24c"],
  [eulerVaultAbi, "Borrow", "0xcbc04eca7e9da35cb1393a6135a199ca52e450d5e9251cbd99f7847d33a36750"],
  [eulerVaultAbi, "Repay", "0x5c16de4f8b59bd9caf0f49a545f25819a895ed223294290b408242e72a594231"],
  [eulerVaultAbi, "InterestAccrued", "0x5e804d42ae3b860f881d11cb44a4bb1f2f0d5b3d081f5539a32d6f97b629d978"],
  [eulerVaultAbi, "Liquidate", "0x8246cc71ab01533b5bebc672a636df812f10637ad720797319d5741d5ebb3962"],
  [eulerVaultAbi, "DebtSocialized", "0xe786d0bc2e83bf230ed9895a9c4d7756ab0c6e22eb8a4ff69c161ece76bd36df"],
  [eulerVaultAbi, "ConvertFees", "0x4e16b07cac5fe5604af487e07b1b62efc8bd47477b18839f4688d2cae957f965"],
  [eulerVaultAbi, "GovSetCaps", "0xadbdcd178dfddc478805a3703b6cf3b72ca5e78ecebacffe1aad03188cc1cbf4"],
  [eulerVaultAbi, "GovSetConfigFlags", "0xe7f84c52c0ef295afe77de8cb30516d6f28d50306f979b45776dd1b619ae5ffc"],
  [eulerVaultAbi, "GovSetFeeReceiver", "0x836a1afef2bc89de2cb4713cc8d312fccf2ff835230721c5f41f13374707413a"],
  [
    eulerVaultAbi,
    "GovSetGovernorAdmin",
    "0x1c145a4cd16d4148579b0f2296884ac4aa47536e4ef10a32e1cdc0dc3dd20ea4",
  ],
  [eulerVaultAbi, "GovSetHookConfig", "0xabadffb695acdb6863cd1324a91e5c359712b9110a55f9103774e2fb67dedb6a"],
  [eulerVaultAbi, "GovSetInterestFee", "0x634a58674e370383703eff32d9d4e4b3d1add94d50e8bcb631b04995d8e47341"],
  [
    eulerVaultAbi,
    "GovSetInterestRateModel",
    "0xe5f2a795fc5f8baf1b05659293834c88859298226d87422c88624b4c9f4d3a43",
  ],
  [eulerVaultAbi, "GovSetLTV", "0xc69392046c26324e9eee913208811542aabcbde6a41ce9ee3b45473b18eb3c76"],
  [
    eulerEarnFactoryAbi,
    "CreateEulerEarn",
    "0x2ecfce4fdb2055c9639b56f59c2a14eeafce06a51d93d898155bc11b6141896f",
  ],
  [eulerEarnAbi, "AccrueInterest", "0xf66f28b40975dbb933913542c7e6a0f50a1d0f20aa74ea6e0efe65ab616323ec"],
  [
    eulerEarnAbi,
    "UpdateLastTotalAssets",
    "0x15c027cc4fd826d986cad358803439f7326d3aa4ed969ff90dbee4bc150f68e9",
  ],
  [eulerEarnAbi, "UpdateLostAssets", "0x548669ea9bcc24888e6d74a69c9865fa98d795686853b8aa3eb87814261bbb71"],
  [eulerEarnAbi, "ReallocateSupply", "0x73e8a9d66522fa5c6fcec2e89aad8e52f6f66eadeb7fc7c172cfcbacb5283851"],
  [eulerEarnAbi, "ReallocateWithdraw", "0x416d9fcbb15941508bf9f557a950fb085de673ae90db45a32efdc9b35f29b0f1"],
  [eulerEarnAbi, "SubmitCap", "0x7bfc48861a5d71fc7afd7b9c92b4feeef1628ab1d5145dede52590c46dd155e9"],
  [eulerEarnAbi, "SetCap", "0x10dbbfa98a21bc7a80d86cb89391600c590e0e2ce25698013741bcad42956569"],
  [eulerEarnAbi, "SubmitMarketRemoval", "0x354f25f4208ab6528fb2d016019c0e2a66f51376cbb2cc8571064779735d3485"],
  [
    eulerEarnAbi,
    "RevokePendingMarketRemoval",
    "0x8387c3346650400a72032f8bd1aa3f5f44038cf2bf32945e8eeb8a498decea77",
  ],
  [eulerEarnAbi, "SetSupplyQueue", "0xb07686dd0abe7422b9801e8f38bafd24669a65591071f11120c2f6a7c175813e"],
  [eulerEarnAbi, "SetWithdrawQueue", "0x834ae37621cd31f2636b1cb6f1bded844d79ecf755af866b5d896da642d7b567"],
  [eulerEarnAbi, "SetCurator", "0xbd0a63c12948fbc9194a5839019f99c9d71db924e5c70018265bc778b8f1a506"],
  [eulerEarnAbi, "SetFee", "0x01fe2943baee27f47add82886c2200f910c749c461c9b63c5fe83901a53bdb49"],
  [eulerEarnAbi, "SetFeeRecipient", "0x2e979f80fe4d43055c584cf4a8467c55875ea36728fc37176c05acd784eb7a73"],
  [eulerEarnAbi, "SetTimelock", "0xd28e9b90ee9b37c5936ff84392d71f29ff18117d7e76bcee60615262a90a3f75"],
  [eulerEarnAbi, "SetName", "0x4df9dcd34ae35f40f2c756fd8ac83210ed0b76d065543ee73d868aec7c7fcf02"],
  [
    eulerPerspectiveAbi,
    "PerspectiveVerified",
    "0x570e1c1f1f2e6e95bfd6d0cae607f36c3cd5ebb7bc35c2f87299924b1bcd3920",
  ],
  [
    eulerPerspectiveAbi,
    "PerspectiveUnverified",
    "0xc4f218915c2884639e62cc3bea5ef5c711dc26f0e3d6b23e2de05cc12c041a66",
  ],
  [eulerEarnAbi, "SetSymbol", "0xadf3ae8bd543b3007d464f15cb8ea1db3f44e84d41d203164f40b95e27558ac6"],
];

describe("devnet: Euler's interface", () => {
  const compiled = Object.values(artifacts).flatMap(({ abi }) => abi as unknown as Abi);
  const events = compiled.filter((item): item is AbiEvent => item.type === "event");
  const shape = ({ inputs }: AbiEvent) => inputs.map(({ type, indexed = false }) => [type, indexed]);

  for (const [abi, name, topic] of TOPICS) {
    it(`${name} has the original's topic, indexed fields and types, in the interface and in the contract`, () => {
      expect(encodeEventTopics({ abi, eventName: name })[0]).to.equal(topic);
      const declared = abi.find((item): item is AbiEvent => item.type === "event" && item.name === name);
      const emitted = events.filter((item) => toEventSelector(item) === topic);
      expect(emitted).to.have.length.greaterThan(0);
      for (const item of emitted) expect(shape(item)).to.deep.equal(shape(declared as AbiEvent));
    });
  }
});
