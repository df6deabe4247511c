import type { TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import { ReorgDetected } from "../../shared/chain-errors.ts";
import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import type { SolanaSource } from "../chain/port.ts";
import type { SolanaSourceConfig } from "../chain/source.ts";
import type { BlockReader } from "../ingest/read/decoded-block.ts";
import { createLocalReader } from "../ingest/read/reader.ts";
import { anchorSource, openCheckpoint } from "../ingest/start-slot.ts";
import { SolanaSync, type SyncHooks } from "../ingest/sync.ts";
import { type CheckpointRow, COLLECTIONS } from "../store/collections.ts";

/** Faults are detected, and retries end, within moments. */
export const QUICK: Partial<SolanaSourceConfig> = {
  options: { backoffMs: 5, behindTotalMs: 3_000, totalMs: 5_000, openMs: 20, maxOpenMs: 50 },
};

/** An ingest in this process, driven step by step. */
export interface TestIngest {
  readonly store: Store;
  readonly source: SolanaSource;
  /** Indexes until the store has reached the cluster's head. */
  catchUp(): Promise<void>;
  /** One step, back where the cluster has dropped blocks. */
  step(): Promise<boolean>;
  checkpoint(): CheckpointRow;
  close(): Promise<void>;
}

export interface TestIngestOptions {
  /** Left open by `close` where it is given. */
  readonly store?: Store;
  readonly startSlot?: number;
  /** How long endpoints may contradict themselves; default 3 s. */
  readonly patienceMs?: number;
  /** Made of the store that it works on. */
  readonly hooks?: (at: { store: Store; source: SolanaSource }) => readonly SyncHooks[];
  /** In place of one that decodes here. */
  readonly reader?: (source: SolanaSource) => BlockReader;
}

export async function startTestIngest(
  solana: Pick<TestSolana, "source">,
  options: TestIngestOptions = {},
): Promise<TestIngest> {
  const store = options.store ?? (await openSqliteStore({ path: ":memory:" }));
  await store.declare(COLLECTIONS);
  const { patienceMs = 3_000 } = options;
  const source = solana.source({ options: { ...QUICK.options, behindTotalMs: patienceMs } });
  const reader = (options.reader ?? createLocalReader)(source);
  const stop = new AbortController();
  await anchorSource(store, source);
  const checkpoint = await openCheckpoint(store, { source, reader, startSlot: options.startSlot ?? 0 });
  const hooks = options.hooks?.({ store, source }) ?? [];
  let ms = 0;
  const sync = await SolanaSync.open(
    {
      store,
      source,
      reader,
      hooks,
      signal: stop.signal,
      log: () => {},
      report: () => {},
      guard: () => [],
      // The final head is requested at every step.
      now: () => {
        ms += 10_000;
        return ms;
      },
    },
    checkpoint,
  );
  const ingest: TestIngest = {
    store,
    source,
    async step() {
      try {
        return await sync.step();
      } catch (error) {
        if (!(error instanceof ReorgDetected)) throw error;
        await sync.handleReorg();
        return true;
      }
    },
    async catchUp() {
      while (await ingest.step());
    },
    checkpoint: () => sync.checkpoint,
    async close() {
      stop.abort();
      await source.close();
      if (options.store === undefined) await store.close();
    },
  };
  return ingest;
}
