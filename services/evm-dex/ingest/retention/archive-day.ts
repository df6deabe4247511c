import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ColumnType, ParquetColumn } from "../../../shared/archive/parquet-file.ts";
import type { FieldType, RowOf } from "../../../shared/storage/collection.ts";
import type { Filter, OrderBy, Store } from "../../../shared/storage/port.ts";
import { DAY } from "../../metrics/bucket.ts";
import { readIntegers } from "../../protocols/integers.ts";
import { poolEvents } from "../../store/collections.ts";
import type { RawCollection } from "./raw-collections.ts";
import type { ArchivedDay } from "./retention.ts";

/** Rows of one row group: reading and writing them are a step each (`npm run bench:retention`). */
const ROWS_A_GROUP = 1_000;

type Row = Record<string, unknown>;

/** A column of a file, and its value in a row. */
interface ArchiveColumn extends ParquetColumn {
  readonly read: (row: Row) => unknown;
}

/**
 * Keeps the rows of a day as `<folder>/<chain id>/<collection>/<day>.parquet`; one that the index began within as
 * `<day>.partial.parquet`. A file that exists is whole and stays, a day without rows has none. Yields before every row group, and its rows after it.
 */
export async function* archiveDay(
  store: Store,
  { chainId, folder }: { chainId: number; folder: string },
  { blocks, isPartial, raw }: ArchivedDay,
): AsyncGenerator<number, void, undefined> {
  const day = new Date((blocks.toTime - DAY) * 1000).toISOString().slice(0, 10);
  const name = `${day}${isPartial ? ".partial" : ""}.parquet`;
  const path = join(folder, String(chainId), raw.collection.name, name);
  if (existsSync(path)) return;
  const columns = columnsOf(raw);
  const { ParquetFile } = await import("../../../shared/archive/parquet-file.ts");
  const about = {
    chainId: String(chainId),
    fromBlock: String(blocks.fromBlock),
    toBlock: String(blocks.toBlock),
  };
  let file: InstanceType<typeof ParquetFile> | undefined;
  try {
    for await (const rows of pagesForwards(store, { chainId, raw, blocks })) {
      yield 0;
      file ??= new ParquetFile(path, { columns, about });
      await file.add(columns.map(({ read }) => rows.map(read)));
      yield rows.length;
    }
    await file?.finish();
  } finally {
    file?.close();
  }
}

/** The columns of a collection's file: exact, addresses and hashes as text, integers of any size as decimal text. */
export function columnsOf({ collection, times }: RawCollection): ArchiveColumn[] {
  return Object.entries(collection.fields).flatMap(([name, spec]) => {
    if (collection === poolEvents && name === "amounts")
      return ["amount0", "amount1"].map((amount, i) => ({
        ...{ name: amount, type: "text" as const, nullable: false },
        read: (row: Row) => String(readIntegers(row.amounts as string)[i] ?? 0n),
      }));
    const nullable = spec.endsWith("?");
    const type = times.includes(name) ? "time" : TYPES[spec.replace("?", "") as FieldType];
    const read =
      spec === "bigint" || spec === "bigint?"
        ? (row: Row) => (row[name] === null ? null : String(row[name]))
        : (row: Row) => row[name];
    return [{ name, type, nullable, read }];
  });
}

const TYPES: Readonly<Record<FieldType, ColumnType>> = {
  ...{ text: "text", hex: "text", int: "int", float: "float", bool: "bool" },
  ...{ bigint: "text", json: "text" },
};

/** All rows of some blocks, the first block first. */
async function* pagesForwards(
  store: Store,
  at: { chainId: number } & Pick<ArchivedDay, "raw" | "blocks">,
): AsyncGenerator<Row[]> {
  const { chainId } = at;
  const { collection, within } = at.raw;
  const { fromBlock, toBlock } = at.blocks;
  const order = collection.key
    .filter((field) => field !== "chainId")
    .sort((a, b) => Number(b === "blockNumber") - Number(a === "blockNumber"))
    .map((field) => ({ field, direction: "asc" as const })) as OrderBy<RowOf<typeof collection>>[];
  const read = (filter: Row, limit: number): Promise<Row[]> =>
    store.find(collection, {
      filter: { chainId, ...filter } as Filter<RowOf<typeof collection>>,
      ...{ order, limit },
    });
  let last: Row | undefined;
  for (;;) {
    const seen: Row[] =
      last === undefined
        ? []
        : await read({ blockNumber: last.blockNumber, [within]: last[within] }, ROWS_A_GROUP);
    const after = last;
    const rest: Row[] =
      after === undefined
        ? []
        : [
            ...seen.slice(
              seen.findIndex((row) => collection.key.every((key) => row[key] === after[key])) + 1,
            ),
            ...(await read(
              { blockNumber: after.blockNumber, [within]: { gt: after[within] } },
              ROWS_A_GROUP,
            )),
          ];
    const from = after === undefined ? { gte: fromBlock } : { gt: after.blockNumber as number };
    const more =
      rest.length < ROWS_A_GROUP
        ? await read({ blockNumber: { ...from, lt: toBlock } }, ROWS_A_GROUP - rest.length)
        : [];
    const page = [...rest, ...more];
    if (page.length > 0) yield page;
    if (page.length < ROWS_A_GROUP) return;
    last = page.at(-1);
  }
}
