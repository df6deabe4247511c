import { join } from "node:path";
import { writeState } from "../../services/evm-dex/protocols/v3/state.ts";
import {
  COLLECTIONS,
  checkpoints,
  type PoolRow,
  type PoolStateRow,
  poolStates,
  pools,
  priceLinks,
} from "../../services/evm-dex/store/collections.ts";
import { toAnchorRows } from "../../services/evm-dex/store/price-links.ts";
import { SQLITE_FILE } from "../../services/evm-dex/store/sqlite-file.ts";
import { put, type Store } from "../../services/shared/storage/port.ts";
import { allRows, openDatabase, prepare } from "../../services/shared/storage/sqlite/driver.ts";
import { openSqliteStore } from "../../services/shared/storage/sqlite/store.ts";
import { blockHash, CHAIN_ID, type PoolMarket, spreadAddress, userOf } from "./pool-market.ts";

/** Shares of a row of each collection that comes with a stored event, as measured on Base-like histories. */
const USERS_AN_EVENT = 0.3;
const ROLLUPS_AN_EVENT = 0.25;
const EVENTS_A_BLOCK = 200;
/** Pools whose last event lies within five minutes of the head. */
const RECENT_POOLS = 3_000;
const HEAD = { number: 30_000_000, time: 1_790_000_040 };
const PAGE = 5_000;
/** A transaction stays in the log until it ends. */
const EVENTS_A_WRITE = 1_000_000;
/**
 * Of the events, what is stored before the index by pool is made. Its pages are full then, and the rest splits them: they are as
 * full as those of an index that grew row by row (0.89 of 2 million events of 30,000 pools). Into full pages each event would
 * split one.
 */
const EVENTS_BEFORE_INDEX = 5 / 6;

export interface History {
  readonly path: string;
  readonly head: { readonly number: number; readonly time: number };
}

/** Users that the history gives a pool: by Zipf, as its events. */
export function usersOf(pool: number, { events, active }: { events: number; active: number }): number {
  return Math.ceil((events * USERS_AN_EVENT) / Math.log(active + 1) / (pool + 1));
}

function rollupsOf(pool: number, { events, active }: { events: number; active: number }): number {
  return Math.ceil((events * ROLLUPS_AN_EVENT) / Math.log(active + 1) / (pool + 1));
}

/**
 * A store as an ingest leaves it: known pools, states of those with events, `events` rows of events with their users
 * and rollups, and a checkpoint. Written in bulk, in the order of the keys.
 */
export async function writeHistory(
  folder: string,
  { market, events, say }: { market: PoolMarket; events: number; say: (line: string) => void },
): Promise<History> {
  const path = join(folder, "evm-dex.sqlite");
  const store = await openSqliteStore({ path, ...SQLITE_FILE });
  await store.declare(COLLECTIONS);
  await writePools(store, market);
  await store.write([
    put(priceLinks, toAnchorRows(market.graph.anchors, { chainId: CHAIN_ID, blockNumber: 0, time: 0 })),
    put(checkpoints, [
      {
        chainId: CHAIN_ID,
        blockNumber: HEAD.number,
        blockHash: blockHash(HEAD.number),
        blockTime: HEAD.time,
        fromBlock: 1,
        fromTime: 1_600_000_000,
        chainHead: HEAD.number,
        genesisHash: blockHash(0),
      },
    ]),
  ]);
  await store.close();
  say(`${market.known} pools written`);
  await writeRows(path, { market, events });
  return { path, head: HEAD };
}

async function writePools(store: Store, market: PoolMarket): Promise<void> {
  // Read in the order of their creation; addresses are as spread as hashes.
  for (let from = 0; from < market.known; from += PAGE) {
    const rows: PoolRow[] = [];
    const states: PoolStateRow[] = [];
    for (let pool = from; pool < Math.min(market.known, from + PAGE); pool++) {
      rows.push(market.row(pool));
      if (pool < market.active) states.push(stateRow(market, pool));
    }
    await store.write([put(pools, rows), put(poolStates, states)]);
  }
}

/** Of its last event. */
function lastTimeOf(pool: number): number {
  return HEAD.time - (pool < RECENT_POOLS ? (pool * 37) % 300 : 400 + pool * 20);
}

