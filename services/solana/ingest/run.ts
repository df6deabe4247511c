import type { SolanaSource } from "../../shared/chain/solana/port.ts";
import type { IngestReporter } from "../../shared/host/ingest-status/reporter.ts";
import type { Guard } from "../../shared/host/lease.ts";
import type { Log } from "../../shared/host/log.ts";
import { retryUntil } from "../../shared/host/run-ingest.ts";
import type { Store } from "../../shared/storage/port.ts";
import { OtherCluster } from "./chain-moved.ts";
import type { BlockReader } from "./read/read-block.ts";
import { Retention } from "./retention.ts";
import { openCheckpoint } from "./start-slot.ts";
import { StretchKeeper } from "./stretches.ts";
import { type Companion, SolanaSync } from "./sync.ts";
import { HolderKeeper } from "./tokens/holder-keeper.ts";
import { TokenKeeper } from "./tokens/token-keeper.ts";

const DAY_SECONDS = 86_400;

export interface RunOptions {
  readonly store: Store;
  readonly source: SolanaSource;
  readonly reader: BlockReader;
  readonly startSlot: number | undefined;
  /** Days that rows of lists are kept; 0 = for ever. */
  readonly rawDays: number;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly guard: Guard;
  /** Told of every batch; what counts them, for example. */
  readonly watchers?: readonly Companion[];
  readonly onHead?: (slot: number) => void;
  /** Says what is done; absent in tests. */
  readonly reporter?: Pick<IngestReporter, "report" | "failed">;
}

/**
 * Indexes the cluster until the signal: backfill, then the head. Any failure (no endpoint answers, the store is down) is
 * logged and tried again from the checkpoint; only a store of another cluster ends it.
 */
export async function runSolana(options: RunOptions): Promise<void> {
  const { signal, log } = options;
  const isFatal = (error: unknown) => error instanceof OtherCluster;
  const onFailure = (error: unknown) => options.reporter?.failed(error);
  await retryUntil(signal, { log, isFatal, onFailure }, () => indexOnce(options));
}

async function indexOnce(options: RunOptions): Promise<void> {
  const { store, source, reader, startSlot, log, guard, onHead } = options;
  const checkpoint = await openCheckpoint(store, { source, reader, startSlot });
  const report = options.reporter?.report ?? (() => {});
  report({ stage: "plan", scans: [], backfill: { from: checkpoint.fromSlot, at: checkpoint.slot } });
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const warn = (message: string, fields: Record<string, unknown>) => log.warn(fields, message);
  const tokens = new TokenKeeper({ store, source, log: warn });
  const holders = new HolderKeeper({ store, source, log: warn });
  const sync = await SolanaSync.open(
    {
      store,
      source,
      reader,
      signal,
      guard,
      companions: [
        tokens,
        holders,
        new StretchKeeper({ store, guard }),
        new Retention({ store, guard, rowSeconds: options.rawDays * DAY_SECONDS }),
        ...(options.watchers ?? []),
      ],
      log: (level, message, fields) => log[level](fields ?? {}, message),
      report,
      ...(onHead && { onHead }),
    },
    checkpoint,
  );
  log.info({ slot: sync.checkpoint.slot, head: checkpoint.headSlot }, "indexing");
  const beside = Promise.all([tokens.run(signal), holders.run(signal)]);
  try {
    await sync.run();
  } finally {
    stop.abort();
    await beside;
  }
}
