import { Counter, Gauge, type Metrics } from "../../shared/metrics/metrics.ts";
import type { TableEvents } from "./chain-tables.ts";

/** Told what happens to tables, Prometheus shows how current and how complete they are. */
export function createTableMetrics({ registry }: Metrics): TableEvents {
  const registers = [registry];
  const labelNames = ["chain", "protocol"];
  const rows = new Gauge({
    name: "table_rows",
    help: "Vaults and markets in the tables that are answered from",
    labelNames,
    registers,
  });
  const block = new Gauge({
    name: "table_block",
    help: "Block that the tables stand on",
    labelNames,
    registers,
  });
  const failures = new Counter({
    name: "table_failures_total",
    help: "Heads whose tables could not be made: those of the block before are answered from",
    labelNames,
    registers,
  });
  const leftOut = new Counter({
    name: "table_rows_left_out_total",
    help: "Rows that were not shown since one of their numbers is none",
    labelNames,
    registers,
  });
  const pricesUp = new Gauge({
    name: "prices_up",
    help: "1 while evm-dex told prices when it was last asked, 0 while it could not be asked",
    labelNames: ["chain"],
    registers,
  });
  return {
    built(of) {
      const labels = { chain: of.chainId, protocol: of.protocol };
      rows.set(labels, of.rows);
      block.set(labels, of.block);
    },
    failed: ({ chainId, protocol = "all" }) => failures.inc({ chain: chainId, protocol }),
    leftOut: ({ chainId, protocol }) => leftOut.inc({ chain: chainId, protocol }),
    pricesChanged: ({ chainId, error }) => pricesUp.set({ chain: chainId }, error === undefined ? 1 : 0),
  };
}
