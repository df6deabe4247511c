import type { Store } from "../../../shared/storage/port.ts";
import type { GaugeRow } from "../../store/v2-collections.ts";
import { listGauges } from "../../store/v2-queries.ts";

/** The gauges of one chain's pools. A pool has one at most: its voter never creates a second. */
export class GaugeBook {
  readonly #byGauge = new Map<string, GaugeRow>();
  readonly #byPool = new Map<string, GaugeRow>();

  async load(store: Store, chainId: number): Promise<void> {
    for (const row of await listGauges(store, chainId)) this.add(row);
  }

  add(row: GaugeRow): void {
    this.#byGauge.set(row.gauge, row);
    this.#byPool.set(row.poolAddress, row);
  }

  /** Forgets the gauges created after a block. */
  rollback(target: number): void {
    for (const [gauge, { createdBlock, poolAddress }] of this.#byGauge) {
      if (createdBlock <= target) continue;
      this.#byGauge.delete(gauge);
      this.#byPool.delete(poolAddress);
    }
  }

  poolOf(gauge: string): string | undefined {
    return this.#byGauge.get(gauge)?.poolAddress;
  }

  /** A pool's gauge at a block; undefined where it had none yet. */
  at(poolAddress: string, block: number): GaugeRow | undefined {
    const row = this.#byPool.get(poolAddress);
    return row !== undefined && row.createdBlock <= block ? row : undefined;
  }
}
