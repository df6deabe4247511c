import type { LogFilter, RawLog } from "../../../shared/evm/port.ts";
import type { Factory } from "../../deployments.ts";
import { logDecoderOf, protocolOf } from "../../protocols/index.ts";
import {
  type Decoder,
  matchesDecoder,
  type PoolCreatedEvent,
  type PoolEvent,
  type Protocol,
} from "../../protocols/protocol.ts";

/** A factory created a pool. */
export interface CreatedLog {
  readonly factory: Factory;
  readonly created: PoolCreatedEvent;
}

/** A decoded log: a factory created a pool, or an event of a pool. */
export type DecodedLog =
  | CreatedLog
  | { readonly pool: string; readonly event: PoolEvent; readonly gauge?: NewGauge };

export interface NewGauge {
  readonly gauge: string;
  readonly voter: string;
}

/** The contracts of a chain that the index knows. */
export interface KnownContracts {
  protocolOf(pool: string): Protocol | undefined;
  poolOfGauge(gauge: string): string | undefined;
  /** Whether a contract is known to belong to no configured factory. */
  isForeign(address: string): boolean;
}

/** Created pools that are kept before those that the index has by now are forgotten. */
const LEAST_CREATED = 1_000;

/**
 * Maps emitters to events: factories, their voters, pools and gauges, by address. Learns new ones from logs in the
 * order they come, since fetching runs ahead of the store.
 */
export class Emitters {
  readonly #known: KnownContracts;
  readonly #factories: ReadonlyMap<string, Factory>;
  /** The protocols for whose pools a voter creates gauges. */
  readonly #voters: ReadonlyMap<string, ReadonlySet<Protocol>>;
  /** Pools that the index may not have yet. */
  readonly #created = new Map<string, Protocol>();
  #forgetAbove = LEAST_CREATED;
  readonly #gauges = new Map<string, string>();
  /** Decoders of pool events, by topic. */
  readonly #poolDecoders: ReadonlyMap<string, readonly Decoder<PoolEvent>[]>;

  constructor(factories: readonly Factory[], known: KnownContracts) {
    this.#known = known;
    this.#poolDecoders = poolDecodersByTopic(factories);
    this.#factories = new Map(factories.map((factory) => [factory.address, factory]));
    this.#voters = protocolsByVoter(factories);
  }

  protocolOf(pool: string): Protocol | undefined {
    return this.#known.protocolOf(pool) ?? this.#created.get(pool);
  }

  isFactory(address: string): boolean {
    return this.#factories.has(address);
  }

  /** The pools that logs create, in order. */
  listCreated(logs: readonly RawLog[]): CreatedLog[] {
    const list: CreatedLog[] = [];
    for (const log of logs) {
      const factory = this.#factories.get(log.address);
      const created = factory === undefined ? undefined : decodeCreated(factory, log);
      if (factory !== undefined && created !== undefined) list.push({ factory, created });
    }
    return list;
  }

