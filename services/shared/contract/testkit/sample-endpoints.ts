import { defineEndpoint, sortable } from "../define.ts";
import {
  boolean,
  chainId,
  evmAddress,
  evmPage,
  integer,
  nonNegativeNumber,
  oneOf,
  solanaAddress,
  text,
} from "../param.ts";
import { checkWindow } from "../window.ts";

/** Endpoints for tests: together they use every kind of parameter and column. */
export const sampleList = defineEndpoint({
  family: "evm-dex",
  path: "/evm/sample/list",
  summary: "A list",
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: {
    chain_id: chainId([1, 8453]),
    pool_address: evmAddress({ description: "A pool.", example: `0x${"ab".repeat(20)}` }).optional(),
    borrowable: boolean({ description: "A flag.", example: "true" }).optional(),
    protocol_id: text({ description: "A text.", example: "one" }).optional(),
    min_usd: nonNegativeNumber({ description: "A number.", example: "1.5" }).optional(),
    side: oneOf(["buy", "sell"], { description: "A choice.", example: "buy" }).optional(),
    ...evmPage(),
  },
  columns: sortable([
    { name: "poolAddress", type: "String", description: "An address." },
    { name: "tvlUsd", type: "Nullable(Float64)", unit: "USD", description: "A value, |a| + |b|." },
    { name: "createdAt", type: "DateTime", description: "A time." },
  ]),
  rowOrder: "createdAt descending, then poolAddress ascending",
  whenAbsent: "empty",
  live: { kind: "list", key: ["poolAddress"] },
});

const seconds = (name: string) =>
  integer(
    { min: 0, max: 4_000_000_000 },
    { description: `The ${name}.`, example: name === "start" ? "100" : "200" },
  );

export const sampleItem = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/sample/item",
  summary: "An item",
  mediaType: "application/json",
  body: "object",
  params: {
    token_address: solanaAddress({
      description: "A mint.",
      example: "So11111111111111111111111111111111111111112",
    }),
    after_time: seconds("start"),
    before_time: seconds("end"),
  },
  aliases: { program_id: "token_address" },
  columns: [
    { name: "amount", type: "UInt64", description: "An integer." },
    { name: "liquidity", type: "UInt128", description: "A big integer." },
    { name: "flag", type: "Nullable(Bool)", description: "A flag." },
    { name: "valueUSD", type: "Float64", nullable: true, unit: "USD", description: "A value." },
    { name: "counts", type: "Array(Nullable(UInt64))", description: "Numbers." },
    { name: "days", type: "Array(Tuple(UInt32, Nullable(Float64), String))", description: "Rows." },
  ],
  rowOrder: "one row",
  whenAbsent: "not_found",
  priceUsd: 0.05,
  check: checkWindow,
});
