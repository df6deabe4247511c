import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { COLLECTIONS as ofEvmDex } from "../../services/evm-dex/store/collections.ts";
import { COLLECTIONS as ofLending } from "../../services/lending/store/collections.ts";
import {
  deleteIndex,
  finishReindex,
  isReindexRunning,
  partsOfIndex,
  reindexes,
} from "../../services/shared/ingest/reindex.ts";
import { ingestStatus } from "../../services/shared/ingest-status/status-row.ts";
import { type Collection, collection } from "../../services/shared/storage/collection.ts";
import { acquireLease, leases } from "../../services/shared/storage/lease.ts";
import type { Store, WriteStep } from "../../services/shared/storage/port.ts";
import { describeOnEngines } from "../../services/shared/storage/testkit/engines.ts";
import { COLLECTIONS as ofSolana } from "../../services/solana/store/collections.ts";
import { indexesOf, type ServiceIndex } from "./indexes.ts";
import { countIndex, IngestRuns, isEmpty, reindexStore } from "./reindex.ts";
import { countRows, fillChain } from "./test/rows.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Collections of services that hold nothing of a chain, and why. */
const NOT_BY_CHAIN: Readonly<Record<string, string>> = {
  leases: "who indexes, by lease; its tokens only ever grow",
  reindexes: "the marker of the deletion itself",
  history_chunks: "in files beside the store, which the next index deletes",
};
/** What each service's ingest writes. */
const evmDex = [...ofEvmDex, ingestStatus];
const lending = [...ofLending, ingestStatus];
const solana = [...ofSolana, ingestStatus];
const SERVICES: readonly (readonly [string, readonly Collection[]])[] = [
  ["evm-dex", evmDex],
  ["lending", lending],
  ["solana", solana],
];

/** Names of all collections that code of services declares, tests aside. */
function declaredInSources(): string[] {
  const files = readdirSync(join(ROOT, "services"), { recursive: true, encoding: "utf8" });
  const isProduct = (file: string) =>
    file.endsWith(".ts") && !/(\.test|\.bench)\.ts$|\/(test|suite|testkit)\/|testkit\.ts$/.test(file);
  return files.filter(isProduct).flatMap((file) => {
    const text = readFileSync(join(ROOT, "services", file), "utf8");
    return [...text.matchAll(/= collection\(\{\s*name: "([^"]+)"/g)].map(([, name]) => name as string);
  });
}

describe("the collections of an index", () => {
  it("are all that services declare, or are named as not by chain", () => {
    const declared = declaredInSources();
    expect(declared).to.include.members(["checkpoints", "final_blocks", "leases"]);
    const deleted = [...indexesOf("8453"), ...indexesOf("solana")].flatMap(({ parts }) =>
      parts.map((part) => part.collection.name),
    );
    const forgotten = declared.filter((name) => !deleted.includes(name) && !(name in NOT_BY_CHAIN));
    expect(forgotten).to.deep.equal([]);
  });

  it("begin with the checkpoint, and differ by chain", () => {
    for (const chain of ["8453", "1", "solana"] as const)
      for (const { parts } of indexesOf(chain)) {
        expect(parts[0]?.collection.name).to.equal("checkpoints");
        for (const { filter } of parts)
          expect(filter).to.deep.equal(chain === "solana" ? {} : { chainId: Number(chain) });
      }
    const chainless = collection({
      ...{ name: "chainless", fields: { id: "text" }, key: ["id"], indexes: [], shardKey: ["id"] },
    });
    expect(() => partsOfIndex([chainless], 1)).to.throw(TypeError, "chainless");
  });
});

/** A process that is killed after so many steps of writes, as on MongoDB, where steps are not one transaction. */
function killedAfter(store: Store, steps: number): Store {
  let left = steps;
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== "write") return typeof value === "function" ? value.bind(target) : value;
      return async (given: readonly WriteStep[]) => {
        for (const step of given) {
          if (left-- <= 0) throw new Error("killed");
          await target.write([step]);
        }
      };
    },
  });
}

