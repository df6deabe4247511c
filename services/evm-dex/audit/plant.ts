import type { Collection, RowOf } from "../../shared/storage/collection.ts";
import { put, remove, type Store } from "../../shared/storage/port.ts";
import { COLLECTIONS, poolStates, pools } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { type AuditOptions, audit } from "./audit.ts";
import { COVERAGE, DELETED } from "./coverage.ts";
import { createPick, sample } from "./sample.ts";
import { EVERYTHING } from "./scope.ts";
import { wrongValue } from "./wrong-value.ts";

type Row = Readonly<Record<string, unknown>>;

/** What became of the wrong values of one column; none where the collection has no row. */
export interface Planting {
  /** Collection and column. */
  readonly column: string;
  readonly planted: number;
  /** Keys of the rows whose wrong value was not reported. */
  readonly missed: readonly string[];
}

export interface PlantOptions extends Omit<AuditOptions, "pools" | "sampling" | "checks"> {
  /** Wrong values of each column, each in another row, one at a time. */
  readonly rowsAColumn: number;
}

/** Pools of a token that are audited for a wrong value of it. */
const POOLS_A_TOKEN = 10;
const COPIED_ROWS = 500_000;
const ROWS_A_WRITE = 5_000;

/** Copies the rows of a chain into an empty store. Throws where they are too many for memory. */
export async function copyChain(from: Store, to: Store, chainId: number): Promise<void> {
  await to.declare(COLLECTIONS);
  let copied = 0;
  for (const collection of COLLECTIONS) {
    copied += await from.count(collection, { chainId });
    if (copied > COPIED_ROWS)
      throw new Error(
        `The audit copies the rows of the chain into memory, at most ${COPIED_ROWS}: index fewer blocks into another DATA_DIR.`,
      );
    const rows = await from.find(collection, { filter: { chainId } });
    for (let at = 0; at < rows.length; at += ROWS_A_WRITE)
      await to.write([put<Collection>(collection, rows.slice(at, at + ROWS_A_WRITE))]);
  }
}

/**
 * Changes one value at a time in `store`, a copy, or deletes a row, and requires that the checks which cover its column
 * report it; then changes it back. A check that throws has reported it too.
 */
export async function* plant(options: PlantOptions): AsyncGenerator<Planting> {
  const { chainId, rowsAColumn, seed, store } = options;
  const checkpoint = await getCheckpoint(store, chainId);
  if (checkpoint === undefined) throw new Error(`Nothing of chain ${chainId} is indexed in this store.`);
  const pick = createPick(seed);
  for (const collection of COLLECTIONS as readonly Collection[]) {
    const rows: Row[] = await store.find(collection, { filter: { chainId } });
    const checks = COVERAGE[collection.name] ?? {};
    for (const column of [...Object.keys(collection.fields), DELETED]) {
      if (checks[column] === undefined) continue;
      const missed: string[] = [];
      const chosen = sample(rows, { size: rowsAColumn, pick });
      for (const row of chosen) {
        const wrong =
          column === DELETED
            ? undefined
            : { ...row, [column]: wrongValue({ collection, column, row, checkpoint, pick }) };
        if (!(await isReported(options, { collection, column, row, wrong })))
          missed.push(collection.key.map((name) => String(row[name])).join(" "));
      }
      yield { column: `${collection.name}.${column}`, planted: chosen.length, missed };
    }
  }
}

async function isReported(
  options: PlantOptions,
  /** `wrong` replaces `row`; undefined where that is deleted. */
  planted: { collection: Collection; column: string; row: Row; wrong: Row | undefined },
): Promise<boolean> {
  const { store } = options;
  const { collection, column, row, wrong } = planted;
  const pools = await poolsOf(options, row, wrong);
  const checks = new Set(COVERAGE[collection.name]?.[column]);
  const replaced = wrong && (await store.get(collection, keyOf(collection, wrong)));
  await store.write([
    remove(collection, [keyOf(collection, row)]),
    put<Collection>(collection, wrong === undefined ? [] : [wrong]),
  ]);
  try {
    for await (const { tally } of audit({ ...options, pools, sampling: EVERYTHING, checks }))
      if (tally.differences.length > 0) return true;
    return false;
  } catch {
    return true;
  } finally {
    // Removed first: its key may be another one, and one of another row.
    await store.write([
      remove(collection, wrong === undefined ? [] : [keyOf(collection, wrong)]),
      put<Collection>(collection, replaced === undefined ? [row] : [replaced, row]),
    ]);
  }
}

function keyOf(collection: Collection, row: Row): Partial<RowOf<Collection>> {
  return Object.fromEntries(collection.key.map((name) => [name, row[name]])) as Partial<RowOf<Collection>>;
}

/** The pools that a wrong value may show in: the row's own, and those of its token. */
async function poolsOf(
  { chainId, store }: PlantOptions,
  row: Row,
  wrong: Row | undefined,
): Promise<string[]> {
  const own = [row.poolAddress, wrong?.poolAddress, row.pool].filter(
    (address): address is string => typeof address === "string" && address !== "",
  );
  const token = row.token ?? row.address;
  if (typeof token !== "string") return [...new Set(own)];
  const active = await store.find(poolStates, { filter: { chainId }, fields: ["poolAddress"] });
  const known = await store.getMany(
    pools,
    active.map(({ poolAddress }) => ({ chainId, poolAddress })),
  );
  const others = known
    .filter(({ token0Address, token1Address }) => token === token0Address || token === token1Address)
    .map(({ poolAddress }) => poolAddress);
  return [...new Set([...own, ...others.slice(0, POOLS_A_TOKEN)])];
}
