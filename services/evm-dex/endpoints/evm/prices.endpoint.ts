import { asOfParams, checkAsOf } from "../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../shared/contract/define.ts";
import { chainId, evmAddresses, MAX_LIST_ADDRESSES } from "../../../shared/contract/param.ts";
import { priceColumns, priceTimeColumns } from "../../../shared/contract/price-columns.ts";

const WETH = "0x4200000000000000000000000000000000000006";
const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/prices",
  summary: "USD prices of tokens",
  description: `An addition to the specification. Prices of up to ${MAX_LIST_ADDRESSES} tokens at the indexed head, or at an earlier block whose price changes are kept (EVM_RAW_DAYS), with what each rests on: the same prices that value pools and lending. A price is the weighted median of the token's pools by depth and age, so that a new or thin pool does not move it (docs/prices.md); depthUsd and otherDepthUsd say how much money stands behind it. What nobody would have to spend much to move is worth asking twice: where otherDepthUsd is 0 one pool alone decides.`,
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: {
    chain_id: chainId([1, 8453]),
    tokens: evmAddresses({
      description: `Addresses of tokens, comma-separated, at most ${MAX_LIST_ADDRESSES}.`,
      example: `${WETH},${USDC}`,
    }),
    ...asOfParams,
  },
  columns: [
    { name: "token", type: "String", description: "Address of the token, in lower case." },
    {
      name: "symbol",
      type: "Nullable(String)",
      description: "Symbol of the token, which its creator chose; null where no indexed pool holds it.",
    },
    ...priceColumns,
    { name: "block", type: "UInt64", description: "Block at whose end the price stood." },
    ...priceTimeColumns,
    {
      name: "nullReason",
      type: "Nullable(String)",
      description:
        "Why there is no price: unknown_token (no indexed pool holds it), no_path (no path of at most four pools of 10,000 USD or more leads to it from a stablecoin), block_not_indexed (at_block lies outside of the indexed blocks), block_not_kept (its price changes are no longer stored); null where there is a price.",
    },
  ],
  rowOrder: "the tokens as they were sent, one row each",
  whenAbsent: "empty",
  live: { kind: "list", key: ["token"], clocks: ["block", "blockTime", "ageSeconds"] },
  check: checkAsOf,
});
