import { defineEndpoint } from "../../../shared/contract/define.ts";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/chains",
  summary: "Supported EVM networks",
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: {},
  columns: [
    { name: "id", type: "UInt32", description: "Chain ID (EIP-155)." },
    { name: "name", type: "String", description: "Name of the network." },
  ],
  rowOrder: "id ascending",
  whenAbsent: "empty",
});
