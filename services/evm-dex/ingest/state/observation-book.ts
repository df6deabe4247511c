import type { Store } from "../../../shared/storage/port.ts";
import type { PoolFeeRow } from "../../store/collections.ts";
import { type ObservationRow, observations } from "../../store/observations.ts";
import type { FactoryFeeRow } from "../../store/v2-collections.ts";
import type { PoolEntry } from "./pool-book.ts";

/** Last observations kept in memory; the store has those of others. */
const MAX_KNOWN = 50_000;

/** What was read with one batch. */
interface Readings {
  /** Pools whose balances may have been read. */
  readonly pools: readonly PoolEntry[];
  readonly fees: readonly PoolFeeRow[];
  readonly factoryFees: readonly FactoryFeeRow[];
}

/**
 * Turns what was read of contracts into the rows of `observations`: on change, so that a pool whose balances follow from
 * its events has one row, however often they are read.
 */
export class ObservationBook {
  readonly #store: Store;
  readonly #chainId: number;
  /** By place: the values as one text. The oldest first. */
  readonly #known = new Map<string, string>();

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /** Those that differ from what is stored. `settle` must follow when they are written. */
  async changesOf({ pools, fees, factoryFees }: Readings): Promise<ObservationRow[]> {
    const onChange = [...pools.flatMap((entry) => this.#surplusOf(entry)), ...fees.map(toFee)];
    const unknown = onChange.filter((row) => !this.#known.has(placeOf(row)));
    const stored = unknown.length === 0 ? [] : await this.#store.getLast(observations, unknown);
    for (const row of stored) this.#note(row);
    const changed = onChange.filter((row) => this.#known.get(placeOf(row)) !== valuesOf(row));
    return [...changed, ...factoryFees.map(toDefaultFees)];
  }

  settle(written: readonly ObservationRow[]): void {
    for (const row of written) if (row.what !== "default_fees") this.#note(row);
  }

  /** Forgets all: the store may have less than before. */
  clear(): void {
    this.#known.clear();
  }

  #note(row: ObservationRow): void {
    const place = placeOf(row);
    this.#known.delete(place);
    this.#known.set(place, valuesOf(row));
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value as string);
  }

  /** None where the balances are older than the last event, or are the sums of events anyway. */
  #surplusOf(entry: PoolEntry): ObservationRow[] {
    const { balance0, balance1, balanceBlock, lastBlock, protocol, row, state } = entry;
    if (protocol.tvlSource === "reserves" || lastBlock < 0 || balanceBlock < lastBlock) return [];
    const reserves = protocol.reserves(state);
    return [
      {
        chainId: this.#chainId,
        address: row.poolAddress,
        what: "surplus",
        blockNumber: balanceBlock,
        value0: balance0 - reserves.amount0,
        value1: balance1 - reserves.amount1,
      },
    ];
  }
}

function toFee({ block, chainId, fee, poolAddress }: PoolFeeRow): ObservationRow {
  const value0 = fee === null ? null : BigInt(fee);
  return { chainId, address: poolAddress, what: "fee", blockNumber: block, value0, value1: null };
}

function toDefaultFees({ block, chainId, factory, stableFee, volatileFee }: FactoryFeeRow): ObservationRow {
  return {
    ...{ chainId, address: factory, what: "default_fees", blockNumber: block },
    value0: volatileFee === null ? null : BigInt(volatileFee),
    value1: stableFee === null ? null : BigInt(stableFee),
  };
}

function placeOf({ address, what }: ObservationRow): string {
  return `${what} ${address}`;
}

function valuesOf({ value0, value1 }: ObservationRow): string {
  return `${value0} ${value1}`;
}
