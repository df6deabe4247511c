import { readdir } from "node:fs/promises";
import { reindexes } from "../../services/shared/ingest/reindex.ts";
import { type IngestStatusRow, ingestStatus } from "../../services/shared/ingest-status/status-row.ts";
import { findLeaseHolder, leases } from "../../services/shared/storage/lease.ts";
import type { Store } from "../../services/shared/storage/port.ts";
import type { Findings } from "./finding.ts";

/** Who writes a chain's index. */
export interface Leader {
  readonly lease: string;
  /** Null: nobody has renewed it while it was watched. */
  readonly holder: string | null;
}

/** The leases of a store, watched until it is certain whether each is held. */
export async function watchLeases(store: Store, ttlMs: number): Promise<Leader[]> {
  const rows = await store.find(leases, { order: [{ field: "name", direction: "asc" }] });
  return Promise.all(
    rows.map(async ({ name }) => ({
      lease: name,
      holder: (await findLeaseHolder(store, { name, ttlMs })) ?? null,
    })),
  );
}

/** What no ingest works on is told; what one works on is its own affair. */
export function judgeLeases(leaders: readonly Leader[], findings: Findings): void {
  for (const { holder, lease } of leaders) {
    findings.count("leases");
    if (holder === null)
      findings.note("leases", {
        what: `Nobody holds the lease ${lease}: no ingest writes this index.`,
        todo: "Start the ingest, unless it is stopped on purpose.",
      });
  }
}

/** Deletions of indexes that were cut short. */
export async function judgeReindexes(store: Store, findings: Findings): Promise<void> {
  for (const { name, startedAtMs } of await store.find(reindexes, {})) {
    findings.note("unfinished", {
      what: `A reindex (${name}, begun ${new Date(startedAtMs).toISOString()}) has not finished: the index is partly deleted.`,
      todo: "Start the ingest, which finishes it, or run npm run reindex again.",
    });
  }
}

/** What the ingest says of a chain. */
export async function judgeStatus(store: Store, chainId: number, findings: Findings): Promise<void> {
  const row = await store.get(ingestStatus, { chainId });
  findings.count("ingest");
  if (row?.state === "failing")
    findings.fault("ingest", {
      what: `The ingest fails since ${new Date(row.sinceMs).toISOString()}: ${row.why ?? "without a reason"}.`,
      todo: "Look at its log; docs/alerts.md has a paragraph for each reason.",
    });
  else if (row !== undefined && isGrowing(row))
    findings.note("unfinished", {
      what: `History is indexed from ${dayOf(row.historyFrom)} on, and is to begin ${dayOf(row.historySince)}.`,
      todo: "Nothing while the ingest runs.",
    });
}

function isGrowing({ historyFrom, historySince }: IngestStatusRow): boolean {
  return historyFrom !== null && historySince !== null && historyFrom > historySince;
}

function dayOf(seconds: number | null): string {
  return new Date((seconds ?? 0) * 1_000).toISOString().slice(0, 16);
}

/** Parts of history that are indexed and not merged yet. */
export async function judgeParts(
  folder: string,
  { chainId, fromBlock }: { readonly chainId: number; readonly fromBlock: number },
  findings: Findings,
): Promise<void> {
  const name = new RegExp(`^evm-dex-history-${chainId}-(\\d+)\\.sqlite$`);
  const files = await readdir(folder).catch(() => []);
  for (const file of files) {
    const to = name.exec(file)?.[1];
    if (to === undefined) continue;
    const isMerged = Number(to) >= fromBlock;
    findings.note("unfinished", {
      what: isMerged
        ? `${file} holds history that the index has by now.`
        : `${file} holds history up to block ${to} that is not merged yet.`,
      todo: "Nothing while the ingest runs: it merges and deletes the file. It outlives the process for that.",
    });
  }
}
