import { EMPTY_POSITION, type LpPosition, positionText } from "../metrics/lp-position.ts";
import { readV2State } from "../protocols/aerodrome-v2/state.ts";
import { poolEvents } from "../store/collections.ts";
import { getPool, getPoolStates, OLDEST_FIRST } from "../store/queries.ts";
import { type LpEventRow, type LpPositionRow, lpEvents, lpPositions } from "../store/v2-collections.ts";
import { compareRows } from "./compare-rows.ts";
import { compareValues, type Finding, requireThat } from "./finding.ts";
import { type ChainScope, sampleRows } from "./scope.ts";

const SCALE = 10n ** 18n;

/**
 * What a position has earned once its indexes are those of `after`: balance × (index − index before) / 1e18, rounded
 * down. Source: Aerodrome Pool._updateFor.
 */
export function earnedSince(
  before: LpPosition,
  after: Pick<LpPosition, "index0" | "index1">,
): [bigint, bigint] {
  return [
    before.earned0 + (before.balance * (after.index0 - before.index0)) / SCALE,
    before.earned1 + (before.balance * (after.index1 - before.index1)) / SCALE,
  ];
}

/** A position against its events, oldest first, and each event against the one before it. */
function comparePosition(
  position: LpPositionRow,
  events: readonly LpEventRow[],
  {
    isWhole,
    start,
  }: {
    /** Position before the first event where the pool's events tell; undefined where its balances are the chain's. */
    start: LpPosition | undefined;
    /** Whether its first event is still stored: else the first one that is counts as it is. */
    isWhole: boolean;
  },
): Finding[] {
  const { chainId, poolAddress, wallet } = position;
  const [first, last] = [events[0], events.at(-1)];
  const place = { pool: poolAddress, at: `wallet ${wallet}` };
  if (first === undefined || last === undefined)
    return [
      requireThat(place, { field: "lp_positions (row)", holds: false, stored: "a row", rule: "no row" }),
    ];
  const expected = {
    chainId,
    wallet,
    poolAddress,
    position: last.position,
    ...(isWhole && { firstTime: first.time }),
    lastTime: last.time,
    lastBlock: last.blockNumber,
    ...(isWhole && start !== undefined && { anchor: positionText.write(start) }),
  };
  let before = positionText.read(isWhole ? position.anchor : first.position);
  const earned = (isWhole ? events : events.slice(1)).map((row) => {
    const after = positionText.read(row.position);
    const [earned0, earned1] = earnedSince(before, after);
    before = after;
    const at = `wallet ${wallet}, block ${row.blockNumber}, log ${row.logIndex}`;
    const text = positionText.write({ ...after, earned0, earned1 });
    return compareValues(
      { pool: poolAddress, at },
      { field: "lp_events.position", stored: row.position, expected: text },
    );
  });
  return [
    ...compareRows({ collection: lpPositions, pool: poolAddress, stored: [position], expected: [expected] }),
    ...earned,
  ];
}

/** A sample of LP positions and events against each other, the pools' events, and with a node balanceOf. */
export async function checkPositions(scope: ChainScope): Promise<Finding[]> {
  const { chainId } = scope;
  const { events, lpEvents: lp } = scope.kept;
  const findings: Finding[] = [];
  for (const row of await sampleRows(scope, lpPositions, { filter: { chainId }, by: "wallet" })) {
    findings.push(...(await checkPosition(scope, row)));
  }
  for (const row of await sampleRows(scope, lpEvents, {
    filter: { chainId, blockNumber: { gte: Math.max(events.block, lp.block) } },
    by: "blockNumber",
  })) {
    findings.push(...(await checkEvent(scope, row)));
  }
  return findings;
}

async function checkPosition(scope: ChainScope, row: LpPositionRow): Promise<Finding[]> {
  const { chainId, checkpoint, rpc, store } = scope;
  const { poolAddress, wallet } = row;
  const events = await store.find(lpEvents, {
    filter: { chainId, wallet, poolAddress },
    order: OLDEST_FIRST,
  });
  const pool = await getPool(store, { chainId, poolAddress });
  const [state] = await getPoolStates(store, { chainId, addresses: [poolAddress] });
  const place = { pool: poolAddress, at: `wallet ${wallet}` };
  if (pool === undefined || state === undefined)
    return [
      requireThat(place, {
        field: "lp_positions.poolAddress",
        holds: false,
        stored: poolAddress,
        rule: "a known pool",
      }),
    ];
  const isOlder = pool.createdBlock < checkpoint.fromBlock;
  const { index0, index1 } = readV2State(state.anchor);
  const { balance, staked } = positionText.read(row.anchor);
  const start = isOlder ? { ...EMPTY_POSITION, index0, index1, balance, staked } : EMPTY_POSITION;
  const isWhole = row.firstTime >= scope.kept.lpEvents.time;
  const findings = comparePosition(row, events, { start, isWhole });
  const [first] = events;
  if (rpc === undefined || first === undefined) return findings;
  const held = await holdingsAt(scope, row, row.lastBlock);
  const now = positionText.read(row.position);
  const before = isOlder ? await holdingsAt(scope, row, first.blockNumber - 1) : [0n, 0n];
  const compare = (field: string, stored: bigint, expected: bigint | null | undefined) =>
    compareValues(place, { field: `lp_positions.${field}`, stored, expected });
  return [
    ...findings,
    compare("position", now.balance, held[0]),
    compare("position", now.staked, held[1]),
    ...(isWhole ? [compare("anchor", balance, before[0]), compare("anchor", staked, before[1])] : []),
  ];
}

/** LP tokens in a wallet and in its pool's gauge at a block; null where the node does not have them. */
async function holdingsAt(
  { chainId, kept, rpc, store }: ChainScope,
  { poolAddress, wallet }: LpPositionRow,
  block: number,
): Promise<(bigint | null)[]> {
  const [last] = await store.find(poolEvents, {
    // A gauge stays: where the events up to then are gone, the one that is known first.
    filter: { chainId, poolAddress, blockNumber: { lte: Math.max(block, kept.events.block - 1) } },
    order: [
      { field: "time", direction: "desc" },
      { field: "blockNumber", direction: "desc" },
      { field: "logIndex", direction: "desc" },
    ],
    limit: 1,
  });
  const [state] = await getPoolStates(store, { chainId, addresses: [poolAddress] });
  const { gauge } = readV2State(last?.state ?? state?.anchor ?? "");
  const contracts = [poolAddress, ...(gauge === undefined ? [] : [gauge])];
  const [balance = null, staked = null] = (await rpc?.balances(wallet, { contracts, block })) ?? [];
  return [balance, gauge === undefined ? 0n : staked];
}

async function checkEvent({ chainId, store }: ChainScope, row: LpEventRow): Promise<Finding[]> {
  const { blockNumber, logIndex, poolAddress, wallet } = row;
  const place = { pool: poolAddress, at: `wallet ${wallet}, block ${blockNumber}, log ${logIndex}` };
  const [event] = await store.find(poolEvents, { filter: { chainId, blockNumber, poolAddress }, limit: 1 });
  const position = await store.get(lpPositions, { chainId, wallet, poolAddress });
  const none = "no event of the pool in this block";
  return [
    compareValues(place, { field: "lp_events.time", stored: row.time, expected: event?.time ?? none }),
    compareValues(place, {
      field: "lp_events.blockHash",
      stored: row.blockHash,
      expected: event?.blockHash ?? none,
    }),
    requireThat(place, {
      field: "lp_positions (row)",
      holds: position !== undefined,
      stored: position === undefined ? "no row" : "a row",
      rule: "a row",
    }),
  ];
}
