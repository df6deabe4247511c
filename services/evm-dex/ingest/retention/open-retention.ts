import type { ChainGauges } from "../../../shared/ingest/metrics.ts";
import type { Log } from "../../../shared/logging/log.ts";
import { archiveDay } from "./archive-day.ts";
import { Retention, type RetentionDeps } from "./retention.ts";

/** How long rows are kept, and where else. */
export interface KeepingOptions {
  /** UTC days; 0 = for ever. */
  readonly rawDays: number;
  /** Folder of the files that days are kept as before they go; undefined = none. */
  readonly archiveDir: string | undefined;
}

/** The retention of one chain; a file that cannot be written is logged and its rows stay. */
export function openRetention({
  chain: { chainId },
  guard,
  keeping: { archiveDir, rawDays },
  log,
  store,
  gauges,
}: Pick<RetentionDeps, "store" | "guard"> & {
  chain: { chainId: number };
  keeping: KeepingOptions;
  log: Log;
  gauges?: Pick<ChainGauges, "setRetentionFinished"> | undefined;
}): Retention {
  const folder = archiveDir;
  return new Retention({
    ...{ store, guard, chainId, rawDays },
    onFinished: (time) => gauges?.setRetentionFinished(time),
    ...(folder !== undefined && {
      archive: (day) => archiveDay(store, { chainId, folder }, day),
      onArchiveFailure: (err) => log.warn({ err, folder }, "a day was not archived: its rows stay"),
    }),
  });
}
