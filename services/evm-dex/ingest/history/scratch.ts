import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { collection, put, type Store } from "../../../shared/storage/port.ts";
import { openSqliteStore } from "../../../shared/storage/sqlite/store.ts";
import { COLLECTIONS, discoveries, poolListings, pools, tokens } from "../../store/collections.ts";
import { LOG_BYTES } from "../../store/log-bytes.ts";
import { gauges } from "../../store/v2-collections.ts";
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
}

/** The file in which a chunk is indexed before it is merged. It outlives the process, so that a killed run goes on. */
export class ScratchStore {
  readonly store: Store;
  readonly #own: Store;
  readonly #path: string;

  private constructor({ own, main, path }: { own: Store; main: Store; path: string }) {
    this.#own = own;
    this.#path = path;
    this.store = layeredStore(own, { shared: main, collections: SHARED });
  }

  /** Deletes the files of chunks that end with a block or a later one: an index that begins there holds them by now. */
  static async removeFrom({
    folder,
    chainId,
    block,
  }: Omit<ScratchPlace, "to"> & { block: number }): Promise<void> {
    const name = new RegExp(`^${prefixOf(chainId)}(\\d+)\\.sqlite`);
    // A folder that is not there yet holds none.
    const files = await readdir(folder).catch(() => []);
    for (const file of files) {
      const to = name.exec(file)?.[1];
      if (to !== undefined && Number(to) >= block) await rm(join(folder, file), { force: true });
    }
  }

  static async open(main: Store, { folder, chainId, to }: ScratchPlace): Promise<ScratchStore> {
    await mkdir(folder, { recursive: true });
    const path = join(folder, `${prefixOf(chainId)}${to}.sqlite`);
    const own = await openSqliteStore({ path, mappedBytes: 0, logBytes: LOG_BYTES });
    await own.declare([...COLLECTIONS, historyChunks]);
    return new ScratchStore({ own, main, path });
  }

  /** The chunk that it holds; undefined in a new file. */
  async planned(chainId: number): Promise<PlannedChunk | undefined> {
    const row = await this.#own.get(historyChunks, { chainId });
    if (row === undefined) return undefined;
    const { fromBlock, fromTime, start, toBlock, warmFrom, parentHash } = row;
    const from = { number: fromBlock, time: fromTime };
    return { chunk: { chainId, from, start, to: toBlock, warmFrom }, parentHash };
  }

  async plan({ chunk, parentHash }: PlannedChunk): Promise<void> {
    const { chainId, from, start, to, warmFrom } = chunk;
    const place = { fromBlock: from.number, fromTime: from.time, start, toBlock: to, warmFrom };
    await this.#own.write([put(historyChunks, [{ chainId, ...place, parentHash }])]);
  }

  async close(): Promise<void> {
    await this.#own.close();
  }

  /** Closes it, and deletes the file. */
  async remove(): Promise<void> {
    await this.close();
    for (const end of ["", "-wal", "-shm"]) await rm(`${this.#path}${end}`, { force: true });
  }
}

function prefixOf(chainId: number): string {
  return `evm-dex-history-${chainId}-`;
}
