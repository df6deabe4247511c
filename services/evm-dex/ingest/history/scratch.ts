import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readBoot } from "../../../shared/process/boot.ts";
import { collection } from "../../../shared/storage/collection.ts";
import { isDamaged } from "../../../shared/storage/damage.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { openSqliteStore } from "../../../shared/storage/sqlite/store.ts";
import { COLLECTIONS, discoveries, poolListings, pools, tokens } from "../../store/collections.ts";
import { SQLITE_FILE } from "../../store/sqlite-file.ts";
import { gauges } from "../../store/v2-collections.ts";
import type { Detail } from "../state/detail.ts";
import type { HistoryChunk } from "./chunk.ts";
import { layeredStore } from "./layered-store.ts";

/** The chunk that a file holds, or a part of it. */
const historyChunks = collection({
  name: "history_chunks",
  fields: {
    chainId: "int",
    fromBlock: "int",
    fromTime: "int",
    start: "int",
    toBlock: "int",
    warmFrom: "int",
    parentHash: "text",
    /** Since which start of the machine it is written (boot.ts); null in a file of an earlier version. */
    boot: "text?",
    /** Null in a file of an earlier version: it has all rows. */
    detail: "text?",
  },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

/** What chunk and index have in common: facts about contracts. */
const SHARED = [discoveries, tokens, pools, poolListings, gauges];

/** A planned chunk, and the hash of its last block. */
export interface PlannedChunk {
  readonly chunk: HistoryChunk;
  readonly parentHash: string;
}

/** Where the chunk that ends with a block is indexed. */
export interface ScratchPlace {
  readonly folder: string;
  readonly chainId: number;
  /** The last block of the chunk. */
  readonly to: number;
  /** readBoot(); injected by tests. */
  readonly boot?: string;
}

/**
 * The file in which a chunk is indexed before it is merged. It outlives the process, so that a killed run goes on. Nothing
 * waits until it is on the disk: a file from before the machine's last start may be damaged, and is made anew
 * (docs/decisions/0135).
 */
export class ScratchStore {
  readonly store: Store;
  readonly #own: Store;
  readonly #path: string;
  readonly #boot: string;

  private constructor({ own, main, path, boot }: { own: Store; main: Store; path: string; boot: string }) {
    this.#own = own;
    this.#path = path;
    this.#boot = boot;
    this.store = layeredStore(own, { shared: main, collections: SHARED });
  }

  /** Deletes the files of chunks that end with a block or a later one: an index that begins there holds them by now. */
  static async removeFrom({
    folder,
    chainId,
    block,
  }: Pick<ScratchPlace, "folder" | "chainId"> & { block: number }): Promise<void> {
    const name = new RegExp(`^${prefixOf(chainId)}(\\d+)\\.sqlite`);
    // A folder that is not there yet holds none.
    const files = await readdir(folder).catch(() => []);
    for (const file of files) {
      const to = name.exec(file)?.[1];
      if (to !== undefined && Number(to) >= block) await rm(join(folder, file), { force: true });
    }
  }

  static async open(main: Store, { folder, chainId, to, boot: given }: ScratchPlace): Promise<ScratchStore> {
    await mkdir(folder, { recursive: true });
    const path = join(folder, `${prefixOf(chainId)}${to}.sqlite`);
    const boot = given ?? (await readBoot());
    let own = await openOfBoot(path, { chainId, boot });
    if (own === undefined) {
      await removeFiles(path);
      own = await openFile(path);
    }
    return new ScratchStore({ own, main, path, boot });
  }

  /** The chunk that it holds; undefined in a new file. */
  async planned(chainId: number): Promise<PlannedChunk | undefined> {
    const row = await this.#own.get(historyChunks, { chainId });
    if (row === undefined) return undefined;
    const { fromBlock, fromTime, start, toBlock, warmFrom, parentHash } = row;
    const from = { number: fromBlock, time: fromTime };
    const detail = (row.detail ?? "events") as Detail;
    return { chunk: { chainId, from, start, to: toBlock, warmFrom, detail }, parentHash };
  }

  async plan({ chunk, parentHash }: PlannedChunk): Promise<void> {
    const { chainId, from, start, to, warmFrom, detail } = chunk;
    const place = { fromBlock: from.number, fromTime: from.time, start, toBlock: to, warmFrom, detail };
    await this.#own.write([put(historyChunks, [{ chainId, ...place, parentHash, boot: this.#boot }])]);
  }

  async close(): Promise<void> {
    await this.#own.close();
  }

  /** Closes it, and deletes the file. */
  async remove(): Promise<void> {
    await this.close();
    await removeFiles(this.#path);
  }
}

/** Its writes are as those of the ingest's writing thread, which has half of these pages: here the same connection reads too. */
const MEMORY = { mappedBytes: 0, cacheKb: 8_192 };

async function openFile(path: string): Promise<Store> {
  const own = await openSqliteStore({ path, ...MEMORY, ...SQLITE_FILE, survivesPowerCut: false });
  await own.declare([...COLLECTIONS, historyChunks]);
  return own;
}

/** Undefined where the file may be damaged: written before the machine's last start, or not readable now. */
async function openOfBoot(
  path: string,
  { chainId, boot }: { chainId: number; boot: string },
): Promise<Store | undefined> {
  let own: Store | undefined;
  try {
    own = await openFile(path);
    const row = await own.get(historyChunks, { chainId });
    if ((row?.boot ?? boot) === boot) return own;
  } catch (error) {
    await own?.close();
    if (isDamaged(error)) return undefined;
    throw error;
  }
  await own.close();
  return undefined;
}

async function removeFiles(path: string): Promise<void> {
  for (const end of ["", "-wal", "-shm"]) await rm(`${path}${end}`, { force: true });
}

function prefixOf(chainId: number): string {
  return `evm-dex-history-${chainId}-`;
}
