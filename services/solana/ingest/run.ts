import type { IngestReporter } from "../../shared/ingest/reporter.ts";
import { retryUntilAborted } from "../../shared/ingest/run-ingest.ts";
import type { Log } from "../../shared/logging/log.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { SolanaSource } from "../chain/port.ts";
import type { BlockReader } from "./read/decoded-block.ts";
import { Retention } from "./retention.ts";
import { SegmentBuilder } from "./segments/segment-builder.ts";
import { StandstillWatch } from "./standstill.ts";
import { anchorSource, openCheckpoint } from "./start-slot.ts";
import { SolanaSync, type SyncHooks } from "./sync.ts";
import { HolderReader } from "./tokens/holder-reader.ts";
import { TokenReader } from "./tokens/token-reader.ts";

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
  readonly watchers?: readonly SyncHooks[];
  readonly onHead?: (slot: number) => void;
  /** Says what is done; absent in tests. */
  readonly reporter?: Pick<IngestReporter, "report" | "reportFailure">;
  /** Milliseconds between two checks of endpoints of which none is of use; default 5,000. */
  readonly checkAgainMs?: number;
}

/**
 * Indexes the cluster until the signal: backfill, then the head. Any failure (no endpoint answers, the store is down) is
 * logged and tried again from the checkpoint. Where every endpoint contradicts the index, it waits for one that does not.
 */
export async function runSolana(options: RunOptions): Promise<void> {
  const { signal, log, checkAgainMs, reporter } = options;
  const onFailure = (error: unknown) => reporter?.reportFailure(error);
  const standstill = new StandstillWatch({ log, signal, onFailure, checkAgainMs });
  const isFatal = () => false;
  await retryUntilAborted(signal, { log, isFatal, onFailure }, () =>
    standstill.run(() => indexOnce(options, standstill)),
  );
}

async function indexOnce(options: RunOptions, standstill: StandstillWatch): Promise<void> {
  const { store, source, reader, startSlot, log, guard, onHead } = options;
  await anchorSource(store, source);
  await standstill.untilAgreed(source);
  const checkpoint = await openCheckpoint(store, { source, reader, startSlot });
  const report = options.reporter?.report ?? (() => {});
  report({ stage: "plan", scans: [], backfill: { from: checkpoint.fromSlot, at: checkpoint.slot } });
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const warn = (message: string, fields: Record<string, unknown>) => log.warn(fields, message);
  const tokens = new TokenReader({ store, source, log: warn });
  const holders = new HolderReader({ store, source, log: warn });
  const sync = await SolanaSync.open(
    {
      store,
      source,
      reader,
      signal,
      guard,
      hooks: [
        tokens,
        holders,
        new SegmentBuilder({ store, guard }),
        new Retention({ store, guard, rowSeconds: options.rawDays * DAY_SECONDS }),
        ...(options.watchers ?? []),
      ],
      log: (level, message, fields) => log[level](fields ?? {}, message),
      report,
      ...(onHead && { onHead }),
    },
    checkpoint,
  );
  standstill.over();
  log.info({ slot: sync.checkpoint.slot, head: checkpoint.headSlot }, "indexing");
  const beside = Promise.all([tokens.run(signal), holders.run(signal)]);
  try {
    await sync.run();
  } finally {
    stop.abort();
    await beside;
  }
}
