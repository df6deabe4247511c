import type { ChainModel, Plan, Provider } from "./data.ts";

/** What a start has to read. */
export interface Work {
  readonly head: number;
  /** First blocks of the scans for pools and for lending entities; undefined where there is nothing to scan. */
  readonly poolsFrom: number | undefined;
  readonly lendingFrom: number | undefined;
  readonly historyDays: number;
  /** Days whose events are kept as rows; Infinity = all (EVM_RAW_DAYS). */
  readonly rawDays: number;
}

/** What the endpoints allow, as probed. */
export interface Means {
  /** Blocks of one eth_getLogs; undefined = no limit was found. */
  readonly maxBlocks: number | undefined;
  /** Of the blocks of history, in place of RPC. */
  readonly hasPortal: boolean;
  /** JSON bytes a second of one connection; undefined = not measured. */
  readonly bytesASecond: number | undefined;
}

export type Calls = Readonly<Record<string, number>>;

/** One part of a start, or a day of following the head. */
export interface Cost {
  readonly calls: Calls;
  /** JSON before compression. */
  readonly bytes: number;
  readonly events: number;
}

export interface Estimate {
  readonly discovery: Cost;
  readonly history: Cost;
  /** A day of the head, both ingests. */
  readonly day: Cost;
  /** What retention leaves of the history, and of it and a year after it. */
  readonly diskBytes: { readonly history: number; readonly afterAYear: number };
}

/** The scan's own limits (services/shared/index/evm/discovery.ts). */
const MAX_RANGE = 100_000;
const VERIFY_BLOCKS = 20;
const VERIFY_SHARE = 0.01;
/** Of the checked silent blocks, at most so many are suspected by chance where blooms tell. */
const SUSPECTS = 0.05;
/** The backfill aims at so many logs a response (TARGET_LOGS). */
const LOGS_A_RESPONSE = 2_500;
const HEADER_BYTES = 1_500;
const CALL_BYTES = 200;
const MULTICALL_CALLS = 500;
/** Calls a block at the head, with 50 touched pools (npm run bench:head): evm-dex and lending together. */
const HEAD_CALLS = { eth_blockNumber: 2, eth_getLogs: 2, eth_getBlockByNumber: 1, eth_call: 1 };
/** A Multicall3 answer for the pools of a block. */
const HEAD_CALL_BYTES = 30_000;
/**
 * SQLite's bytes for an event of a day, by what is kept of the day: an event with its share of buckets, users and links; minutes,
 * events of LP tokens and what follows; hours, days and users (docs/retention.md, where 5 % of events come from a new user).
 */
const BYTES_AN_EVENT = { whole: 460, minutes: 55, hours: 9, days: 4 };
/** For how many days beside the open one: as services/evm-dex/metrics/kept.ts. */
const KEPT_DAYS = { minutes: 40, hours: 400 };
const DAYS_A_YEAR = 365;

/** Pure. Figures are upper bounds where the chain decides: every sampled header is read, every token is new. */
export function estimate(work: Work, options: { means: Means; model: ChainModel }): Estimate {
  const { model } = options;
  const historyBlocks = Math.min(work.head, Math.ceil((work.historyDays * 86_400) / model.blockSeconds));
  const start = work.head - historyBlocks;
  const scans = [
    work.poolsFrom === undefined ? 0 : Math.max(0, start - work.poolsFrom),
    // Lending is read at the head alone: its scan goes on up to it.
    work.lendingFrom === undefined ? 0 : Math.max(0, work.head - work.lendingFrom),
  ];
  const discovery = sum([...scans.map((blocks) => scanCost(blocks, options)), tokenCost(work, model)]);
  const dayBlocks = 86_400 / model.blockSeconds;
  const historyDays = historyBlocks / dayBlocks;
  const dayEvents = dayBlocks * model.eventsABlock;
  return {
    discovery,
    history: historyCost(historyBlocks, options),
    day: {
      calls: scale(HEAD_CALLS, dayBlocks),
      bytes:
        dayBlocks *
        (model.blockBytes + model.eventsABlock * model.logBytes + HEAD_CALL_BYTES + 2 * CALL_BYTES),
      events: dayEvents,
    },
    diskBytes: {
      history: dayEvents * bytesOfDays(historyDays, work.rawDays),
      afterAYear: dayEvents * bytesOfDays(historyDays + DAYS_A_YEAR, work.rawDays),
    },
  };
}

/** Bytes for an event a day, of days up to today: of the older ones less is kept. Whole days are removed, beside the open one. */
function bytesOfDays(days: number, rawDays: number): number {
  if (rawDays === Number.POSITIVE_INFINITY) return days * BYTES_AN_EVENT.whole;
  let [bytes, counted] = [0, 0];
  const count = (upTo: number, bytesAnEvent: number) => {
    const until = Math.max(counted, Math.min(days, upTo));
    bytes += (until - counted) * bytesAnEvent;
    counted = until;
  };
  count(rawDays + 1, BYTES_AN_EVENT.whole);
  count(KEPT_DAYS.minutes + 1, BYTES_AN_EVENT.minutes);
  count(KEPT_DAYS.hours + 1, BYTES_AN_EVENT.hours);
  count(days, BYTES_AN_EVENT.days);
  return bytes;
}

