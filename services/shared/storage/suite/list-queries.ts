import { type SampleQuery, sample } from "./sample.ts";

export interface ListQuery {
  readonly name: string;
  readonly query: SampleQuery;
  /** Served only by an engine that reads a secondary index in its order; others sort all matches. */
  readonly ordered?: true;
}

/** Selections and orders as the endpoints use them; an index leaves each with few rows to read, however large the collection. */
export const LIST_QUERIES: readonly ListQuery[] = [
  { name: "by whole key", query: { filter: { chainId: 8453, address: sample(77).address } } },
  { name: "by key prefix in key order", query: { filter: { chainId: 8453 }, limit: 20 } },
  {
    name: "by key range",
    query: { filter: { chainId: 8453, address: { gte: sample(400).address } }, limit: 20 },
  },
  {
    name: "the last up to a key",
    query: {
      filter: { chainId: 8453, address: { lte: sample(400).address } },
      order: [{ field: "address", direction: "desc" }],
      limit: 1,
    },
    ordered: true,
  },
  { name: "in key order, backwards", query: { order: [{ field: "chainId", direction: "desc" }], limit: 20 } },
  { name: "by an index", query: { filter: { blockTime: sample(77).blockTime } } },
  {
    name: "by a range of an index",
    query: { filter: { blockTime: { gte: sample(70).blockTime, lt: sample(90).blockTime } } },
  },
  {
    name: "by a list",
    query: { filter: { blockTime: { in: [sample(7).blockTime, sample(400).blockTime] } } },
  },
  {
    name: "by a list of keys",
    query: {
      filter: { chainId: { in: [1, 8453] }, address: { in: [sample(7).address, sample(400).address] } },
    },
  },
  {
    name: "by an index, in order of its next field",
    query: { filter: { dex: "dex 1" }, order: [{ field: "blockTime", direction: "asc" }], limit: 20 },
    ordered: true,
  },
  {
    name: "by an index and a bound",
    query: {
      filter: { dex: "dex 1", blockTime: { gte: sample(400).blockTime } },
      order: [{ field: "blockTime", direction: "desc" }],
      limit: 20,
    },
    ordered: true,
  },
  {
    name: "in an order of two directions",
    query: {
      filter: { dex: "dex 1" },
      order: [
        { field: "price", direction: "desc" },
        { field: "chainId", direction: "asc" },
        { field: "address", direction: "asc" },
      ],
      limit: 20,
    },
    ordered: true,
  },
  {
    name: "in the reverse of it",
    query: {
      filter: { dex: "dex 1" },
      order: [
        { field: "price", direction: "asc" },
        { field: "chainId", direction: "desc" },
        { field: "address", direction: "desc" },
      ],
      limit: 20,
    },
    ordered: true,
  },
  { name: "by a null", query: { filter: { amount: null }, limit: 20 }, ordered: true },
  {
    name: "in order of an index",
    query: { order: [{ field: "blockTime", direction: "desc" }], limit: 20 },
    ordered: true,
  },
  {
    name: "in order of a nullable field",
    query: { order: [{ field: "amount", direction: "asc" }], limit: 20 },
    ordered: true,
  },
  {
    name: "in order of it, descending",
    query: { order: [{ field: "amount", direction: "desc" }], limit: 20 },
    ordered: true,
  },
  {
    name: "by an index, in order of a nullable next field",
    query: { filter: { chainId: 8453 }, order: [{ field: "tvlUsd", direction: "asc" }], limit: 20 },
    ordered: true,
  },
  {
    name: "by a bound, in its order",
    query: {
      filter: { chainId: 8453, tvlUsd: { gte: 500 } },
      order: [{ field: "tvlUsd", direction: "desc" }],
      limit: 20,
    },
    ordered: true,
  },
];

/** What no index serves. */
export const SCAN_QUERIES: readonly SampleQuery[] = [
  { filter: { price: 0.123 } },
  { filter: { verified: true, symbol: "T-1" }, limit: 20 },
  { order: [{ field: "price", direction: "asc" }], limit: 20 },
];
