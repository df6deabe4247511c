import { Counter, Gauge, type Metrics } from "../../../shared/metrics/metrics.ts";
import type { TableEvents } from "./chain-tables.ts";

/** Prometheus metrics of the tables: how current and how complete they are. */
export function createTableMetrics({ registry }: Metrics): TableEvents {
  const registers = [registry];
  const labelNames = ["chain", "protocol"];
  const rows = new Gauge({
    name: "table_rows",
    help: "Vaults and markets in the tables that serve requests",
    labelNames,
    registers,
  });
  const block = new Gauge({
    name: "table_block",
    help: "Block of the tables",
    labelNames,
    registers,
  });
  const failures = new Counter({
    name: "table_failures_total",
    help: "Heads whose tables could not be built: those of the previous block serve requests",
    labelNames,
    registers,
  });
  const skipped = new Counter({
    name: "table_rows_left_out_total",
    help: "Rows left out because a number is not finite",
    labelNames,
    registers,
  });
  const pricesUp = new Gauge({
    name: "prices_up",
    help: "1 if the last request to evm-dex for prices succeeded, else 0",
    labelNames: ["chain"],
    registers,
  });
  return {
    built({ chainId, protocol, rows: rowCount, block: number }) {
      const labels = { chain: chainId, protocol };
      rows.set(labels, rowCount);
      block.set(labels, number);
    },
    failed: ({ chainId, protocol = "all" }) => failures.inc({ chain: chainId, protocol }),
    rowSkipped: ({ chainId, protocol }) => skipped.inc({ chain: chainId, protocol }),
    pricesChanged: ({ chainId, error }) => pricesUp.set({ chain: chainId }, error === undefined ? 1 : 0),
  };
}
