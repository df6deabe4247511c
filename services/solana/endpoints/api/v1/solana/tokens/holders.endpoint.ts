import { defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { solanaPage } from "../../../../../../shared/contract/param.ts";
import { tokenAddress } from "../../../../params.ts";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/tokens/holders",
  summary: "Holders of one token",
  mediaType: "application/json",
  body: "object",
  params: { token_address: tokenAddress, ...solanaPage() },
  aliases: { program_id: "token_address" },
  columns: [
    { name: "account", type: "String", description: "Wallet that owns the token accounts." },
    {
      name: "balanceRaw",
      type: "UInt64",
      unit: "raw units",
      description: "Balance over all its token accounts; a decimal string above 2^53.",
    },
    { name: "balanceUi", type: "Float64", unit: "token units", description: "balanceRaw / 10^decimals." },
    {
      name: "balanceUSD",
      type: "Nullable(Float64)",
      unit: "USD",
      description:
        "balanceUi × USD price of the token at the indexed head; null while none is known, and above 10^15 USD.",
    },
    {
      name: "supplyShare",
      type: "Nullable(Float64)",
      unit: "fraction",
      description:
        "balanceRaw / supply of the mint; null while the supply is unknown, or 0 as wrapped SOL's is.",
    },
  ],
  rowOrder: "balanceRaw descending, then account ascending",
  whenAbsent: "empty",
});
