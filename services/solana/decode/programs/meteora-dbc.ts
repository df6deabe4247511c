import type { EventLayout, ProgramLayout } from "../layout.ts";

/** A referrer's share is paid out of the quote vault. */
const swapEvent: EventLayout = {
  name: "EvtSwap2",
  discriminator: "bd4233a826507599",
  amounts: [{ offset: 83 }, { offset: 107, toleranceOffsets: [147] }],
  order: "in-out",
};

const SWAP = { effect: "trade", pools: [{ pool: 2, vaults: [5, 6] }], user: 9, event: swapEvent } as const;

/** A bonding curve has no liquidity of users: its creation gives no row, the pool that a migration opens does. */
export const meteoraDbc: ProgramLayout = {
  name: "meteora-dbc",
  dex: "meteora",
  address: "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN",
  events: "cpi",
  instructions: [
    { ...SWAP, name: "swap", discriminator: "f8c69e91e17587c8" },
    { ...SWAP, name: "swap2", discriminator: "414b3f4ceb5b5b88" },
    // Not in facts: the IDL of release 0.2.
    {
      ...SWAP,
      name: "swap2_with_transfer_hook",
      discriminator: "b75d992818e6c297",
      event: { ...swapEvent, name: "EvtSwap2WithTransferHook", discriminator: "863ba8785e3372e7" },
    },
  ],
};