function stateRow(market: PoolMarket, pool: number): PoolStateRow {
  const state = market.state(pool);
  const lastTime = lastTimeOf(pool);
  const lastBlock = HEAD.number - Math.floor((HEAD.time - lastTime) / 2);
  return {
    chainId: CHAIN_ID,
    poolAddress: spreadAddress(pool, 0),
    state: writeState(state),
    lastBlock,
    lastTime,
    balance0: state.reserve0,
    balance1: state.reserve1,
    balanceBlock: lastBlock,
    anchor: writeState({ ...state, liquidity: 0n, reserve0: 0n, reserve1: 0n }),
  };
}

const minuteOf = (time: number) => time - (time % 60);

/** Rows that the ingest only looks up by key, or not at all: what they hold is of no matter, how many there are is. */
async function writeRows(
  path: string,
  { market, events }: { market: PoolMarket; events: number },
): Promise<void> {
  const db = await openDatabase(path);
  db.exec("PRAGMA synchronous = OFF");
  db.exec("PRAGMA cache_size = -262144");
  const { active } = market;
  const share = { events, active };
  db.exec("CREATE TEMP TABLE market (n INTEGER PRIMARY KEY, address BLOB, state TEXT)");
  const insert = db.prepare("INSERT INTO market VALUES (?, unhex(substr(?, 3)), ?)");
  db.exec("BEGIN");
  for (let pool = 0; pool < active; pool++)
    insert.run(pool, spreadAddress(pool, 0), writeState(market.state(pool)));
  db.exec("COMMIT");
  const byAddress = Array.from({ length: active }, (_, pool) => ({
    pool,
    address: spreadAddress(pool, 0),
  })).sort((a, b) => (a.address < b.address ? -1 : 1));
  const user = db.prepare(
    "INSERT OR IGNORE INTO pool_users VALUES (?, unhex(substr(?, 3)), unhex(substr(?, 3)), ?)",
  );
  db.exec("BEGIN");
  for (const { pool, address } of byAddress)
    for (let n = usersOf(pool, share) - 1; n >= 0; n--)
      user.run(
        CHAIN_ID,
        address,
        userOf(pool, n),
        minuteOf(lastTimeOf(pool)) - 60 * (1 + ((n * 7_207 + pool) % 300_000)),
      );
  db.exec("COMMIT");
  const rollup =
    db.prepare(`INSERT INTO rollups (chainId, poolAddress, span, start, swapCount, volumeUsd, feesUsd,
    unpricedCount, unpricedFeeCount, tickTravel, closePrice, lastSeenUsers)
    VALUES (?, unhex(substr(?, 3)), 60, ?, 3, 1234.5, 3.75, 0, 0, 9, 1.5, 1)`);
  db.exec("BEGIN");
  for (const { pool, address } of byAddress)
    for (let n = rollupsOf(pool, share); n > 0; n--)
      rollup.run(CHAIN_ID, address, minuteOf(lastTimeOf(pool)) - 60 * n);
  db.exec("COMMIT");
  const [index] = allRows(
    prepare(
      db,
      "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'pool_events' AND type = 'index' AND sql IS NOT NULL",
    ),
    [],
  ) as [string, string][];
  if (index === undefined) throw new Error("pool_events has no index.");
  db.exec(`DROP INDEX ${index[0]}`);
  const write = (first: number, end: number, order: string) => {
    for (let from = first; from < end; from += EVENTS_A_WRITE)
      db.exec(`INSERT INTO pool_events
    WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.min(end, from + EVENTS_A_WRITE) - 1}),
    e AS (SELECT i, ${HEAD.number} - (${events} - 1 - i) / ${EVENTS_A_BLOCK} AS block,
      CASE WHEN i % 8 < 5 THEN (i * 7919) % ${Math.min(active, 1_000)} ELSE (i * 104729) % ${active} END AS p FROM n)
    SELECT ${CHAIN_ID}, block, i % ${EVENTS_A_BLOCK}, address, 'swap', unhex(printf('%064x', block)),
      ${HEAD.time} - 2 * (${HEAD.number} - block), unhex(printf('%064x', i)), unhex(printf('%040x', i % 900000)),
      'de0b6b3a7640000 -de0b6b3a7640000', state, 1.0, 1.0, 12.5, 0.5, 3, NULL, NULL
    FROM e JOIN market ON n = p ${order}`);
  };
  const split = Math.floor(events * EVENTS_BEFORE_INDEX);
  write(0, split, "");
  db.exec(index[1]);
  write(split, events, "ORDER BY address");
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}
