import type { Endpoint } from "../../shared/contract/endpoint.ts";
import type { ExampleCandidate, FindExampleCandidates } from "../../shared/service/examples.ts";
import type { Store } from "../../shared/storage/port.ts";
import { WRAPPED_SOL } from "../endpoints/params.ts";
import {
  EXCHANGES,
  poolRows,
  type SupplyRow,
  supplyRows,
  type TokenTransactionRow,
  TX_TYPES,
  tokenRows,
} from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { tokens } from "../store/token-collections.ts";
import { hasData } from "./head.ts";

/** Trades looked at, from the last one backwards. */
const SAMPLE = 300;
/** Pools whose tokens are considered, and steps through mints and burns if none of these tokens has one. */
const POOLS = 20;
/** Scenes of one kind. */
const MAX_SCENES = 6;
const HOUR = 3_600;
/** Token creators choose symbols freely: examples only use plain ones. */
const PLAIN_SYMBOL = /^[A-Za-z0-9]{2,10}$/;

/**
 * Trades of wrapped SOL, which every exchange trades, with a pool, type, exchange, minimum value and time window that
 * match each. Then trades of the other tokens of those pools, which may have the holders, mints and burns that wrapped
 * SOL lacks.
 */
export function findExampleScenes({ store }: { readonly store: Store }): FindExampleCandidates {
  return async (endpoint) => {
    const checkpoint = await getCheckpoint(store);
    if (!hasData(checkpoint)) return [];
    const { rowsFromTime } = checkpoint;
    const trades = await lastTrades(store, { mint: WRAPPED_SOL, limit: SAMPLE });
    const mints = await findTradedMints(store, trades);
    const supplies = isSupplyEndpoint(endpoint) ? await lastSupplies(store, mints) : [];
    const others = await Promise.all(mints.map((mint) => lastTrades(store, { mint, limit: 1 })));
    const scenes = [
      ...supplies.slice(0, MAX_SCENES).map((row) => toSupplyScene(row, rowsFromTime)),
      ...[...trades.slice(0, MAX_SCENES), ...others.flat()].map((trade) => toScene(trade, rowsFromTime)),
    ];
    return "filter" in endpoint.params ? withFilter(store, scenes) : scenes;
  };
}

/** A token's last trades, priced ones first. */
async function lastTrades(
  store: Store,
  { mint, limit }: { mint: string; limit: number },
): Promise<TokenTransactionRow[]> {
  const rows = await store.find(tokenRows, {
    filter: { mint },
    order: [
      { field: "slot", direction: "desc" },
      { field: "instructionIndex", direction: "desc" },
      { field: "signature", direction: "desc" },
      { field: "leg", direction: "desc" },
    ],
    via: tokenRows.key,
    limit,
  });
  const rank = ({ txType, priceUsd }: TokenTransactionRow) =>
    Number(TX_TYPES[txType] === "buy" || TX_TYPES[txType] === "sell") + Number(priceUsd !== null);
  return rows.sort((a, b) => rank(b) - rank(a));
}

function windowAround(time: number, rowsFromTime: number) {
  return {
    after_time: String(Math.min(Math.max(time - HOUR, rowsFromTime), time)),
    before_time: String(time + 1),
  };
}

function toScene(
  { mint, pool, txType, dex, valueUsd, time }: TokenTransactionRow,
  rowsFromTime: number,
): ExampleCandidate {
  return {
    token_address: mint,
    tokens: `${mint},${WRAPPED_SOL}`,
    pool_address: pool,
    tx_type: TX_TYPES[txType],
    dex: EXCHANGES[dex],
    // Rounded down to cents: the trade itself passes.
    min_value_usd: valueUsd === null ? undefined : (Math.floor(valueUsd * 100) / 100).toFixed(2),
    ...windowAround(time, rowsFromTime),
  };
}

/** The other tokens of the trades' pools. */
async function findTradedMints(store: Store, trades: readonly TokenTransactionRow[]): Promise<string[]> {
  const pools = [...new Set(trades.map(({ pool }) => pool))].slice(0, POOLS);
  const rows = await Promise.all(
    pools.map((pool) =>
      store.find(poolRows, {
        filter: { pool },
        via: poolRows.key,
        limit: 1,
        fields: ["tokenIn", "tokenOut"],
      }),
    ),
  );
  const mints = new Set(rows.flat().flatMap(({ tokenIn, tokenOut }) => [tokenIn, tokenOut]));
  mints.delete(WRAPPED_SOL);
  return [...mints].slice(0, POOLS / 2);
}

/** Whether an endpoint lists mints and burns, by its columns. */
function isSupplyEndpoint({ columns }: Endpoint): boolean {
  return columns.some(({ name }) => name === "operationType");
}

function toSupplyScene({ mint, time }: SupplyRow, rowsFromTime: number): ExampleCandidate {
  return { token_address: mint, ...windowAround(time, rowsFromTime) };
}

/** The last mints and burns of tokens that trade now; of any token if those have none. */
async function lastSupplies(store: Store, mints: readonly string[]): Promise<SupplyRow[]> {
  const found: SupplyRow[] = [];
  for (const mint of mints) found.push(...(await lastSupply(store, mint)));
  for (let step = 0, after = ""; found.length === 0 && step < POOLS; step += 1) {
    const [next] = await store.find(supplyRows, { filter: { mint: { gt: after } }, limit: 1 });
    if (next === undefined) break;
    found.push(...(await lastSupply(store, next.mint)));
    after = next.mint;
  }
  return found.sort((a, b) => b.time - a.time);
}

function lastSupply(store: Store, mint: string): Promise<SupplyRow[]> {
  const order = [
    { field: "slot", direction: "desc" },
    { field: "instructionIndex", direction: "desc" },
  ] as const;
  return store.find(supplyRows, { filter: { mint }, order, via: supplyRows.key, limit: 1 });
}

/** Filters by the symbol of the scene's token, if that is plain. */
async function withFilter(store: Store, scenes: readonly ExampleCandidate[]): Promise<ExampleCandidate[]> {
  const [scene] = scenes;
  if (scene?.token_address === undefined) return [];
  const token = await store.get(tokens, { mint: scene.token_address });
  const isPlain = token !== undefined && PLAIN_SYMBOL.test(token.symbol);
  return [{ ...scene, filter: isPlain ? token.symbol : undefined }];
}
