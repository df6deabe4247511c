import type { Hex } from "../../../shared/evm/port.ts";

/** Of the factory: the vault is in its data. */
export const DEPLOY_EULER_EARN: Hex = "0x406210430d4452916b4b60141a3a4db26583ee5fb7c04d0e9c494b8f1bd10bce";

/**
 * Events of an EulerEarn vault of before August 2025. A deposit has no event but that of every ERC-4626 vault, and an
 * admin's change none but that of every contract with roles. Points only say what the next rebalancing aims at.
 */
export const AGGREGATION_TOPICS = {
  Deposit: "0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7",
  Withdraw: "0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db",
  Gulp: "0xe435ccc388e2041f0f453c668f3437d28221b3fd0b446dbfae9c66d4a7b380a1",
  DeductLoss: "0xd923720a22e30955bb06e5d1b0849b32f5dfc178055a3416b2fd317659eda5a3",
  InterestUpdated: "0x46ba83b1bb5d30bf76865a9c4d50e868ef6092e32e9dbca33926fe6d81c1a129",
  AccruePerformanceFee: "0x558a9f5a20732dc47970d9366825f7548770c9d887d68b5efebd0734bc51db27",
  Harvest: "0x4ec2d4038813a7f233af1d6d09519189db3ed5bc5b823bf72f6d3144574721de",
  Rebalance: "0xd9259a3a643b8cdbd74028e2849ad4311e6fcf699f744fc2680a6260ce71c49a",
  AddStrategy: "0xad5c211a0d035244e85dedad8dff9545aa6a4c7670f7d8ce5a2b41360bfbe0be",
  RemoveStrategy: "0xd3281a40d50ae838fe77dc627744037b8f0fc6a5711d66119a9b670c5cde41af",
  SetStrategyCap: "0x489bcb5a7761098f08c51bf90cc7753f2dc54e9539ff9f3b9030ea7e5b86b27d",
  ToggleStrategyEmergencyStatus: "0x5df9037c93820d4f5f312e595e476c0e70a88241240712300aa71f990c36e6d8",
  ReorderWithdrawalQueue: "0xf2800338163afd65f663c411ca1ef150bfec633e2dd343830428d1138fc5ab25",
  SetFeeRecipient: "0xd9d6b85b6d670cd443496fc6d03390f739bbff47f96a8e33fb0cdd52ad26f5c2",
  SetPerformanceFee: "0xc8d5e11b7c762cadb12e5e610828f358fd9e2817bf83c522efd3beda6528d659",
  SetHooksConfig: "0x7c4f6a9284495841a677d022bb0509c28134f1e67277c012943f178737254750",
  RoleGranted: "0x2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d",
  RoleRevoked: "0xf6391f5c32d9c69d2a47ea670b442974b53935d1edc7fd64eb21e047a839171b",
} as const satisfies Record<string, Hex>;
