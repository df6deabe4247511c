/**
 * npm run bench:lists — the pool lists over as many pools as a large chain has (BENCH_POOLS=500000): how fast they are
 * written, what they take, and what a page costs in every order, at every depth, of all pools or of a token's.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dexbPools } from "../services/evm-dex/contract.ts";
import { createPoolLists, type PoolListRequest } from "../services/evm-dex/serve/pool-list/pool-list.ts";
import {
  COLLECTIONS,
  checkpoints,
  type PoolRow,
  poolListings,
  pools,
} from "../services/evm-dex/store/collections.ts";
import { SQLITE_FILE } from "../services/evm-dex/store/sqlite-file.ts";
import { toListings } from "../services/evm-dex/views/pool-listing.ts";
import type { Cell } from "../services/shared/contract/column.ts";
import type { OrderTerm } from "../services/shared/contract/order.ts";
import { renderTable } from "../services/shared/contract/render-table.ts";
import { put, type Store } from "../services/shared/storage/port.ts";
import { openSqliteStore } from "../services/shared/storage/sqlite/store.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { syntheticPools, USDC, WETH } from "./synthetic/pools.ts";

const POOLS = Number(process.env.BENCH_POOLS ?? 50_000);
const DEEP = Math.floor(POOLS * 0.8);
/** As many as discovery writes at once. */
const BATCH = 20_000;
const ROUNDS = 9;
const MAX_COST = 3;

type List = (request: PoolListRequest) => Promise<unknown>;
type Order = PoolListRequest["order"];

const failures: string[] = [];
const figures: Figure[] = [];
await measureLists();
recordFigures("lists", figures);
if (failures.length > 0) {
  console.error(`bench:lists: not reached: ${failures.join("; ")}`);
  process.exitCode = 1;
}

