import { readAddress, readTopicAddress } from "../../../shared/evm/abi.ts";
import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import type { EntityRef, KnownEntities } from "../protocol.ts";
import { AGGREGATION_TOPICS, DEPLOY_EULER_EARN } from "./aggregation-events.ts";
import type { EulerDeployment } from "./deployment.ts";
import {
  AGGREGATION_VAULT,
  EARN_CREATION,
  EARN_VAULT,
  EVK_FACTORY,
  EVK_VAULT,
  PERSPECTIVE,
} from "./entity-kinds.ts";
import { perspectivesOf } from "./listing.ts";

export const PROXY_CREATED: Hex = "0x04e664079117e113faa9684bc14aecb41651cbf098b14eda271248c6d0cda57c";
export const CREATE_EULER_EARN: Hex = "0x2ecfce4fdb2055c9639b56f59c2a14eeafce06a51d93d898155bc11b6141896f";

/** A perspective's list gains or loses a vault. */
export const PERSPECTIVE_TOPICS = {
  PerspectiveVerified: "0x570e1c1f1f2e6e95bfd6d0cae607f36c3cd5ebb7bc35c2f87299924b1bcd3920",
  PerspectiveUnverified: "0xc4f218915c2884639e62cc3bea5ef5c711dc26f0e3d6b23e2de05cc12c041a66",
} as const satisfies Record<string, Hex>;

/**
 * Events of an EVK vault. Every change of its cash, debts or shares ends with VaultStatus: deposits and transfers, whose
 * topics all vaults and tokens share, are not needed.
 */
export const EVK_TOPICS = {
  EVaultCreated: "0x0cd345140b9008a43f99a999a328ece572a0193e8c8bf5f5755585e6f293b85e",
  VaultStatus: "0x80b61abbfc5f73cfe5cf93cec97a69ed20643dc6c6f1833b05a1560aa164e24c",
  GovSetCaps: "0xadbdcd178dfddc478805a3703b6cf3b72ca5e78ecebacffe1aad03188cc1cbf4",
  GovSetConfigFlags: "0xe7f84c52c0ef295afe77de8cb30516d6f28d50306f979b45776dd1b619ae5ffc",
  GovSetFeeReceiver: "0x836a1afef2bc89de2cb4713cc8d312fccf2ff835230721c5f41f13374707413a",
  GovSetGovernorAdmin: "0x1c145a4cd16d4148579b0f2296884ac4aa47536e4ef10a32e1cdc0dc3dd20ea4",
  GovSetHookConfig: "0xabadffb695acdb6863cd1324a91e5c359712b9110a55f9103774e2fb67dedb6a",
  GovSetInterestFee: "0x634a58674e370383703eff32d9d4e4b3d1add94d50e8bcb631b04995d8e47341",
  GovSetInterestRateModel: "0xe5f2a795fc5f8baf1b05659293834c88859298226d87422c88624b4c9f4d3a43",
  GovSetLTV: "0xc69392046c26324e9eee913208811542aabcbde6a41ce9ee3b45473b18eb3c76",
} as const satisfies Record<string, Hex>;

/**
 * Events of an EulerEarn vault. Deposits and withdrawals end with UpdateLastTotalAssets. The owner, whose change has an
 * event of every Ownable contract, curates where there is no curator.
 */
