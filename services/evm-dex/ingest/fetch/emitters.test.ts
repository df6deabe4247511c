import { expect } from "chai";
import { describe, it } from "mocha";
import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import { transfer as transferDecoder } from "../../protocols/aerodrome-v2/decode/pool.ts";
import { aerodromeV2 } from "../../protocols/aerodrome-v2.ts";
import { slipstream } from "../../protocols/slipstream.ts";
import type { Emitted } from "../../test/kit/log-chain.ts";
import { address, hash } from "../../test/kit/rows.ts";
import {
  created,
  emit,
  aerodromeFactory as factory,
  gaugeCreated,
  transfer,
  VOTER,
} from "../../test/v2/aerodrome-logs.ts";
import { Emitters, filterOf, type KnownContracts } from "./emitters.ts";

const [POOL, OTHER, GAUGE] = [address(0x900), address(0x901), address(0x950)];
const NOTHING: KnownContracts = {
  protocolOf: () => undefined,
  poolOfGauge: () => undefined,
  isForeign: () => true,
};
const KNOWN: KnownContracts = {
  protocolOf: (pool) => (pool === POOL ? aerodromeV2 : undefined),
  poolOfGauge: (gauge) => (gauge === GAUGE ? POOL : undefined),
  isForeign: () => true,
};

function logOf(emitted: Emitted, logIndex = 0): RawLog {
  return {
    ...emitted,
    blockNumber: 1,
    blockHash: hash(1),
    transactionHash: hash(2),
    transactionIndex: 0,
    logIndex,
  };
}

const emitters = (known = KNOWN) => new Emitters([factory], known);
const tellOf = (emitted: Emitted, known = KNOWN) => emitters(known).decode(logOf(emitted));
const deposit = (gauge: Hex) => emit(gauge, "Deposit", { from: address(3), to: address(4), amount: 7n });

describe("Emitters", () => {
  it("read a pool's events, its LP tokens' Transfers too, and no other contract's", () => {
    const sync = { reserve0: 1n, reserve1: 2n };
    expect(tellOf(emit(POOL, "Sync", sync))).to.deep.equal({ pool: POOL, event: { kind: "sync", ...sync } });
    expect(tellOf(transfer(POOL, address(4)))).to.have.nested.property("event.kind", "transfer");
    expect(tellOf(emit(OTHER, "Sync", sync))).to.equal(undefined);
    expect(tellOf(transfer(OTHER, address(4)))).to.equal(undefined);
    expect(tellOf({ address: POOL, topics: [hash(5)], data: "0x" })).to.equal(undefined);
  });

  it("forget created pools that the index has by now, and no others", () => {
    const indexed = new Set<string>();
    const known = {
      ...NOTHING,
      protocolOf: (pool: string) => (indexed.has(pool) ? aerodromeV2 : undefined),
    };
    const own = emitters(known);
    const pools = Array.from({ length: 1_001 }, (_, i) => address(0x1_0000 + i));
    own.learn(pools.map((pool) => logOf(created(pool))));
    for (const pool of pools.slice(1)) indexed.add(pool);
    own.learn([]);
    // As a rollback leaves it: then a fetcher begins anew.
    indexed.clear();
    expect(pools.filter((pool) => own.protocolOf(pool) !== undefined)).to.deep.equal(pools.slice(0, 1));
  });

  it("map a gauge's events to its pool", () => {
    const event = { kind: "deposit", owner: address(4), amount: 7n };
    expect(tellOf(deposit(GAUGE))).to.deep.equal({ pool: POOL, event });
    expect(tellOf(deposit(address(0x951)))).to.equal(undefined);
    // A pool that emits a gauge's event is no gauge.
    expect(tellOf(deposit(POOL))).to.equal(undefined);
  });

  it("map events of factory and voter to the pool they name", () => {
    const fee = emit(factory.address, "SetCustomFee", { pool: POOL, fee: 25n });
    expect(tellOf(fee)).to.deep.equal({ pool: POOL, event: { kind: "set_custom_fee", fee: 25 } });
    const killed = emit(VOTER, "GaugeKilled", { gauge: GAUGE });
    expect(tellOf(killed)).to.deep.equal({ pool: POOL, event: { kind: "gauge_killed", gauge: GAUGE } });
    expect(tellOf(gaugeCreated(POOL, address(0x951)))).to.deep.equal({
      pool: POOL,
      event: { kind: "gauge_created", gauge: address(0x951) },
      gauge: { gauge: address(0x951), voter: VOTER },
    });
  });

  it("decode only the configured factory and voter, and only for known pools", () => {
    const fee = { pool: POOL, fee: 25n };
    expect(tellOf(emit(address(0xbad), "SetCustomFee", fee))).to.equal(undefined);
    expect(tellOf(gaugeCreated(POOL, GAUGE, address(0xbad)))).to.equal(undefined);
    expect(tellOf(emit(factory.address, "SetCustomFee", { ...fee, pool: OTHER }))).to.equal(undefined);
    expect(tellOf(gaugeCreated(OTHER, GAUGE))).to.equal(undefined);
    expect(tellOf(emit(VOTER, "GaugeKilled", { gauge: address(0x951) }))).to.equal(undefined);
    // The voter makes gauges for pools of other kinds too.
    const ofSlipstream = { ...KNOWN, protocolOf: () => slipstream };
    expect(tellOf(gaugeCreated(POOL, GAUGE), ofSlipstream)).to.equal(undefined);
    expect(tellOf(deposit(GAUGE), ofSlipstream)).to.equal(undefined);
  });

  it("learn pools and their gauges as they are created", () => {
    const logs = [created(POOL), gaugeCreated(POOL, GAUGE), deposit(GAUGE)].map(logOf);
    const learning = emitters(NOTHING);
    expect(logs.map((log) => learning.decode(log) !== undefined)).to.deep.equal([true, false, false]);
    learning.learn(logs);
    expect(learning.protocolOf(POOL)).to.equal(aerodromeV2);
    expect(learning.decode(logs[0] as RawLog)).to.have.nested.property("created.pool", POOL);
    expect(learning.decode(logs[2] as RawLog)).to.include({ pool: POOL });
  });

  it("have no gauges where no voter is configured", () => {
    const { rewards: _, ...without } = factory;
    const alone = new Emitters([without], KNOWN);
    expect(alone.decode(logOf(gaugeCreated(POOL, GAUGE)))).to.equal(undefined);
  });
});

describe("filterOf", () => {
  it("has every topic once, but not those that all tokens emit", () => {
    const { topics, addresses } = filterOf([factory, factory]);
    expect(addresses).to.equal(undefined);
    expect(new Set(topics).size).to.equal(topics.length);
    expect(topics).to.include(created(POOL).topics[0]);
    expect(topics).to.include(deposit(GAUGE).topics[0]);
    expect(topics).not.to.include(transferDecoder.topic);
  });

  it("has gauge topics only where there is a voter", () => {
    const { rewards: _, ...without } = factory;
    expect(filterOf([without]).topics).not.to.include(deposit(GAUGE).topics[0]);
  });
});
