import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { MAX_LIST_ADDRESSES, solanaAddresses } from "../../../../../shared/contract/param.ts";
import { priceColumns, priceTimeColumns } from "../../../../../shared/contract/price-columns.ts";
import { WRAPPED_SOL } from "../../../params.ts";

const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/prices",
  summary: "USD prices of tokens",
  description: `An addition to the specification. Prices of up to ${MAX_LIST_ADDRESSES} tokens at the indexed head, with what each rests on: the same prices that value trades, candles and holders. A price is the weighted median of the token's pools by the depth that each has held and by its age, so that a new, thin or pushed pool does not move it (docs/prices-solana.md); depthUsd and otherDepthUsd say how much money stands behind it. Earlier slots have no prices: ohlcv/token has what trades paid then.`,
  mediaType: "application/json",
  body: "object",
  params: {
    tokens: solanaAddresses({
      description: `Mint addresses of tokens, comma-separated, at most ${MAX_LIST_ADDRESSES}.`,
      example: `${WRAPPED_SOL},${USDC}`,
    }),
  },
  columns: [
    { name: "token", type: "String", description: "Mint address of the token." },
    {
      name: "symbol",
      type: "Nullable(String)",
      description:
        "Symbol of the token, which its creator chose; empty where it has none, null where the token is unknown.",
    },
    ...priceColumns,
    { name: "slot", type: "UInt64", description: "Slot of the indexed head, at whose end the price stood." },
    ...priceTimeColumns,
    {
      name: "nullReason",
      type: "Nullable(String)",
      description:
        "Why there is no price: unknown_token (no indexed trade, mint or burn has had it), no_path (no pool that holds 10,000 USD on its thinner side and has traded lately leads to it from a stablecoin); null where there is a price.",
    },
  ],
  rowOrder: "the tokens as they were sent, one row each",
  whenAbsent: "empty",
});
