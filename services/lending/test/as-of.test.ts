import { expect } from "chai";
import { after, before, it } from "mocha";
import { LENDING_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { AsOf } from "../../shared/contract/as-of.ts";
import type { DataVersion, Endpoint } from "../../shared/contract/endpoint.ts";
import { ServiceError } from "../../shared/errors.ts";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import type { PriceSource } from "../../shared/grpc/types.ts";
import { versionOf } from "../../shared/index/evm/checkpoint.ts";
import { TimeSlices } from "../../shared/process/time-slices.ts";
import { put } from "../../shared/storage/port.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { randomRuns } from "../../shared/testkit/describe.ts";
import { endpoints } from "../contract.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { createHandlers } from "../handlers.ts";
import { EntityMap } from "../protocols/entity-map.ts";
import { priceOracles } from "../protocols/price-oracles/price-oracles.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import { PastTables } from "../serve/past/past-tables.ts";
import { oraclePricesOf } from "../serve/prices/oracle-prices.ts";
import { mergePrices } from "../serve/prices/price-table.ts";
import { requestWalk, toWalk } from "../serve/prices/request-walk.ts";
import type { HeadState } from "../serve/tables/lending-tables.ts";
import { ProtocolTables } from "../serve/tables/protocol-tables.ts";
import { collectRows, RowDictionaries, tokensOf } from "../serve/tables/row-set.ts";
import { entities, entityHistory } from "../store/collections.ts";
import { FORK_KIND } from "../store/fork-mark.ts";
import { fromStateText } from "../store/state-text.ts";
import { CURATORS, callHandler, type RowObject, rowsIn } from "./answers.ts";
import { busyMiner, type IndexedChain, indexLending, startTestIngest, type TestIngest } from "./harness.ts";

const HOUR = 3_600;
const STALE_SECONDS = 600;
/** A whole hour. */
const GENESIS_S = 1_760_054_400;
/** 40 where all is checked. */
const BLOCKS = randomRuns(40);
const NO_VAULT = `0x${"00".repeat(20)}`;

type Lists = ReadonlyMap<string, readonly RowObject[]>;

/** The walk's prices: another one at each block, and none of blocks that are no longer kept. */
function walkOf({ keptFrom }: { keptFrom: () => number }): PriceSource {
  return {
    async getPrices({ tokens, block }) {
      if (block !== undefined && block < keptFrom()) throw new ServiceError("not_found", "No longer kept.");
      const usdAt = (token: string) => 1 + Number(BigInt(token) % 1_000n) + (block ?? 0) / 1_000;
      const prices = tokens.map((token) => ({ token, usd: usdAt(token), hops: 1, depthUsd: 1e6 }));
      return { block: block ?? 0, blockTime: 0, prices };
    },
  };
}

describeOnEngines(
  (engine) => `lending lists of an earlier block, on ${engine}`,
  { rounds: BLOCKS },
  ({ open }) => {
    let chain: TestChain;
    let indexed: IndexedChain & { remove(): Promise<void> };
    let ingest: TestIngest;
    let chains: readonly ChainDeployments[];
    let removeStore: () => Promise<void>;
    let past: PastTables;
    let keptFrom = 0;
    const prices = walkOf({ keptFrom: () => keptFrom });
    /** By the hash of a block: what lists showed when it was the head. */
    const recorded = new Map<string, { block: number; time: number; lists: Lists }>();

    before(async () => {
      chain = await createTestChain({ timestamp: GENESIS_S - 300, families: LENDING_FAMILIES, poolCount: 1 });
      indexed = await indexLending(chain);
      chains = loadDeployments(indexed.deploymentsFile, indexed.protocols);
      const opened = await open();
      removeStore = opened.remove;
      ingest = await startTestIngest(indexed, { store: opened.store });
      past = new PastTables({
        store: opened.store,
        chains,
        prices,
        curators: CURATORS,
        staleSeconds: STALE_SECONDS,
      });
    });
    after(async () => {
      await ingest?.close();
      await removeStore?.();
      await indexed?.remove();
      await chain?.stop();
    });

    /** The tables of the head, from the latest state of each entity. */
    async function headState(protocol: ProtocolId): Promise<HeadState> {
      const { store } = ingest;
      const [deployment] = chains as [ChainDeployments];
      const deployed = deployment.protocols.find((each) => each.protocol.id === protocol);
      if (deployed === undefined) throw new Error(`${protocol} is not deployed.`);
      const known = new EntityMap();
      for (const { block, id, kind, state, time } of await store.find(entities, {}))
        if (state !== null && block !== null && time !== null)
          known.put({ kind, id, state: fromStateText(state), block, time });
      const checkpoint = ingest.checkpoint();
      const time = checkpoint.blockTime;
      const options = { chainId: 8453, time, memory: new RowDictionaries(), slices: new TimeSlices() };
      const rows = await collectRows({ ...options, deployed, entities: known, onSkipped: () => {} });
      const ids = priceOracles.roots(deployment.oracles).map(({ id }) => id);
      const oracles = oraclePricesOf(known, { time, ids, staleSeconds: STALE_SECONDS });
      const block = checkpoint.blockNumber;
      const walk = await requestWalk(prices, { chainId: 8453, block, tokens: tokensOf(rows) });
      const table = mergePrices(typeof walk === "string" ? toWalk([]) : walk, { oracles, walkLagSeconds: 0 });
      const tables = new ProtocolTables({
        ...{ rows, prices: table, protocol, time },
        ...{ chainId: 8453, curators: CURATORS },
      });
      return { tables, version: versionOf(checkpoint) };
    }

    /** All lists, and the markets of the first vaults; by request. */
    async function askAll(asOf: AsOf = {}): Promise<{ lists: Lists; versions: DataVersion[] }> {
      const states = new Map<ProtocolId, Promise<HeadState>>();
      const handlers = createHandlers({
        ...{ store: ingest.store, chains, past },
        tables: {
          headState({ protocol }) {
            const state = states.get(protocol) ?? headState(protocol);
            states.set(protocol, state);
            return state;
          },
        },
      });
      const lists = new Map<string, readonly RowObject[]>();
      const versions: DataVersion[] = [];
      const ask = async (endpoint: Endpoint, query: string) => {
        const [name, value] = Object.entries(asOf)[0] ?? [];
        const at = name === undefined ? query : `${query}&${name}=${value}`;
        const answer = await callHandler(endpoint, handlers[endpoint.path] as never, at);
        lists.set(`${endpoint.path}?${query}`, rowsIn(endpoint, answer));
        if (answer.version !== undefined) versions.push(answer.version);
      };
      for (const endpoint of endpoints) {
        const { params } = endpoint;
        if (!("at_block" in params)) continue;
        if ("limit" in params) {
          const curator = "curator_address" in params ? `curator_address=${NO_VAULT}&` : "";
          await ask(endpoint, `${curator}limit=1000`);
        } else {
          const vaults = lists.get(`${endpoint.path.replace("vault/markets", "vaults")}?limit=1000`) ?? [];
          for (const { vaultAddress } of vaults.slice(0, 3))
            await ask(endpoint, `vault_address=${vaultAddress}`);
        }
      }
      return { lists, versions };
    }

    async function recordHead(): Promise<void> {
      const { blockHash, blockNumber: block, blockTime: time } = ingest.checkpoint();
      recorded.set(blockHash, { block, time, lists: (await askAll()).lists });
    }

    /** Blocks of some minutes, and now and then one in the last seconds of an hour. */
    async function grow(seed: number, blocks: number): Promise<void> {
      const random = createRandom(seed);
      const mine = busyMiner(chain);
      for (let i = 0; i < blocks; i++) {
        const now = (await chain.header(await chain.headNumber())).timestamp;
        const left = HOUR - 1 - (now % HOUR);
        await mine(random, {
          intervalS: random.next() < 0.3 && left > 0 ? left : random.pick([2, 60, 600, 1_500]),
        });
        await ingest.catchUp();
        await recordHead();
      }
    }

    /** Asks for every recorded block; returns how many were answered and refused. */
    async function expectRecorded(): Promise<{ answered: number; refused: number }> {
      const seen = { answered: 0, refused: 0 };
      const head = ingest.checkpoint().blockNumber;
      for (const { block } of recorded.values()) {
        const now = await askAll({ at_block: block }).catch((error: unknown) => error);
        if (now instanceof Error) {
          seen.refused += 1;
          await expectRefusal(now, block);
          continue;
        }
        const { lists, versions } = now as Awaited<ReturnType<typeof askAll>>;
        const [version] = versions as [DataVersion];
        expect(version.block).to.be.at.most(block);
        expect(version.head).to.equal(head);
        const then = recorded.get(version.blockHash ?? "");
        if (then === undefined) throw new Error(`Block ${version.block} was never the head.`);
        expectSameLists(then.lists, lists, `block ${version.block}, asked for ${block} of ${head}`);
        seen.answered += 1;
      }
      return seen;
    }

    async function expectRefusal(error: Error, block: number): Promise<void> {
      const { code, message } = error as ServiceError;
      expect(code, message).to.equal("not_found");
      const [, nearest] = /the last block before it that can be told is block (\d+) /.exec(message) ?? [];
      if (nearest === undefined) {
        expect(message).to.match(
          new RegExp(
            `^Cannot answer at_block: ${block} .*(no block before it can be told|first indexed block)`,
          ),
        );
        return;
      }
      const { versions } = await askAll({ at_block: Number(nearest) });
      expect(versions[0]?.block).to.equal(Number(nearest));
    }

    it("a block whose states are stored is answered as it was when it was the head, others are refused", async () => {
      await ingest.catchUp();
      await recordHead();
      await grow(11, BLOCKS);
      const seen = await expectRecorded();
      expect(seen.answered, "answered").to.be.greaterThan(2);
      expect(seen.refused, "refused").to.be.greaterThan(2);
    });

    it("the last second of an hour names the last block in it", async () => {
      const { blockTime } = ingest.checkpoint();
      let compared = 0;
      for (let end = GENESIS_S + HOUR - 1; end <= blockTime; end += HOUR) {
        const last = [...recorded.values()].filter(({ time }) => time <= end).at(-1);
        const { versions, lists } = await askAll({ at_time: end });
        expect(versions[0]?.block).to.be.at.most(last?.block ?? 0);
        const then = recorded.get(versions[0]?.blockHash ?? "");
        if (then !== undefined) expectSameLists(then.lists, lists, `time ${end}`);
        compared += 1;
      }
      expect(compared).to.be.greaterThan(2);
    });

    it("also after a reorg over the end of an hour, which may take states away", async () => {
      const mine = busyMiner(chain);
      const random = createRandom(5);
      for (let round = 0; round < 4; round++) {
        const now = (await chain.header(await chain.headNumber())).timestamp;
        // Changes late in the hour, some that replace them, and in the next hour the reorg that takes the latter.
        for (const intervalS of [HOUR + 3_300 - (now % HOUR), 100, 100, 110]) {
          await mine(random, { intervalS });
          await ingest.catchUp();
          await recordHead();
        }
        const head = ingest.checkpoint().blockNumber;
        await chain.reorg(2, { transactionsPerBlock: 0 });
        for (const [hash, { block }] of recorded) if (block > head - 2) recorded.delete(hash);
        await chain.mine(1, { intervalS: 100 });
        await ingest.catchUp();
        await recordHead();
      }
      const marks = await ingest.store.find(entityHistory, { filter: { chainId: 8453, kind: FORK_KIND } });
      expect(marks.length, "forks over the end of an hour are noted").to.equal(4);
      await grow(12, 2);
      expect((await expectRecorded()).answered).to.be.greaterThan(2);
    });

    it("without prices of the block USD are null, and the answer is not for long", async () => {
      const { blockNumber: number, blockHash: hash, blockTime: time } = ingest.checkpoint();
      await ingest.store.write([put(finalBlocks, [{ chainId: 8453, number, hash, time }])]);
      const whole = [...recorded.values()].find(({ block }) => block > 0 && block < number - 3);
      const at = { at_time: (whole?.time ?? 0) - ((whole?.time ?? 0) % HOUR) + HOUR - 1 };
      const fresh = () =>
        new PastTables({
          store: ingest.store,
          chains,
          prices,
          curators: CURATORS,
          staleSeconds: STALE_SECONDS,
        });
      past = fresh();
      const withPrices = await askAll(at);
      expect(withPrices.versions.every(({ isFinal }) => isFinal)).to.equal(true);
      keptFrom = number + 1;
      past = fresh();
      const without = await askAll(at);
      expect(without.versions.some(({ isFinal }) => isFinal)).to.equal(false);
      let priced = 0;
      for (const [request, rows] of without.lists)
        for (const [i, row] of rows.entries()) priced += expectNoUsd(row, withPrices.lists.get(request)?.[i]);
      expect(priced, "cells with prices").to.be.greaterThan(10);
    });
  },
);

/** Returns how many cells had a price where there were prices. */
function expectNoUsd(row: RowObject, priced: RowObject | undefined): number {
  const names = Object.keys(row).filter((name) => /Usd$/.test(name));
  for (const name of names) expect(row[name], name).to.be.oneOf([null, 0]);
  return names.filter((name) => typeof priced?.[name] === "number").length;
}

/** Interest may be rounded once more or less. */
function expectSameLists(then: Lists, now: Lists, label: string): void {
  expect([...now.keys()], label).to.deep.equal([...then.keys()]);
  for (const [request, rows] of then) {
    const found = now.get(request) ?? [];
    expect(found.length, `${label}: ${request}`).to.equal(rows.length);
    for (const [i, row] of rows.entries())
      for (const [column, value] of Object.entries(row)) {
        const cell = found[i]?.[column];
        const where = `${label}: ${request} ${i} ${column}`;
        if (typeof value !== "number" || typeof cell !== "number") expect(cell, where).to.deep.equal(value);
        else expect(cell, where).to.be.closeTo(value, Math.abs(value) * 1e-6 + 1e-12);
      }
  }
}