  /**
   * Records the pools and gauges that logs create. A pool may emit before its factory's event (Slipstream initialises
   * first), though never in an earlier block: pass all logs of a batch before decoding any of them.
   */
  learn(logs: readonly RawLog[]): void {
    this.#forgetIndexed();
    for (const { factory, created } of this.listCreated(logs))
      this.#created.set(created.pool, protocolOf(factory.kind));
    if (this.#voters.size === 0) return;
    for (const log of logs) {
      const created = this.#voters.has(log.address) ? this.#decodeVoterLog(log) : undefined;
      if (created?.gauge !== undefined) this.#gauges.set(created.gauge.gauge, created.pool);
    }
  }

  /** A chain has thousands of new pools a day. */
  #forgetIndexed(): void {
    if (this.#created.size <= this.#forgetAbove) return;
    for (const pool of this.#created.keys())
      if (this.#known.protocolOf(pool) !== undefined) this.#created.delete(pool);
    this.#forgetAbove = Math.max(LEAST_CREATED, 2 * this.#created.size);
  }

  /** Decodes a log of a known contract; undefined for another contract, or another event. */
  decode(log: RawLog): DecodedLog | undefined {
    const factory = this.#factories.get(log.address);
    if (factory !== undefined) return this.#decodeFactoryLog(factory, log);
    const protocol = this.protocolOf(log.address);
    if (protocol !== undefined) return toDecodedLog(log.address, logDecoderOf(protocol).pool(log));
    if (this.#voters.has(log.address)) return this.#decodeVoterLog(log);
    const pool = this.#poolOfGauge(log.address);
    const gauged = pool === undefined ? undefined : this.protocolOf(pool);
    return pool === undefined || gauged === undefined
      ? undefined
      : toDecodedLog(pool, logDecoderOf(gauged).gauge(log));
  }

  /** Whether an unknown contract emitted a pool event. */
  isUnknownPool(log: RawLog): boolean {
    const { address } = log;
    if (this.#known.isForeign(address) || this.protocolOf(address) !== undefined) return false;
    if (this.#factories.has(address) || this.#voters.has(address)) return false;
    const words = this.#poolDecoders.get(log.topics[0] ?? "") ?? [];
    return words.some((decoder) => matchesDecoder(log, decoder)) && this.#poolOfGauge(address) === undefined;
  }

  #decodeFactoryLog(factory: Factory, log: RawLog): DecodedLog | undefined {
    const created = decodeCreated(factory, log);
    if (created !== undefined) return { factory, created };
    const named = logDecoderOf(protocolOf(factory.kind)).factory(log);
    return named === undefined || this.protocolOf(named.pool) === undefined ? undefined : named;
  }

  #decodeVoterLog(log: RawLog): { pool: string; event: PoolEvent; gauge?: NewGauge } | undefined {
    for (const protocol of this.#voters.get(log.address) ?? []) {
      const reader = logDecoderOf(protocol);
      const made = reader.gaugeCreated(log);
      if (made !== undefined && this.protocolOf(made.pool) === protocol)
        return { ...made, gauge: { gauge: made.event.gauge, voter: log.address } };
      const event = reader.voter(log);
      const pool = event === undefined ? undefined : this.#poolOfGauge(event.gauge);
      if (event !== undefined && pool !== undefined && this.protocolOf(pool) === protocol)
        return { pool, event };
    }
    return undefined;
  }

  #poolOfGauge(gauge: string): string | undefined {
    return this.#known.poolOfGauge(gauge) ?? this.#gauges.get(gauge);
  }
}

function toDecodedLog(pool: string, event: PoolEvent | undefined): DecodedLog | undefined {
  return event === undefined ? undefined : { pool, event };
}

function decodeCreated(factory: Factory, log: RawLog): PoolCreatedEvent | undefined {
  const { created } = protocolOf(factory.kind);
  return log.topics[0] === created.topic && matchesDecoder(log, created) ? created.decode(log) : undefined;
}

function poolDecodersByTopic(factories: readonly Factory[]): Map<string, Decoder<PoolEvent>[]> {
  const words = new Map<string, Decoder<PoolEvent>[]>();
  for (const protocol of new Set(factories.map(({ kind }) => protocolOf(kind)))) {
    for (const decoder of protocol.decoders)
      words.set(decoder.topic, [...(words.get(decoder.topic) ?? []), decoder]);
  }
  return words;
}

function protocolsByVoter(factories: readonly Factory[]): Map<string, Set<Protocol>> {
  const voters = new Map<string, Set<Protocol>>();
  for (const { rewards, kind } of factories) {
    const protocol = protocolOf(kind);
    if (rewards === undefined || protocol.gauges === undefined) continue;
    const known = voters.get(rewards.voter);
    if (known === undefined) voters.set(rewards.voter, new Set([protocol]));
    else known.add(protocol);
  }
  return voters;
}

/**
 * The topics of these factories, their voters, pools and gauges, from any contract: addresses are matched after
 * fetching. Leaves out LP tokens' Transfers, which every token emits.
 */
export function filterOf(factories: readonly Factory[]): LogFilter {
  const topics = factories.flatMap(({ kind, rewards }) => {
    const { created, decoders, factoryDecoders = [], gauges } = protocolOf(kind);
    const ofGauges =
      gauges === undefined || rewards === undefined ? [] : [gauges.created, ...gauges.voter, ...gauges.own];
    return [created, ...decoders, ...factoryDecoders, ...ofGauges].map(({ topic }) => topic);
  });
  return { topics: [...new Set(topics)] };
}
