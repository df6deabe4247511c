import { type IndexAttempt, indexUntilAborted } from "../../shared/ingest/index-until-aborted.ts";
import type { IngestReporter } from "../../shared/ingest/reporter.ts";
import type { Log } from "../../shared/logging/log.ts";
import { claimRow, type Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { SolanaSource } from "../chain/port.ts";
import { checkpoints } from "../store/collections.ts";
import type { KeptRows } from "../store/kept-rows.ts";
import { CHAIN_ID } from "../store/queries.ts";
import type { BlockReader } from "./read/decoded-block.ts";
import { Retention } from "./retention.ts";
import { SegmentBuilder } from "./segments/segment-builder.ts";
import { requireAgreement } from "./stalls.ts";
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
  /** false = blocks come without balances, and no accounts of holders are read; default true. */
  readonly withHolders?: boolean;
  /** Default: all rows. */
  readonly kept?: KeptRows;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly guard: Guard;
  /** Called for each batch too: metrics. */
  readonly watchers?: readonly SyncHooks[];
  readonly onHead?: (slot: number) => void;
  /** See RetentionDeps.onFinished. */
  readonly onRetentionFinished?: (time: number) => void;
  /** Shows the progress; absent in tests. */
  readonly reporter?: Pick<IngestReporter, "report" | "reportFailure">;
  /** See StallOptions.retryMs. */
  readonly stallRetryMs?: number;
}

/** Indexes the cluster until the signal, as indexUntilAborted: a backfill, then the head. */
export async function runSolana(options: RunOptions): Promise<void> {
  await indexUntilAborted(options, (attempt) => indexOnce(options, attempt));
}

async function indexOnce(options: RunOptions, { stalls, report, log }: IndexAttempt): Promise<void> {
  const { store, source, reader, startSlot, withHolders = true, guard, onHead } = options;
  await anchorSource(store, source);
  await stalls.waitUntil(() => requireAgreement(source));
  await claimRow(store, guard, { target: checkpoints, key: { chainId: CHAIN_ID } });
  const checkpoint = await openCheckpoint(store, { source, reader, startSlot, guard });
  report({ stage: "plan", scans: [], backfill: { from: checkpoint.fromSlot, at: checkpoint.slot } });
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const warn = (message: string, fields: Record<string, unknown>) => log("warn", message, fields);
  const tokens = new TokenReader({ store, source, log: warn });
  const holders = new HolderReader({ store, guard, source, log: warn });
  const sync = await SolanaSync.open(
    {
      store,
      source,
      reader,
      signal,
      guard,
      ...(options.kept && { kept: options.kept }),
      hooks: [
        tokens,
        ...(withHolders ? [holders] : []),
        new SegmentBuilder({ store, guard }),
        new Retention({
          ...{ store, guard, rowSeconds: options.rawDays * DAY_SECONDS },
          onFinished: options.onRetentionFinished,
        }),
        ...(options.watchers ?? []),
      ],
      log,
      report,
      ...(onHead && { onHead }),
    },
    checkpoint,
  );
  stalls.resolve();
  log("info", "indexing", { slot: sync.checkpoint.slot, head: checkpoint.headSlot });
  const background = Promise.all([tokens.run(signal), ...(withHolders ? [holders.run(signal)] : [])]);
  try {
    await sync.run();
  } finally {
    stop.abort();
    await background;
  }
}