/** One pass over blocks for all factories at once. */
function scanCost(blocks: number, { means, model }: { means: Means; model: ChainModel }): Cost {
  if (means.hasPortal) return { calls: {}, bytes: blocks * 10, events: 0 };
  const range = Math.min(means.maxBlocks ?? MAX_RANGE, MAX_RANGE);
  const ranges = Math.ceil(blocks / range);
  const perRange = Math.min(VERIFY_BLOCKS, range * VERIFY_SHARE);
  const headers = Math.ceil(ranges * (model.bloomsTell ? perRange : Math.min(1, perRange)));
  const receipts = model.bloomsTell ? Math.ceil(headers * SUSPECTS) : 0;
  return {
    calls: { eth_getLogs: ranges, eth_getBlockByNumber: headers, eth_getBlockReceipts: receipts },
    bytes: ranges * CALL_BYTES + headers * HEADER_BYTES + receipts * 3 * model.blockBytes,
    events: 0,
  };
}

/** symbol() and decimals() of every token of a pool, through Multicall3. */
function tokenCost({ poolsFrom }: Work, { tokens }: ChainModel): Cost {
  const inner = poolsFrom === undefined ? 0 : 2 * tokens;
  return { calls: { eth_call: Math.ceil(inner / MULTICALL_CALLS) }, bytes: inner * CALL_BYTES, events: 0 };
}

function historyCost(blocks: number, { means, model }: { means: Means; model: ChainModel }): Cost {
  const events = blocks * model.eventsABlock;
  if (means.hasPortal) return { calls: {}, bytes: blocks * model.portalBytesABlock, events };
  const ranges = Math.ceil(Math.max(blocks / (means.maxBlocks ?? MAX_RANGE), events / LOGS_A_RESPONSE));
  return {
    // The head is asked with each range: a node that is behind it would leave logs out.
    calls: { eth_getLogs: ranges, eth_blockNumber: ranges, eth_getBlockByNumber: blocks },
    bytes: blocks * model.blockBytes + events * model.logBytes,
    events,
  };
}

/** Units that a provider counts; undefined for a provider that is not known. */
export function unitsOf(calls: Calls, provider: Pick<Provider, "weights" | "otherCalls">): number {
  return Object.entries(calls).reduce(
    (units, [method, count]) => units + count * (provider.weights[method] ?? provider.otherCalls),
    0,
  );
}

export function countCalls(calls: Calls): number {
  return Object.values(calls).reduce((sum, count) => sum + count, 0);
}

/** Events of history that an ingest indexes and merges in a second, on two cores with 20,000 pools: `npm run bench:history`. */
const EVENTS_A_SECOND = 8_800;
/** Four requests are in flight. */
const CONNECTIONS = 4;

/**
 * Hours for a cost, by whatever is slowest: bytes, events, or the plan's units a second. Undefined where nothing that
 * limits it is known.
 */
export function hoursOf(
  { calls, bytes, events }: Cost,
  limits: {
    means: Means;
    provider: Provider | undefined;
    plan: Plan | undefined;
    latencyMs: number | undefined;
  },
): number | undefined {
  const { means, provider, plan, latencyMs } = limits;
  const seconds = [events / EVENTS_A_SECOND];
  if (means.bytesASecond !== undefined) seconds.push(bytes / (CONNECTIONS * means.bytesASecond));
  if (provider !== undefined && plan?.unitsASecond !== undefined)
    seconds.push(unitsOf(calls, provider) / plan.unitsASecond);
  // Each eth_getLogs is a request of its own; the rest goes in batches.
  if (latencyMs !== undefined) seconds.push(((calls.eth_getLogs ?? 0) * latencyMs) / 1_000 / CONNECTIONS);
  return seconds.length === 1 ? undefined : Math.max(...seconds) / 3_600;
}

/** The plan that an endpoint seems to have: the one whose limit of blocks it shows. */
export function guessPlan(provider: Provider, maxBlocks: number | undefined): Plan | undefined {
  return provider.plans.find((plan) => plan.maxBlocks === maxBlocks) ?? provider.plans[0];
}

/** Costs together. */
export function sum(costs: readonly Cost[]): Cost {
  const calls: Record<string, number> = {};
  for (const cost of costs)
    for (const [method, count] of Object.entries(cost.calls)) calls[method] = (calls[method] ?? 0) + count;
  return {
    calls,
    bytes: costs.reduce((bytes, cost) => bytes + cost.bytes, 0),
    events: costs.reduce((events, cost) => events + cost.events, 0),
  };
}

function scale(calls: Calls, factor: number): Calls {
  return Object.fromEntries(Object.entries(calls).map(([method, count]) => [method, count * factor]));
}
