import type { BlockHeader } from "../../shared/evm/port.ts";
import type { ChainGauges, IngestMetrics } from "../../shared/ingest/metrics.ts";
import { Counter, Gauge, Histogram } from "../../shared/metrics/metrics.ts";
import type { EntityRegistry } from "./entities/entity-registry.ts";
import type { PassReadings } from "./pass/pass.ts";

export interface FinishedPass {
  readonly seconds: number;
  readonly head: BlockHeader;
  readonly readings: PassReadings;
  /** After the pass. */
  readonly registry: EntityRegistry;
}

/** The metrics of one chain's entities. */
export interface ChainMetrics extends ChainGauges {
  addPass(pass: FinishedPass): void;
}

/** Registers the metrics of lending; returns a factory of those of one chain. */
export function lendingMetrics(metrics: IngestMetrics): (chainId: number) => ChainMetrics {
  const registers = [metrics.registry];
  const labelNames = ["chain", "kind"];
  const reads = new Counter({
    name: "lending_entity_reads_total",
    help: "Entities read (markets, reserves, vaults), by kind",
    labelNames,
    registers,
  });
  const failures = new Counter({
    name: "lending_entity_failures_total",
    help: "Failed readings of entities, by kind: contracts that revert or return malformed data",
    labelNames,
    registers,
  });
  const known = new Gauge({
    name: "lending_entities",
    help: "Known entities, by kind",
    labelNames,
    registers,
  });
  const unreadable = new Gauge({
    name: "lending_unreadable_entities",
    help: "Entities whose last reading failed, by kind: they keep their previous state",
    labelNames,
    registers,
  });
  const passes = new Histogram({
    name: "lending_pass_seconds",
    help: "Duration of a pass, from the request for logs to the last row written",
    labelNames: ["chain"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  return (chainId) => {
    const chain = String(chainId);
    const gauges = metrics.chain(chainId);
    return {
      ...gauges,
      addPass({ seconds, head, readings, registry }) {
        passes.observe({ chain }, seconds);
        for (const { ref } of readings.read) reads.inc({ chain, kind: ref.kind });
        for (const { ref } of readings.failed) failures.inc({ chain, kind: ref.kind });
        const counts = new Map<string, { all: number; failed: number }>();
        for (const { kind, failures } of registry.rows()) {
          const count = counts.get(kind) ?? { all: 0, failed: 0 };
          counts.set(kind, { all: count.all + 1, failed: count.failed + (failures > 0 ? 1 : 0) });
        }
        for (const [kind, { all, failed }] of counts) {
          known.set({ chain, kind }, all);
          unreadable.set({ chain, kind }, failed);
        }
        gauges.setIndexedBlock({ number: head.number, time: head.timestamp, events: readings.read.length });
      },
    };
  };
}
