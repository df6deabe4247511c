import { defineEndpoint, sortable } from "../../../../../shared/contract/define.ts";
import { solanaPage } from "../../../../../shared/contract/param.ts";
import { checkWindow, requiredWindow } from "../../../../../shared/contract/window.ts";
import { TRANSACTION_ORDER, tokenAddress } from "../../../params.ts";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/token-mint-burn-transactions",
  summary: "Mints and burns of one token",
  mediaType: "application/json",
  body: "object",
  params: { token_address: tokenAddress, ...requiredWindow, ...solanaPage() },
  columns: sortable([
    { name: "blockTime", type: "DateTime", description: "Time of the slot's block." },
    { name: "blockNumber", type: "UInt64", description: "Slot of the transaction." },
    { name: "txSignature", type: "String", description: "Signature of the transaction." },
    { name: "tokenAddress", type: "String", description: "Mint address of the token." },
    { name: "operationType", type: "String", description: "mint or burn." },
    {
      name: "accountCount",
      type: "UInt32",
      unit: "accounts",
      description: "Accounts the instruction names.",
    },
    {
      name: "authority",
      type: "Nullable(String)",
      description:
        "Account that authorized it: the mint authority, or the owner or delegate that burned; null where the instruction does not name it.",
    },
    {
      name: "amount",
      type: "UInt64",
      unit: "raw units",
      description: "Amount minted or burned; a decimal string above 2^53.",
    },
    {
      name: "amountUI",
      type: "Float64",
      unit: "token units",
      description:
        "amount / 10^decimals, times the mint's multiplier at the head (uiAmountMultiplier of tokens/security); ordered as amount is.",
    },
    { name: "decimals", type: "UInt8", description: "Decimals of the mint." },
  ]),
  rowOrder: `${TRANSACTION_ORDER}; ties of a requested order come in this one`,
  whenAbsent: "empty",
  check: checkWindow,
});
