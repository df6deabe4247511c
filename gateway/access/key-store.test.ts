import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import type { Store } from "../../services/shared/storage/port.ts";
import { openSqliteStore } from "../../services/shared/storage/sqlite.ts";
import { createManualClock } from "../testkit/clock.ts";
import { hashApiKey, isWellFormedApiKey } from "./api-key.ts";
import { keysCollection } from "./key-record.ts";
import { type KeyStore, openKeyStore } from "./key-store.ts";

const { MONGODB_URL } = process.env;

interface Opened {
  readonly store: Store;
  /** Leaves nothing behind. */
  close(): Promise<void>;
}

const engines: Record<string, (() => Promise<Opened>) | undefined> = {
  sqlite: async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    return { store, close: () => store.close() };
  },
  mongodb: MONGODB_URL ? () => openTestMongo(MONGODB_URL) : undefined,
};

async function openTestMongo(url: string): Promise<Opened> {
  const { openMongoStore } = await import("../../services/shared/storage/mongodb.ts");
  const database = `chaintables_test_${randomUUID().slice(0, 8)}`;
  const store = await openMongoStore({ url, database });
  const close = async () => {
    await store.close();
    const { MongoClient } = await import("mongodb");
    const client = new MongoClient(url);
    await client.db(database).dropDatabase();
    await client.close();
  };
  return { store, close };
}

for (const [engine, open] of Object.entries(engines)) {
  describe(`key store on ${engine}${open ? "" : " (pending: MONGODB_URL is not set)"}`, () => {
    const clock = createManualClock();
    let opened: Opened | undefined;
    let store: Store;
    let keys: KeyStore;

    before(async function () {
      if (!open) {
        this.skip();
        return;
      }
      opened = await open();
      store = opened.store;
      keys = await openKeyStore(store, clock);
    });
    after(() => opened?.close());

    it("finds a created key by its hash and stores the key nowhere", async () => {
      const { key, record } = await keys.create({ label: "a", scopes: ["solana"] });
      expect(isWellFormedApiKey(key)).to.equal(true);
      expect(await keys.findByHash(hashApiKey(key))).to.deep.equal(record);
      expect(record).to.deep.include({
        label: "a",
        scopes: ["solana"],
        expiresAt: null,
        revokedAt: null,
        suspendedAt: null,
      });
      expect(record.createdAt).to.equal(clock.nowMs() / 1000);
      expect(JSON.stringify(await store.find(keysCollection, {}))).not.to.contain(key.slice(3, 46));
      expect(await keys.findByHash(hashApiKey("another"))).to.equal(undefined);
    });

    it("lists keys, oldest first", async () => {
      clock.advance(1_000);
      const expiresAt = clock.nowMs() / 1000 + 60;
      const { record } = await keys.create({ label: "later", scopes: ["lending"], expiresAt });
      const listed = await keys.list();
      expect(listed.at(-1)).to.deep.equal(record);
      expect(listed.at(-1)?.expiresAt).to.equal(expiresAt);
      expect(listed.map(({ label }) => label)).to.deep.equal(["a", "later"]);
    });

    it("revokes by id, once: the first time stays, and so does everything else", async () => {
      const { key, record } = await keys.create({ label: "b", scopes: ["evm-dex"] });
      clock.advance(5_000);
      const revokedAt = clock.nowMs() / 1000;
      expect(await keys.revoke(record.id)).to.deep.equal({ ...record, revokedAt });
      clock.advance(5_000);
      expect(await keys.revoke(record.id)).to.deep.equal({ ...record, revokedAt });
      expect(await keys.findByHash(hashApiKey(key))).to.deep.equal({ ...record, revokedAt });
      expect(await keys.revoke("key_nobody")).to.equal(undefined);
    });

    it("revokes one key once when many ask at the same time", async () => {
      const { record } = await keys.create({ label: "c", scopes: [] });
      const answers = await Promise.all(Array.from({ length: 10 }, () => keys.revoke(record.id)));
      for (const answer of answers) expect(answer?.revokedAt).to.equal(clock.nowMs() / 1000);
    });

    it("grants no scope it does not know", async () => {
      const { key } = await keys.create({ label: "d", scopes: ["solana", "admin" as "solana"] });
      expect((await keys.findByHash(hashApiKey(key)))?.scopes).to.deep.equal(["solana"]);
    });

    it("reads by key and by id through an index", async () => {
      for (const filter of [{ hash: "x" }, { id: "x" }]) {
        expect(await store.plan(keysCollection, { filter })).to.be.oneOf(["index", "unknown"]);
      }
    });
  });
}
