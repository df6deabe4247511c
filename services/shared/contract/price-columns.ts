import { defineColumns } from "./define.ts";

/** Columns of a price that all chains share, behind the token's. */
export const priceColumns = defineColumns([
  {
    name: "priceUsd",
    type: "Nullable(Float64)",
    unit: "USD per token",
    description: "Price of one whole token; null where there is none, and nullReason says why.",
  },
  {
    name: "source",
    type: "Nullable(String)",
    description:
      "What priced it: stablecoin (one of the tokens that all other prices start from) or pools (the weighted median of its pools); null without a price.",
  },
  {
    name: "sourcePool",
    type: "Nullable(String)",
    description: "The pool whose price is used; null for a stablecoin and without a price.",
  },
  {
    name: "parentToken",
    type: "Nullable(String)",
    description:
      "The token at the other side of that pool: priceUsd is the pool's price times the price of this one; null where sourcePool is.",
  },
  {
    name: "hops",
    type: "Nullable(UInt8)",
    unit: "pools",
    description: "Pools between the token and a stablecoin: 0 for a stablecoin, null without a price.",
  },
  {
    name: "depthUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description:
      "USD behind the deepest pool that agrees with the price: on the thinner side of the thinnest pool of its path; null where sourcePool is.",
  },
  {
    name: "otherDepthUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description: "The same of all other pools that agree, added; 0: the price rests on one pool alone.",
  },
  {
    name: "departed",
    type: "Nullable(Bool)",
    description:
      "Whether pools with most of the weight have left the others and are not followed for now; null where sourcePool is.",
  },
]);

/** As of when the price is, behind its block or slot. */
export const priceTimeColumns = defineColumns([
  {
    name: "blockTime",
    type: "Nullable(UInt32)",
    unit: "Unix seconds",
    description:
      "Time of that block; null where that is not known. Of one that is long past and had no event of an indexed pool, that of the last before it that had one.",
  },
  {
    name: "ageSeconds",
    type: "Nullable(UInt64)",
    unit: "seconds",
    description:
      "blockTime less the time since which the price has been as it is: the last change of its pool or of one that a parent rests on (on Solana the token's last trade); null where sourcePool is.",
  },
]);
