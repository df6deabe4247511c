/**
 * npm run bench:formats — 10,000 rows of the v2 pool list in each format: bytes, bytes after brotli as the gateway sends
 * them, and CPU beside that of the specified JSON in the same run.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { dexaPools } from "../services/evm-dex/contract.ts";
import { dexaPoolsHandler } from "../services/evm-dex/endpoints/evm/dexa/v2/pools.handler.ts";
import { COLLECTIONS } from "../services/evm-dex/store/collections.ts";
import { SQLITE_FILE } from "../services/evm-dex/store/sqlite-file.ts";
import { depsOf } from "../services/evm-dex/test/kit/answers.ts";
import type { Cell } from "../services/shared/contract/column.ts";
import { FORMATS, type Format } from "../services/shared/contract/format.ts";
import { renderTable } from "../services/shared/contract/render-table.ts";
import { cellsOf } from "../services/shared/format/rows.ts";
import { writeTable } from "../services/shared/format/write-table.ts";
import { openSqliteStore } from "../services/shared/storage/sqlite/store.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { testContext } from "../services/shared/testkit/handler-context.ts";
import { median } from "./stats.ts";
import { CHAIN, moveHead, writeV2Pools } from "./synthetic/v2.ts";

const ROWS = 10_000;
const ROUNDS = 9;
/** The gateway's (gateway/request/encoding.ts). */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const compress = (bytes: Buffer) => brotliCompressSync(bytes, BROTLI);

const dir = await mkdtemp(join(tmpdir(), "chaintables-formats-"));
try {
  const store = await openSqliteStore({ path: join(dir, "evm-dex.sqlite"), ...SQLITE_FILE });
  await store.declare(COLLECTIONS);
  await writeV2Pools(store, { pools: ROWS, active: 0.3 });
  await moveHead(store, { block: 0, touched: 100, pools: ROWS });
  const handler = dexaPoolsHandler(depsOf(store, [CHAIN]));
  const answer = await handler({ chain_id: 8453, limit: ROWS, offset: 0 }, testContext());
  // Cells, as most handlers return them; these lists hold rendered rows, which JSON takes as they are.
  const rows: (readonly Cell[])[] = answer.rows.map(cellsOf);
  const write = async (format: Format): Promise<Buffer> => {
    if (format === "json") return Buffer.from(renderTable(dexaPools, rows));
    const pieces: Buffer[] = [];
    for await (const piece of writeTable(format, { endpoint: dexaPools, rows }))
      pieces.push(Buffer.from(piece as string));
    return Buffer.concat(pieces);
  };
  const cpuMs = async (format: Format): Promise<number> => {
    globalThis.gc?.();
    const before = process.cpuUsage();
    await write(format);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const times = new Map<Format, number[]>(FORMATS.map((format) => [format, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const format of FORMATS) {
      const ms = await cpuMs(format);
      // The first round loads and compiles.
      if (round > 0) times.get(format)?.push(ms);
    }
  }
  const figures: Figure[] = [];
  const jsonMs = median(times.get("json") ?? []);
  for (const format of FORMATS) {
    const bytes = await write(format);
    const sent = format === "parquet" ? bytes : compress(bytes);
    const ms = median(times.get(format) ?? []);
    console.log(
      `${format.padEnd(8)} ${(bytes.length / 1e6).toFixed(2)} MB, sent ${(sent.length / 1e6).toFixed(2)} MB, CPU ${ms.toFixed(1)} ms (${(ms / jsonMs).toFixed(1)} times JSON)`,
    );
    figures.push(
      {
        name: `${format}, ${ROWS} rows of ${dexaPools.columns.length} columns`,
        value: bytes.length / 1e6,
        unit: "MB",
      },
      { name: "  as sent (brotli; Parquet as it is)", value: sent.length / 1e6, unit: "MB" },
      { name: "  CPU", value: ms, unit: "ms" },
      { name: "  CPU beside JSON", value: ms / jsonMs, unit: "times" },
    );
  }
  recordFigures("formats", figures);
  await store.close();
} finally {
  await rm(dir, { recursive: true, force: true });
}
