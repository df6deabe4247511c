import { defineEndpoint } from "../../../shared/contract/define.ts";
import { chainId } from "../../../shared/contract/param.ts";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexes",
  summary: "DEXes on EVM chains",
  description: "The DEXes whose pools are indexed, one row per factory.",
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: { chain_id: chainId([1, 8453]) },
  columns: [
    { name: "chainId", type: "UInt32", description: "Chain the DEX is on." },
    { name: "dexAddress", type: "String", description: "Address of the DEX's factory." },
    { name: "dexName", type: "String", description: "Name of the DEX." },
    {
      name: "dexType",
      type: "String",
      description: "Kind of its pools: v2 (two reserves) or v3 (concentrated liquidity).",
    },
    {
      name: "family",
      type: "String",
      description: "Path family that serves its pools: dexa, dexb or clones.",
    },
  ],
  rowOrder: "family, dexName, then dexAddress ascending",
  whenAbsent: "empty",
});