async function measureLists(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "chaintables-lists-"));
  try {
    const path = join(directory, "lists.sqlite");
    // As the service opens it.
    const store = await openSqliteStore({ path, ...SQLITE_FILE, mappedBytes: 2 ** 30 });
    await store.declare(COLLECTIONS);
    await write(store, path);
    const list: List = bodyOf(store);
    await compareWithJson(store, list);
    await timeOrders(list);
    await timeTokens(list);
    await store.close();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What a request costs the service: from its parameters to the text of the body. */
function bodyOf(target: Store): List {
  const readPoolList = createPoolLists(target);
  return async (query) => renderTable(dexbPools, (await readPoolList(query)).rows);
}

function request(changes: Partial<PoolListRequest> = {}): PoolListRequest {
  return { chainId: 8453, family: "dexb", token: undefined, order: [], limit: 100, offset: 0, ...changes };
}

/** "-fee token0Symbol": by fee descending, then by symbol. */
function orderBy(text: string): Order {
  return text.split(" ").map((name) => ({
    field: name.replace("-", ""),
    direction: name.startsWith("-") ? "desc" : "asc",
  })) as OrderTerm[] as Order;
}

async function write(target: Store, path: string): Promise<void> {
  const timeOf = async (steps: (batch: PoolRow[]) => Parameters<Store["write"]>[0]): Promise<number> => {
    let spent = 0;
    let batch: PoolRow[] = [];
    const flush = async (): Promise<void> => {
      const started = performance.now();
      await target.write(steps(batch));
      spent += performance.now() - started;
      batch = [];
    };
    for (const pool of syntheticPools(POOLS)) if (batch.push(pool) === BATCH) await flush();
    await flush();
    return spent / 1_000;
  };
  const alone = await timeOf((batch) => [put(pools, batch)]);
  const before = (await stat(path)).size;
  const both = alone + (await timeOf((batch) => [put(poolListings, toListings(batch))]));
  const bytes = (await stat(path)).size - before;
  const head = { blockHash: "0x1", blockTime: 0, fromBlock: 0, fromTime: 0, chainHead: 0, genesisHash: "0x" };
  await target.write([put(checkpoints, [{ chainId: 8453, blockNumber: 100_000_000, ...head }])]);
  console.log(`${POOLS} pools, ${(bytes / POOLS).toFixed(0)} bytes of lists a pool`);
  figures.push({ name: "pools written with their lists", value: POOLS / both, unit: "pools/s" });
  console.log(`written ${perSecond(both)} pools/s with their lists, ${perSecond(alone)} pools/s without\n`);
}

async function compareWithJson(target: Store, list: List): Promise<void> {
  const { rows } = await createPoolLists(target)(request({ limit: 10_000 }));
  const cells = rows.map((row) => JSON.parse(row) as Cell[]);
  console.log(
    `a page of ${rows.length} rows, beside JSON.stringify of its cells (at most ${MAX_COST} times newest first):`,
  );
  for (const order of ["", "poolAddress", "-token0Symbol", "fee", "token1Address"]) {
    const query = request({ limit: 10_000, ...(order !== "" && { order: orderBy(order) }) });
    const [page, json, deep] = await medians([
      () => list(query),
      async () => JSON.stringify(cells),
      () => list({ ...query, offset: DEEP }),
    ]);
    const cost = page / json;
    const name = order || "newest first";
    console.log(
      `  ${name.padEnd(16)} ${ms(page)} beside ${ms(json)}: ${cost.toFixed(2)} times; at offset ${DEEP} ${ms(deep)}: ${(deep / page).toFixed(2)} of offset 0`,
    );
    figures.push(
      {
        name: `10,000 of ${POOLS} pools by ${name}, CPU beside JSON.stringify of the same rows`,
        value: cost,
        unit: "times",
        ...(order === "" && { goal: { atMost: MAX_COST } }),
      },
      {
        name: `the same at offset ${DEEP} beside offset 0`,
        value: deep / page,
        unit: "times",
        goal: { atMost: MAX_COST },
      },
    );
    if (order === "" && cost > MAX_COST) failures.push(`10,000 rows by ${name}`);
    if (deep / page > MAX_COST) failures.push(`offset ${DEEP} by ${name}`);
  }
}

async function timeOrders(list: List): Promise<void> {
  console.log(`\na page of 100 at offset 0, at offset ${DEEP} the first time (of the clock) and after that:`);
  const columns = dexbPools.columns.map((column) => column.name).filter((name) => name !== "chainId");
  const several = [
    "fee token0Symbol",
    "-fee token0Symbol",
    "token0Symbol fee",
    "dexName -createdAt",
    "-createdAt token0Symbol",
  ];
  for (const order of [
    ...columns.flatMap((name) => [name, `-${name}`]),
    ...several,
    "token1Decimals fee token0Symbol",
  ]) {
    await timePage(list, order, request({ order: orderBy(order) }));
  }
}

async function timeTokens(list: List): Promise<void> {
  const counts = new Map<string, number>();
  for (const pool of syntheticPools(POOLS)) {
    for (const token of [pool.token0Address, pool.token1Address])
      counts.set(token, (counts.get(token) ?? 0) + 1);
  }
  console.log("\nthe same of one token's pools, deep being four fifths of them:");
  const other = [...counts].sort(([, a], [, b]) => b - a).map(([token]) => token);
  for (const token of [WETH, USDC, other[2], other[200], other[20_000]]) {
    const count = counts.get(token ?? "") ?? 0;
    for (const order of ["", "token0Symbol", "fee -createdAt"]) {
      const query = request({ token, ...(order !== "" && { order: orderBy(order) }) });
      await timePage(list, `of ${count}: ${order || "newest first"}`, query, Math.floor(count * 0.8));
    }
  }
}

async function timePage(list: List, title: string, query: PoolListRequest, at = DEEP): Promise<void> {
  const started = performance.now();
  await list({ ...query, offset: at });
  const first = performance.now() - started;
  const [page, deep] = await medians([() => list(query), () => list({ ...query, offset: at })]);
  console.log(`  ${title.padEnd(34)} ${ms(page)} ${ms(first)} ${ms(deep)}`);
}

/** Turn about, so that a slow moment of the machine meets all. Of processor time: others' work is not counted. */
async function medians<const W extends readonly (() => Promise<unknown>)[]>(
  works: W,
): Promise<{ [I in keyof W]: number }> {
  const times = works.map(() => [] as number[]);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, work] of works.entries()) {
      const before = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(before);
      times[i]?.push((user + system) / 1_000);
    }
  }
  return times.map((each) => each.sort((a, b) => a - b)[ROUNDS >> 1]) as { [I in keyof W]: number };
}

function ms(time: number): string {
  return `${time.toFixed(2).padStart(8)} ms`;
}

function perSecond(seconds: number): string {
  return Math.round(POOLS / seconds).toLocaleString("en");
}
