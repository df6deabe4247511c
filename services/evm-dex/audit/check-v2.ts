import { encodeCall, readUint } from "../../shared/evm/abi.ts";
import type { Hex } from "../../shared/evm/port.ts";
import type { Store } from "../../shared/storage/port.ts";
import { HOUR } from "../metrics/bucket.ts";
import { positionText } from "../metrics/lp-position.ts";
import { v2AmountsText } from "../metrics/v2-bucket.ts";
import { fees, swap } from "../protocols/aerodrome-v2/decode/pool.ts";
import { protocolOf } from "../protocols/index.ts";
import type { PoolRow } from "../store/collections.ts";
import { eventsSince } from "../store/queries.ts";
import { type GaugeRow, lpPositions, v2Rollups } from "../store/v2-collections.ts";
import { compareValues, type Finding } from "./finding.ts";
import type { AuditRpc } from "./rpc.ts";
import type { Picker } from "./sample.ts";

const BALANCE_OF = "0x70a08231";
/** Blocks before and after an hour's rows that are searched for swaps without a row. */
const MARGIN_BLOCKS = 10;

/** Compares the swaps and fees of one random hour of a v2 pool with its logs. */
export async function checkHour(
  rpc: AuditRpc,
  { store, pool, head, pick }: { store: Store; pool: PoolRow; head: number; pick: Picker },
): Promise<Finding[]> {
  const key = { chainId: pool.chainId, poolAddress: pool.poolAddress };
  const hours = { ...key, span: HOUR };
  const count = await store.count(v2Rollups, hours);
  if (count === 0) return [];
  const [hour] = await store.find(v2Rollups, { filter: hours, skip: pick(count), limit: 1 });
  if (hour === undefined) return [];
  const rows = await eventsSince(store, { ...key, time: hour.start, before: hour.start + HOUR });
  const [first, last] = [rows[0], rows.at(-1)];
  const at = { pool: pool.poolAddress, block: first?.blockNumber ?? 0 };
  if (first === undefined || last === undefined)
    return [compareValues(at, { field: "v2_rollups.swapCount", stored: hour.swapCount, chain: 0 })];
  const logs = await rpc.logs({
    address: pool.poolAddress,
    fromBlock: Math.max(0, first.blockNumber - MARGIN_BLOCKS),
    toBlock: Math.min(head, last.blockNumber + MARGIN_BLOCKS),
  });
  const blocks = [...new Set(logs.map((log) => Number(log.blockNumber)))];
  const times = await rpc.times(blocks);
  const timeOf = new Map(blocks.map((block, i) => [block, times[i] as number]));
  const inHour = logs.filter((log) => {
    const time = timeOf.get(Number(log.blockNumber)) as number;
    return time >= hour.start && time < hour.start + HOUR;
  });
  const feeEvents = inHour.filter(({ topics }) => topics[0] === fees.topic).map((log) => fees.decode(log));
  const swapCount = inHour.filter(({ topics }) => topics[0] === swap.topic).length;
  const { fees0, fees1 } = v2AmountsText.read(hour.amounts);
  const sum = (side: "amount0" | "amount1") => feeEvents.reduce((total, each) => total + each[side], 0n);
  return [
    compareValues(at, { field: "v2_rollups.swapCount", stored: hour.swapCount, chain: swapCount }),
    compareValues(at, { field: "v2_rollups.fees0", stored: fees0, chain: sum("amount0") }),
    compareValues(at, { field: "v2_rollups.fees1", stored: fees1, chain: sum("amount1") }),
  ];
}

/** Compares a random LP position of any pool with balanceOf of its pool and gauge at its last event. */
export async function checkPosition(
  rpc: AuditRpc,
  {
    store,
    pool,
    gauges,
    pick,
  }: { store: Store; pool: PoolRow; gauges: ReadonlyMap<string, GaugeRow>; pick: Picker },
): Promise<Finding[]> {
  const { chainId } = pool;
  if (protocolOf(pool.protocol).lpTokens === undefined) return [];
  const count = await store.count(lpPositions, { chainId });
  if (count === 0) return [];
  const [row] = await store.find(lpPositions, { filter: { chainId }, skip: pick(count), limit: 1 });
  if (row === undefined) return [];
  const { poolAddress, wallet, lastBlock: block } = row;
  const gauge = gauges.get(poolAddress);
  const { balance, staked } = positionText.read(row.position);
  const data = encodeCall(BALANCE_OF, [wallet as Hex]);
  const [held, inGauge] = await rpc.call([
    { to: poolAddress as Hex, data, block },
    ...(gauge === undefined ? [] : [{ to: gauge.gauge as Hex, data, block }]),
  ]);
  const at = { pool: poolAddress, block };
  const isGauged = gauge !== undefined && gauge.createdBlock <= block;
  return [
    compareValues(at, { field: "lp_positions.balance", stored: balance, chain: wordOf(held) }),
    compareValues(at, {
      field: "lp_positions.staked",
      stored: staked,
      chain: isGauged ? wordOf(inGauge) : 0n,
    }),
  ];
}

function wordOf(result: Hex | null | undefined): bigint | null {
  return typeof result === "string" && result.length >= 66 ? readUint(result, 0) : null;
}
