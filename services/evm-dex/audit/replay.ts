import { EMPTY_POSITION, type LpPosition, positionText } from "../metrics/lp-position.ts";
import { logDecoderOf, protocolOf } from "../protocols/index.ts";
import { writeIntegers } from "../protocols/integers.ts";
import type { PoolEvent } from "../protocols/protocol.ts";
import type { PoolEventRow, PoolRow } from "../store/collections.ts";
import type { GaugeRow, LpEventRow } from "../store/v2-collections.ts";
import type { RpcLog } from "./rpc.ts";

/** A log and the time of its block. */
export interface TimedLog {
  readonly log: RpcLog;
  readonly time: number;
}

/** What the rows of a pool must be, but for senders and USD. */
export interface Replayed {
  readonly events: readonly (Partial<PoolEventRow> & { readonly event: PoolEvent })[];
  readonly positions: readonly LpEventRow[];
}

interface ReplayStart {
  /** As stored, before the first log. */
  readonly state: string;
  readonly gauges: readonly GaugeRow[];
  /** Positions before the first log, by wallet; absent = empty. */
  readonly positions: ReadonlyMap<string, LpPosition>;
}

/** The rows that logs, in the order of the chain, lead to from a state. */
export function replay(pool: PoolRow, logs: readonly TimedLog[], start: ReplayStart): Replayed {
  const protocol = protocolOf(pool.protocol);
  const gauges = new Set(start.gauges.map(({ gauge }) => gauge));
  const held = new Map(start.positions);
  const events: (Partial<PoolEventRow> & { event: PoolEvent })[] = [];
  const positions: LpEventRow[] = [];
  let state = protocol.read(start.state);
  for (const { log, time } of logs) {
    const event = eventOf(pool, { log, gauges });
    if (event === undefined) continue;
    state = protocol.apply(state, event, time);
    const place = {
      chainId: pool.chainId,
      blockNumber: Number(log.blockNumber),
      logIndex: Number(log.logIndex),
    };
    const block = { poolAddress: pool.poolAddress, blockHash: log.blockHash, time };
    for (const { after, wallet } of protocol.lpTokens?.changes(event, { state, pool }) ?? []) {
      const position = after(held.get(wallet) ?? EMPTY_POSITION);
      held.set(wallet, position);
      positions.push({ ...place, wallet, ...block, position: positionText.write(position) });
    }
    // An event that a later one of its block supersedes has no row.
    const last = events.at(-1);
    if (last?.blockNumber === place.blockNumber && protocol.isSuperseded(last.event)) events.pop();
    const { amount0, amount1 } = protocol.moved(event);
    events.push({
      ...place,
      ...block,
      kind: event.kind,
      txHash: log.transactionHash,
      amounts: writeIntegers([amount0, amount1]),
      state: protocol.write(state),
      event,
    });
  }
  return { events, positions };
}

/** The event of a pool that a log holds: of the pool itself, its factory, a voter or one of its gauges. */
function eventOf(
  pool: PoolRow,
  { gauges, log }: { log: RpcLog; gauges: Set<string> },
): PoolEvent | undefined {
  const reader = logDecoderOf(protocolOf(pool.protocol));
  if (log.address === pool.poolAddress) return reader.pool(log);
  if (gauges.has(log.address)) return reader.gauge(log);
  const named = log.address === pool.dexAddress ? reader.factory(log) : undefined;
  if (named !== undefined) return named.pool === pool.poolAddress ? named.event : undefined;
  const created = reader.gaugeCreated(log);
  if (created?.pool === pool.poolAddress) gauges.add(created.event.gauge);
  if (created !== undefined) return created.pool === pool.poolAddress ? created.event : undefined;
  const event = reader.voter(log);
  return event !== undefined && gauges.has(event.gauge) ? event : undefined;
}
