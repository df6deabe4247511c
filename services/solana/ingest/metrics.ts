import type { IngestMetrics } from "../../shared/ingest/metrics.ts";
import { Counter, Gauge } from "../../shared/metrics/metrics.ts";
import type { SourceEvent } from "../../shared/rpc-client/endpoint/endpoint.ts";
import type { DecodedBlock } from "./read/decoded-block.ts";
import type { SyncHooks } from "./sync.ts";

/** Lines of one batch that are logged one by one; the others are one line together. */
const MAX_LINES = 20;

export interface SolanaIngestMetrics extends SyncHooks {
  readonly onEvent: (event: SourceEvent) => void;
  /** The confirmed head. */
  onHead(slot: number): void;
  /** See RetentionDeps.onFinished. */
  onRetentionFinished(time: number): void;
}

/** Metrics of the cluster's blocks; logs transactions that could not be decoded or whose events disagree. */
export function solanaMetrics(
  metrics: IngestMetrics,
  log: (message: string, fields: Record<string, unknown>) => void,
): SolanaIngestMetrics {
  const registers = [metrics.registry];
  const gauges = metrics.chain("solana");
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const blocks = counter("solana_blocks_total", "Blocks indexed");
  const skipped = counter("solana_skipped_slots_total", "Slots without a block, proven to have been skipped");
  const transactions = counter("solana_transactions_total", "Transactions indexed, votes not counted");
  const rows = counter("solana_rows_total", "Rows of lists written, by list", ["list"]);
  const failures = counter("solana_decode_failures_total", "Transactions that could not be decoded");
  const disagreements = counter(
    "solana_disagreements_total",
    "Instructions whose amounts disagree with the exchange's own event, or that gave no row, by program",
    ["program"],
  );
  const dropped = counter(
    "solana_forks_total",
    "Forks: times that indexed blocks were dropped by the cluster and rolled back",
  );
  const lag = new Gauge({
    name: "solana_lag_slots",
    help: "Slots between the confirmed head as last seen and the last indexed one",
    registers,
  });
  let head = 0;
  let indexedSlot: number | undefined;
  const showLag = () => {
    if (indexedSlot !== undefined) lag.set(Math.max(0, head - indexedSlot));
  };
  return {
    onEvent: gauges.onEvent,
    onRetentionFinished: (time) => gauges.setRetentionFinished(time),
    onHead(slot) {
      head = slot;
      gauges.setHead({ number: slot });
      showLag();
    },
    afterRollback: () => dropped.inc(),
    async afterBatch({ blocks: written, batch, checkpoint }) {
      indexedSlot = checkpoint.slot;
      const events = batch.tokenRows.length;
      gauges.setIndexedBlock({ number: checkpoint.slot, time: checkpoint.time, events });
      showLag();
      blocks.inc(written.length);
      skipped.inc(written.reduce((sum, { slot, parentSlot }) => sum + slot - parentSlot - 1, 0));
      transactions.inc(written.reduce((sum, { transactionCount }) => sum + transactionCount, 0));
      rows.inc({ list: "token" }, batch.tokenRows.length);
      rows.inc({ list: "pool" }, batch.poolRows.length);
      rows.inc({ list: "supply" }, batch.supplyRows.length);
      const lines = [...listBroken(written), ...listDisagreements(written)];
      for (const { program } of lines) {
        if (program === undefined) failures.inc();
        else disagreements.inc({ program });
      }
      for (const { message, ...fields } of lines.slice(0, MAX_LINES)) log(message, fields);
      if (lines.length > MAX_LINES)
        log("more transactions of the same batch disagree or could not be decoded", {
          count: lines.length - MAX_LINES,
        });
    },
  };
}

interface LogLine {
  readonly message: string;
  readonly slot: number;
  readonly signature: string | null;
  readonly program?: string;
  readonly reason: string;
}

function listBroken(blocks: readonly DecodedBlock[]): LogLine[] {
  return blocks.flatMap(({ slot, broken }) =>
    broken.map((each) => ({ message: "a transaction could not be decoded", slot, ...each })),
  );
}

function listDisagreements(blocks: readonly DecodedBlock[]): LogLine[] {
  return blocks.flatMap(({ slot, transactions }) =>
    transactions.flatMap(({ signature, disagreements }) =>
      disagreements.map(({ program, reason, instructionIndex }) => ({
        message: "a transaction's event disagrees with its transfers",
        slot,
        signature,
        program,
        instructionIndex,
        reason: reason,
      })),
    ),
  );
}
