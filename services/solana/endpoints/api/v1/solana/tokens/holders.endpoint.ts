import { defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { solanaPage } from "../../../../../../shared/contract/param.ts";
import { tokenAddress } from "../../../../params.ts";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/tokens/holders",
  summary: "Holders of one token",
  description:
    "Wallets that are known to hold a token. Their share of the supply is holdersCoverage of tokens/security; below the operator's bound, a request asks for the token's other accounts, which follow within minutes where a node offers them.",
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
    {
      name: "balanceUi",
      type: "Float64",
      unit: "token units",
      description:
        "balanceRaw / 10^decimals, times the mint's multiplier at the indexed head (Token-2022's ScaledUiAmount, InterestBearing).",
    },
    {
      name: "balanceUSD",
      type: "Nullable(Float64)",
      unit: "USD",
      description:
        "balanceUi × USD price of the token at the indexed head (of a multiplied amount, as balanceUi is); null while none is known, and above 10^15 USD.",
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
