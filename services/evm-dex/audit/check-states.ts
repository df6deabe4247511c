import { readV2State } from "../protocols/aerodrome-v2/state.ts";
import { protocolOf } from "../protocols/index.ts";
import { readIntegers } from "../protocols/integers.ts";
import { readState, type V3State, writeState } from "../protocols/v3/state.ts";
import {
  type PoolEventRow,
  type PoolRow,
  type PoolStateRow,
  poolEvents,
  poolStates,
} from "../store/collections.ts";
import { compareRows } from "./compare-rows.ts";
import { compareValues, type Finding, requireThat } from "./finding.ts";
import type { HourWindow } from "./hours.ts";
import type { PoolPass, PoolScope } from "./scope.ts";

/** What each kind of event may change beside the reserves. Others change nothing. */
const CHANGES: Readonly<Record<string, readonly (keyof V3State)[]>> = {
  initialize: ["sqrtPriceX96", "tick"],
  swap: ["sqrtPriceX96", "tick", "liquidity"],
  mint: ["liquidity"],
  burn: ["liquidity"],
  set_fee_protocol: ["feeProtocol"],
};
const MOST = 2n ** 255n;

/** A v3 state from the one before it, as far as rows alone tell: what else the event may change is taken as stored. */
export function nextV3State(before: V3State, row: Pick<PoolEventRow, "kind" | "amounts" | "state">): string {
  const stored = readState(row.state);
  const [amount0 = 0n, amount1 = 0n] = readIntegers(row.amounts);
  const changed = Object.fromEntries((CHANGES[row.kind] ?? []).map((name) => [name, stored[name]]));
  return writeState({
    ...before,
    ...changed,
    reserve0: bounded(before.reserve0 + amount0),
    reserve1: bounded(before.reserve1 + amount1),
  });
}

/** |tick after − tick before| of a swap, 0 without a price before; null for other events. */
export function tickTravelOf(pool: PoolRow, row: PoolEventRow, before: string): number | null {
  if (row.kind !== "swap") return null;
  if (pool.protocol === "aerodrome-v2") return 0;
  const { sqrtPriceX96, tick } = readState(before);
  return sqrtPriceX96 === 0n ? 0 : Math.abs(readState(row.state).tick - tick);
}

/** Rows of a pool in the order of the chain, against the state before them. */
function compareStates(pool: PoolRow, rows: readonly PoolEventRow[], anchor: string): Finding[] {
  let before = anchor;
  const expected = rows.map((row) => {
    const { blockNumber, chainId, logIndex, poolAddress } = row;
    const state = pool.protocol === "aerodrome-v2" ? row.state : nextV3State(readState(before), row);
    const tickTravel = tickTravelOf(pool, row, before);
    before = row.state;
    return { chainId, blockNumber, logIndex, poolAddress, state, tickTravel };
  });
  const order = rows.flatMap((row, i) => {
    const last = rows[i - 1];
    if (last === undefined) return [];
    const isSameBlock = row.blockNumber === last.blockNumber;
    const place = { pool: pool.poolAddress, at: `block ${row.blockNumber}, log ${row.logIndex}` };
    return [
      requireThat(place, {
        field: "pool_events.blockNumber",
        holds: isSameBlock ? row.time === last.time : row.blockNumber > last.blockNumber,
        stored: row.blockNumber,
        rule: "blocks in the order of their times",
      }),
      ...(isSameBlock
        ? [
            compareValues(place, {
              field: "pool_events.blockHash",
              stored: row.blockHash,
              expected: last.blockHash,
            }),
          ]
        : []),
    ];
  });
  return [
    ...compareRows({ collection: poolEvents, pool: pool.poolAddress, stored: rows, expected }),
    ...order,
  ];
}

/** A pool's row of pool_states against its last event; `last` is undefined where it has none. */
function comparePoolState(
  pool: PoolRow,
  state: PoolStateRow,
  {
    last,
    checkpoint,
  }: { last: PoolEventRow | undefined; checkpoint: { blockNumber: number; fromBlock: number } },
): Finding[] {
  const { chainId, poolAddress } = pool;
  const protocol = protocolOf(pool.protocol);
  const place = { pool: poolAddress, at: `block ${state.lastBlock}` };
  const isOlder = pool.createdBlock < checkpoint.fromBlock;
  const held = protocol.tvlSource === "reserves" && state.balanceBlock === state.lastBlock;
  const { reserve0, reserve1 } = held ? readV2State(state.state) : { reserve0: 0n, reserve1: 0n };
  const expected = {
    chainId,
    poolAddress,
    state: last?.state ?? state.anchor,
    lastBlock: last?.blockNumber ?? -1,
    lastTime: last?.time ?? 0,
    ...(!isOlder && { anchor: protocol.write(protocol.initialState(pool)) }),
    ...(held && { balance0: reserve0, balance1: reserve1 }),
  };
  return [
    ...compareRows({ collection: poolStates, pool: poolAddress, stored: [state], expected: [expected] }),
    requireThat(place, {
      field: "pool_states.balanceBlock",
      holds: state.balanceBlock >= -1 && state.balanceBlock <= checkpoint.blockNumber,
      stored: state.balanceBlock,
      rule: `from -1 to ${checkpoint.blockNumber}`,
    }),
  ];
}

/** States of events against those before them, and pool_states against the last one. */
export function statePass({ before: kept, checkpoint, pool, state }: PoolScope): PoolPass<HourWindow> {
  const protocol = protocolOf(pool.protocol);
  let before = kept?.state ?? state?.anchor ?? protocol.write(protocol.initialState(pool));
  let last = kept;
  return {
    window({ rows }) {
      const anchor = before;
      last = rows.at(-1) ?? last;
      before = last?.state ?? before;
      return compareStates(pool, rows, anchor);
    },
    async end() {
      if (state !== undefined) return comparePoolState(pool, state, { last, checkpoint });
      const place = { pool: pool.poolAddress, at: "" };
      const rule = "a row, as the pool has events";
      const holds = last === undefined;
      return [requireThat(place, { field: "pool_states (row)", holds, stored: "no row", rule })];
    },
  };
}

function bounded(reserve: bigint): bigint {
  return reserve > MOST ? MOST : reserve < -MOST ? -MOST : reserve;
}
