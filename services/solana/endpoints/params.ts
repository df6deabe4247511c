import { integer, solanaAddress, unixTime } from "../../shared/contract/param.ts";

export const WRAPPED_SOL = "So11111111111111111111111111111111111111112";
const POOL = "58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2";

/** The exchanges, as the `dex` column spells them. */
export const EXCHANGES = ["raydium", "orca", "meteora", "pumpfun"] as const;

/** Price of a request on the pay-per-request host, in USD. */
export const PAID_PRICE_USD = 0.05;

export const tokenAddress = solanaAddress({
  description: "Mint address of the token: base58 text of 32 bytes (32 to 44 characters).",
  example: WRAPPED_SOL,
});

export const poolAddress = solanaAddress({
  description: "Address of the pool account: base58 text of 32 bytes (32 to 44 characters).",
  example: POOL,
});

export const days = integer(
  { min: 1, max: 3650 },
  {
    description:
      "Number of days to look back. Without after_time and before_time: the last days up to the indexed head; with one of them it bounds the other side; with both it has no effect.",
    example: "1",
  },
);

/** Both ends of a window that `days` completes. */
export const optionalWindow = {
  after_time: unixTime({
    description:
      "Start of the time range, Unix seconds, included. Must be below before_time; without it, days decides (the specification's default 1735689600 is not applied).",
    example: "1735689600",
    documentedDefault: 1735689600,
  }).optional(),
  before_time: unixTime({
    description:
      "End of the time range, Unix seconds, excluded; without it, days or the indexed head decides (the specification's default 1735776000 is not applied).",
    example: "1735776000",
    documentedDefault: 1735776000,
  }).optional(),
} as const;

/** The key of stored rows read backwards. A leg is one pool of an instruction that touches several. */
export const TRANSACTION_ORDER =
  "the order of the chain, newest first: slot descending, within a slot the block's transactions from last to first, within a transaction its instructions from last to first, then the legs of an instruction from last to first";
