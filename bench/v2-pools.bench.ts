/**
 * npm run bench:v2-pools — a full page of the v2 pool list with its week of metrics, beside JSON.stringify of the same
 * rows in the same run: at once for a head that was answered before, and for heads that were not.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dexaPools } from "../services/evm-dex/contract.ts";
import { dexaPoolsHandler } from "../services/evm-dex/endpoints/evm/dexa/v2/pools.handler.ts";
import { COLLECTIONS } from "../services/evm-dex/store/collections.ts";
import { SQLITE_FILE } from "../services/evm-dex/store/sqlite-file.ts";
import { depsOf } from "../services/evm-dex/test/kit/answers.ts";
import { renderTable } from "../services/shared/contract/render-table.ts";
import { openSqliteStore } from "../services/shared/storage/sqlite/store.ts";
import { recordFigures } from "../services/shared/testkit/bench-record.ts";
import { testContext } from "../services/shared/testkit/handler-context.ts";
import { median } from "./stats.ts";
import { CHAIN, moveHead, writeV2Pools } from "./synthetic/v2.ts";

const POOLS = Number(process.env.BENCH_POOLS ?? 20_000);
/** Share of the pools that traded in every hour of the week. */
const ACTIVE = Number(process.env.BENCH_ACTIVE ?? 0.05);
const LIMIT = 10_000;
const ROUNDS = 15;

const dir = await mkdtemp(join(tmpdir(), "chaintables-v2-pools-"));
try {
  const store = await openSqliteStore({ path: join(dir, "evm-dex.sqlite"), ...SQLITE_FILE });
  await store.declare(COLLECTIONS);
  await writeV2Pools(store, { pools: POOLS, active: ACTIVE });
  await moveHead(store, { block: 0, touched: 100, pools: POOLS });
  const handler = dexaPoolsHandler(depsOf(store, [CHAIN]));
  const readPage = async (offset: number) => {
    const startedMs = performance.now();
    const { rows } = await handler({ chain_id: 8453, limit: LIMIT, offset }, testContext());
    const body = renderTable(dexaPools, rows);
    return { ms: performance.now() - startedMs, rows, size: body.length };
  };
  const first = await readPage(0);
  console.log(`first ${first.ms.toFixed(0)} ms for ${first.rows.length} rows, ${first.size} bytes`);
  const again: number[] = [];
  const moved: number[] = [];
  const plain: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    again.push((await readPage(0)).ms);
    await moveHead(store, { block: i + 1, touched: 100, pools: POOLS });
    const { ms, rows } = await readPage(i % 2 === 0 ? 0 : POOLS - LIMIT);
    moved.push(ms);
    const cells = rows.map((row) => (typeof row === "string" ? JSON.parse(row) : row));
    const startedMs = performance.now();
    JSON.stringify(cells);
    plain.push(performance.now() - startedMs);
  }
  for (const [name, times] of Object.entries({
    "same head": again,
    "next head": moved,
    "JSON.stringify": plain,
  })) {
    console.log(`${name.padEnd(16)} median ${median(times).toFixed(1).padStart(7)} ms`);
  }
  recordFigures("v2-pools", [
    { name: `${LIMIT} of ${POOLS} pools, first page of a process`, value: first.ms, unit: "ms" },
    { name: "the same at a new head, median", value: median(moved), unit: "ms" },
    { name: "the same at a known head, median", value: median(again), unit: "ms" },
    { name: "JSON.stringify of the same rows, median", value: median(plain), unit: "ms" },
  ]);
  await store.close();
} finally {
  await rm(dir, { recursive: true, force: true });
}
