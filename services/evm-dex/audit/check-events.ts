import type { Store } from "../../shared/storage/port.ts";
import { MINUTE } from "../metrics/bucket.ts";
import { logDecoderOf, protocolOf } from "../protocols/index.ts";
import { writeIntegers } from "../protocols/integers.ts";
import type { PoolEvent } from "../protocols/protocol.ts";
import { type PoolEventRow, type PoolRow, poolEvents, rollups } from "../store/collections.ts";
import { eventsSince, OLDEST_FIRST } from "../store/queries.ts";
import { compareValues, type Finding } from "./finding.ts";
import type { AuditRpc, RpcLog } from "./rpc.ts";
import type { Picker } from "./sample.ts";

/** Rows of a pool that are compared with their receipts. */
const ROWS_A_POOL = 4;
/** Blocks before and after a minute's rows that are searched for swaps without a row. */
const MARGIN_BLOCKS = 10;

/** Compares random rows of a pool with the receipts of their transactions: position, sender and amounts. */
export async function checkRows(
  rpc: AuditRpc,
  { store, pool, pick }: { store: Store; pool: PoolRow; pick: Picker },
): Promise<Finding[]> {
  const key = { chainId: pool.chainId, poolAddress: pool.poolAddress };
  const count = await store.count(poolEvents, key);
  const rows: PoolEventRow[] = [];
  for (let i = 0; i < Math.min(ROWS_A_POOL, count); i++) {
    const [row] = await store.find(poolEvents, {
      filter: key,
      order: OLDEST_FIRST,
      skip: pick(count),
      limit: 1,
    });
    if (row !== undefined) rows.push(row);
  }
  const receipts = await rpc.receipts(rows.map((row) => row.txHash));
  return rows.flatMap((row, i) => {
    const receipt = receipts[i] ?? null;
    const log = receipt?.logs.find((each) => Number(each.logIndex) === row.logIndex);
    const at = { pool: pool.poolAddress, block: row.blockNumber };
    const gone = receipt === null ? null : "no such log";
    return [
      compareValues(at, { field: "pool_events.sender", stored: row.sender, chain: receipt?.from ?? null }),
      compareValues(at, {
        field: "pool_events.blockHash",
        stored: row.blockHash,
        chain: receipt?.blockHash ?? null,
      }),
      compareValues(at, {
        field: "pool_events.kind",
        stored: row.kind,
        chain: eventOf(pool, log)?.kind ?? gone,
      }),
      compareValues(at, {
        field: "pool_events.amounts",
        stored: row.amounts,
        chain: amountsOf(pool, log) ?? gone,
      }),
    ];
  });
}

/** The event of a pool that a log holds: of the pool itself, its factory, its voter or its gauge. */
function eventOf(pool: PoolRow, log: RpcLog | undefined): PoolEvent | undefined {
  if (log === undefined) return undefined;
  const reader = logDecoderOf(protocolOf(pool.protocol));
  if (log.address === pool.poolAddress) return reader.pool(log);
  const named = reader.factory(log) ?? reader.gaugeCreated(log);
  return named === undefined ? (reader.voter(log) ?? reader.gauge(log)) : named.event;
}

function amountsOf(pool: PoolRow, log: RpcLog | undefined): string | undefined {
  const event = eventOf(pool, log);
  if (event === undefined) return undefined;
  const { amount0, amount1 } = protocolOf(pool.protocol).moved(event);
  return writeIntegers([amount0, amount1]);
}

/**
 * Compares the swaps of one random minute with the pool's logs: none is missing, none too many, and the rollup counts
 * them.
 */
export async function checkMinute(
  rpc: AuditRpc,
  { store, pool, head, pick }: { store: Store; pool: PoolRow; head: number; pick: Picker },
): Promise<Finding[]> {
  const key = { chainId: pool.chainId, poolAddress: pool.poolAddress };
  const minutes = { ...key, span: MINUTE };
  const count = await store.count(rollups, minutes);
  if (count === 0) return [];
  const [minute] = await store.find(rollups, { filter: minutes, skip: pick(count), limit: 1 });
  if (minute === undefined) return [];
  const later = await eventsSince(store, { ...key, time: minute.start, before: minute.start + MINUTE });
  const rows = later.filter((row) => row.kind === "swap");
  const [first, last] = [rows[0], rows.at(-1)];
  const at = { pool: pool.poolAddress, block: first?.blockNumber ?? 0 };
  if (first === undefined || last === undefined)
    return [compareValues(at, { field: "rollups.swapCount", stored: minute.swapCount, chain: 0 })];
  const logs = await rpc.logs({
    address: pool.poolAddress,
    fromBlock: Math.max(0, first.blockNumber - MARGIN_BLOCKS),
    toBlock: Math.min(head, last.blockNumber + MARGIN_BLOCKS),
  });
  const swaps = logs.filter((log) => eventOf(pool, log)?.kind === "swap");
  const blocks = [...new Set(swaps.map((log) => Number(log.blockNumber)))];
  const times = await rpc.times(blocks);
  const timeOf = new Map(blocks.map((block, i) => [block, times[i] as number]));
  const inMinute = swaps.filter((log) => {
    const time = timeOf.get(Number(log.blockNumber)) as number;
    return time >= minute.start && time < minute.start + MINUTE;
  });
  const places = (list: readonly { blockNumber: unknown; logIndex: unknown }[]) =>
    list.map(({ blockNumber, logIndex }) => `${Number(blockNumber)}:${Number(logIndex)}`).join(" ");
  return [
    compareValues(at, { field: "rollups.swapCount", stored: minute.swapCount, chain: inMinute.length }),
    compareValues(at, {
      field: "pool_events (swaps of a minute)",
      stored: places(rows),
      chain: places(inMinute),
    }),
  ];
}