export const EARN_TOPICS = {
  AccrueInterest: "0xf66f28b40975dbb933913542c7e6a0f50a1d0f20aa74ea6e0efe65ab616323ec",
  UpdateLastTotalAssets: "0x15c027cc4fd826d986cad358803439f7326d3aa4ed969ff90dbee4bc150f68e9",
  UpdateLostAssets: "0x548669ea9bcc24888e6d74a69c9865fa98d795686853b8aa3eb87814261bbb71",
  ReallocateSupply: "0x73e8a9d66522fa5c6fcec2e89aad8e52f6f66eadeb7fc7c172cfcbacb5283851",
  ReallocateWithdraw: "0x416d9fcbb15941508bf9f557a950fb085de673ae90db45a32efdc9b35f29b0f1",
  SetCap: "0x10dbbfa98a21bc7a80d86cb89391600c590e0e2ce25698013741bcad42956569",
  SubmitMarketRemoval: "0x354f25f4208ab6528fb2d016019c0e2a66f51376cbb2cc8571064779735d3485",
  RevokePendingMarketRemoval: "0x8387c3346650400a72032f8bd1aa3f5f44038cf2bf32945e8eeb8a498decea77",
  SetSupplyQueue: "0xb07686dd0abe7422b9801e8f38bafd24669a65591071f11120c2f6a7c175813e",
  SetWithdrawQueue: "0x834ae37621cd31f2636b1cb6f1bded844d79ecf755af866b5d896da642d7b567",
  SetCurator: "0xbd0a63c12948fbc9194a5839019f99c9d71db924e5c70018265bc778b8f1a506",
  SetFee: "0x01fe2943baee27f47add82886c2200f910c749c461c9b63c5fe83901a53bdb49",
  SetFeeRecipient: "0x2e979f80fe4d43055c584cf4a8467c55875ea36728fc37176c05acd784eb7a73",
  SetTimelock: "0xd28e9b90ee9b37c5936ff84392d71f29ff18117d7e76bcee60615262a90a3f75",
  SetName: "0x4df9dcd34ae35f40f2c756fd8ac83210ed0b76d065543ee73d868aec7c7fcf02",
  SetSymbol: "0xadf3ae8bd543b3007d464f15cb8ea1db3f44e84d41d203164f40b95e27558ac6",
  OwnershipTransferred: "0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0",
} as const satisfies Record<string, Hex>;

const KIND_BY_TOPIC: ReadonlyMap<Hex, string> = new Map([
  ...Object.values(EVK_TOPICS).map((topic) => [topic, EVK_VAULT] as const),
  ...Object.values(EARN_TOPICS).map((topic) => [topic, EARN_VAULT] as const),
  ...Object.values(AGGREGATION_TOPICS).map((topic) => [topic, AGGREGATION_VAULT] as const),
  ...Object.values(PERSPECTIVE_TOPICS).map((topic) => [topic, PERSPECTIVE] as const),
]);

export const EULER_TOPICS: readonly Hex[] = [
  PROXY_CREATED,
  CREATE_EULER_EARN,
  DEPLOY_EULER_EARN,
  ...KIND_BY_TOPIC.keys(),
];

/**
 * The entities that a log creates or changes. A strategy's events affect no earn vault: its shares of a strategy change
 * with its own events only, and their value follows from the strategy's entity.
 */
export function affectedEulerEntities(
  { address, topics, data }: RawLog,
  { known, deployment }: { known: KnownEntities; deployment: EulerDeployment },
): EntityRef[] {
  const [topic, subject, creator] = topics;
  if (topic === undefined) return [];
  if (topic === PROXY_CREATED) {
    if (address !== deployment.eVaultFactory) return [];
    return [
      { kind: EVK_FACTORY, id: address },
      { kind: EVK_VAULT, id: readTopicAddress(subject) },
    ];
  }
  if (topic === CREATE_EULER_EARN) {
    const isKnown = deployment.eulerEarnFactories.some((factory) => factory.address === address);
    if (!isKnown) return [];
    const vault = readTopicAddress(subject);
    return [
      { kind: EARN_VAULT, id: vault },
      { kind: EARN_CREATION, id: `${vault}:${readTopicAddress(creator)}` },
    ];
  }
  if (topic === DEPLOY_EULER_EARN) {
    const isKnown = deployment.aggregationFactories?.some((factory) => factory.address === address);
    if (!isKnown) return [];
    const vault = readAddress(data, 0);
    return [
      { kind: AGGREGATION_VAULT, id: vault },
      // Here the first topic is the account.
      { kind: EARN_CREATION, id: `${vault}:${readTopicAddress(subject)}` },
    ];
  }
  const kind = KIND_BY_TOPIC.get(topic);
  if (kind === PERSPECTIVE)
    return perspectivesOf(deployment).includes(address) ? [{ kind, id: address }] : [];
  return kind !== undefined && known.has(kind, address) ? [{ kind, id: address }] : [];
}
