import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { solanaPage, text } from "../../../../../shared/contract/param.ts";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/tokens",
  summary: "Known Solana tokens",
  mediaType: "application/json",
  body: "object",
  params: {
    filter: text({
      description: "Only tokens whose symbol or name holds this fragment, in any letter case.",
      example: "sol",
    }).optional(),
    ...solanaPage(),
  },
  columns: [
    { name: "programId", type: "String", description: "Mint address of the token." },
    {
      name: "symbol",
      type: "String",
      description: "Symbol in the token's metadata; empty where it has none.",
    },
    { name: "name", type: "String", description: "Name in the token's metadata; empty where it has none." },
    { name: "decimals", type: "UInt8", description: "Decimals of the mint." },
  ],
  rowOrder: "symbol ascending, then those seen first by the index",
  whenAbsent: "empty",
});
