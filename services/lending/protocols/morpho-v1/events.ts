import type { Hex } from "../../../shared/evm/port.ts";

/** Topic 0 of the events that are followed, by the contract that emits them. */
export const MORPHO_EVENTS = {
  CreateMarket: "0xac4b2400f169220b0c0afdde7a0b32e775ba727ea1cb30b35f935cdaab8683ac",
  SetFee: "0x139d6f58e9a127229667c8e3b36e88890a66cfc8ab1024ddc513e189e125b75b",
  AccrueInterest: "0x9d9bd501d0657d7dfe415f779a620a62b78bc508ddc0891fbbd8b7ac0f8fce87",
  Supply: "0xedf8870433c83823eb071d3df1caa8d008f12f6440918c20d75a3602cda30fe0",
  Withdraw: "0xa56fc0ad5702ec05ce63666221f796fb62437c32db1aa1aa075fc6484cf58fbf",
  Borrow: "0x570954540bed6b1304a87dfe815a5eda4a648f7097a16240dcd85c9b5fd42a43",
  Repay: "0x52acb05cebbd3cd39715469f22afbf5a17496295ef3bc9bb5944056c63ccaa09",
  SupplyCollateral: "0xa3b9472a1399e17e123f3c2e6586c23e504184d504de59cdaa2b375e880c6184",
  WithdrawCollateral: "0xe80ebd7cc9223d7382aab2e0d1d6155c65651f83d53c8b9b06901d167e321142",
  Liquidate: "0xa4946ede45d0c6f06a0f5ce92c9ad3b4751452d2fe0e25010783bcab57a67e41",
} as const satisfies Record<string, Hex>;

export const FACTORY_EVENTS = {
  CreateMetaMorpho: "0xed8c95d05909b0f217f3e68171ef917df4b278d5addfe4dda888e90279be7d1d",
} as const satisfies Record<string, Hex>;

/**
 * Deposits and withdrawals emit UpdateLastTotalAssets too: their own topics are those of every ERC-4626 vault.
 * SetFeeRecipient is also an event of Morpho itself, OwnershipTransferred one of every Ownable contract.
 */
export const VAULT_EVENTS = {
  AccrueInterest: "0xf66f28b40975dbb933913542c7e6a0f50a1d0f20aa74ea6e0efe65ab616323ec",
  UpdateLastTotalAssets: "0x15c027cc4fd826d986cad358803439f7326d3aa4ed969ff90dbee4bc150f68e9",
  UpdateLostAssets: "0x548669ea9bcc24888e6d74a69c9865fa98d795686853b8aa3eb87814261bbb71",
  SetName: "0x4df9dcd34ae35f40f2c756fd8ac83210ed0b76d065543ee73d868aec7c7fcf02",
  SetSymbol: "0xadf3ae8bd543b3007d464f15cb8ea1db3f44e84d41d203164f40b95e27558ac6",
  SetFee: "0x01fe2943baee27f47add82886c2200f910c749c461c9b63c5fe83901a53bdb49",
  SetFeeRecipient: "0x2e979f80fe4d43055c584cf4a8467c55875ea36728fc37176c05acd784eb7a73",
  SetCurator: "0xbd0a63c12948fbc9194a5839019f99c9d71db924e5c70018265bc778b8f1a506",
  SetGuardian: "0xcb11cc8aade2f5a556749d1b2380d108a16fac3431e6a5d5ce12ef9de0bd76e3",
  SetTimelock: "0xd28e9b90ee9b37c5936ff84392d71f29ff18117d7e76bcee60615262a90a3f75",
  SubmitCap: "0xe851bb5856808a50efd748be463b8f35bcfb5ec74c5bfde776fe0a4d2a26db27",
  SetCap: "0xe86b6d3313d3098f4c5f689c935de8fde876a597c185def2cedab85efedac686",
  RevokePendingCap: "0x1026ceca5ed3747eb5edec555732d4a6f901ce1a875ecf981064628cadde1120",
  SubmitMarketRemoval: "0x3240fc70754c5a2b4dab10bf7081a00024bfc8491581ee3d355360ec0dd91f16",
  RevokePendingMarketRemoval: "0xcbeb8ecdaa5a3c133e62219b63bfc35bce3fda13065d2bed32e3b7dde60a59f4",
  SetSupplyQueue: "0x6ce31538fc7fba95714ddc8a275a09252b4b1fb8f33d2550aa58a5f62ad934de",
  SetWithdrawQueue: "0xe0c2db6b54586be6d7d49943139fccf0dd315ba63e55364a76c73cd8fdba724d",
  ReallocateSupply: "0x89bf199df65bf65155e3e0a8abc4ad4a1be606220c8295840dba2ab5656c1f6d",
  ReallocateWithdraw: "0xdd8bf5226dff861316e0fa7863fdb7dc7b87c614eb29a135f524eb79d5a1189a",
  OwnershipTransferred: "0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0",
} as const satisfies Record<string, Hex>;