describeOnEngines(
  (engine) => `reindex on ${engine}`,
  {},
  (engine) => {
    let opened: Awaited<ReturnType<typeof engine.open>>;
    let store: Store;
    beforeEach(async () => {
      opened = await engine.open();
      store = opened.store;
    });
    afterEach(() => opened.remove());

    for (const [service, collections] of SERVICES) {
      const chain = service === "solana" ? "solana" : "8453";
      const index = indexesOf(chain).find((each) => each.service === service) as ServiceIndex;
      const own = service === "solana" ? {} : { chainId: 8453 };

      it(`deletes all of ${service}'s index of a chain, and nothing else`, async () => {
        await fillChain(store, { collections, chainId: 8453, count: 30 });
        if (service !== "solana") await fillChain(store, { collections, chainId: 1, count: 20 });
        const other = await countRows(store, { collections, chainId: 1 });
        const lease = await acquireLease(store, { name: "another", holder: "me", ttlMs: 60_000 });
        const target = { store, index, isOfOtherVersion: false, name: "here", reclaim: async () => 7 };
        const before = await countIndex(target);
        expect(before.rows).to.deep.equal(await countRows(store, { collections, ...own }));
        expect(await reindexStore(target, 10_000)).to.equal(7);
        expect(isEmpty(await countIndex(target))).to.equal(true);
        if (service !== "solana")
          expect(await countRows(store, { collections, chainId: 1 })).to.deep.equal(other);
        expect(await store.get(leases, { name: "another" })).to.include({ holder: "me" });
        expect(await store.count(reindexes, {})).to.equal(0);
        await lease?.release();
      });

      it(`leaves ${service}'s index whole or marked wherever it is killed, and then finishes`, async () => {
        await fillChain(store, { collections, chainId: 8453, count: 3 });
        const all = await countRows(store, { collections, ...own });
        let killed = 0;
        for (let steps = 0; ; steps++) {
          const deletion = { store: killedAfter(store, steps), index, guard: () => [] };
          const error = await deleteIndex(deletion).catch((reason: unknown) => reason);
          if (error === undefined) break;
          killed += 1;
          const rows = await countRows(store, { collections, ...own });
          const isWhole = JSON.stringify(rows) === JSON.stringify(all);
          expect(isWhole || (rows.checkpoints === 0 && (await isReindexRunning(store, index)))).to.equal(
            true,
          );
          const isMarked = await isReindexRunning(store, index);
          expect(await finishReindex({ store, index, guard: () => [] })).to.equal(isMarked);
          if (isMarked) {
            const left = Object.values(await countRows(store, { collections, ...own }));
            expect(left.every((count) => count === 0)).to.equal(true);
          }
          await fillChain(store, { collections, chainId: 8453, count: 3 });
        }
        // The marker, a step for each collection at least, and the marker again.
        expect(killed).to.be.greaterThan(collections.length);
        expect(await finishReindex({ store, index, guard: () => [] })).to.equal(false);
      });
    }

    it("is refused while an ingest holds the lease, by name, and ends where it loses its own", async () => {
      const [index] = indexesOf("8453", "lending");
      if (index === undefined) throw new Error("no index");
      await fillChain(store, { collections: lending, chainId: 8453, count: 3 });
      const before = await countRows(store, { collections: lending });
      const lease = await acquireLease(store, { name: index.name, holder: "ingest-7", ttlMs: 2_000 });
      const target = { store, index, isOfOtherVersion: false, name: "here", reclaim: async () => 0 };
      const refused = await reindexStore(target, 2_000).catch((e: unknown) => e);
      expect(refused).to.be.instanceOf(IngestRuns);
      expect(String(refused)).to.contain("lending-ingest-8453 (ingest-7)");
      expect(await countRows(store, { collections: lending })).to.deep.equal(before);
      const guard = () => (lease === undefined ? [] : [lease.guard()]);
      await lease?.release();
      const next = await acquireLease(store, { name: index.name, holder: "ingest-8", ttlMs: 60_000 });
      const fenced = await deleteIndex({ store, index, guard }).catch((e: unknown) => e);
      expect(String(fenced)).to.contain("Cannot write");
      expect(await countRows(store, { collections: lending })).to.deep.equal(before);
      await next?.release();
    });
  },
);
