import { defineColumns, sortable } from "../../shared/contract/define.ts";

/** The two tokens of a v3 pool. */
export const pairColumns = defineColumns([
  {
    name: "token0Address",
    type: "String",
    description: "Address of token0, the numerically lower of the two.",
  },
  { name: "token0Symbol", type: "String", description: "Symbol of token0 as its contract states it." },
  { name: "token0Decimals", type: "UInt8", description: "Decimals of token0." },
  { name: "token1Address", type: "String", description: "Address of token1." },
  { name: "token1Symbol", type: "String", description: "Symbol of token1 as its contract states it." },
  { name: "token1Decimals", type: "UInt8", description: "Decimals of token1." },
]);

/** A pool by its factory's PoolCreated event, in the specification's order; every column sortable. */
export const poolListColumns = sortable([
  { name: "chainId", type: "UInt32", description: "Chain the pool is on." },
  { name: "dexAddress", type: "String", description: "Address of the factory that created the pool." },
  { name: "dexName", type: "String", description: "Name of the DEX, by its factory." },
  { name: "poolAddress", type: "String", description: "Address of the pool." },
  ...pairColumns,
  { name: "createdAt", type: "DateTime", description: "Time of the block that created the pool." },
  {
    name: "fee",
    type: "UInt32",
    unit: "hundredths of a bip",
    description: "Fee tier the pool was created with: 500 is 0.05 %.",
  },
  { name: "tickSpacing", type: "Int32", unit: "ticks", description: "Distance between usable ticks." },
]);

export const POOL_LIST_ORDER = "createdAt descending, then poolAddress ascending";
