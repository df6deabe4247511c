import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import type { Store } from "../../../services/shared/storage/port.ts";
import { createManualClock } from "../../testkit/clock.ts";
import { type OpenedStore, TEST_STORES } from "../../testkit/stores.ts";
import { hashApiKey, isWellFormedApiKey } from "./api-key.ts";
import { keysCollection } from "./key-record.ts";
import { InvalidKeyChange } from "./key-rows.ts";
import { type KeyStore, openKeyStore } from "./key-store.ts";

const DAY = { overlapSeconds: 86_400 };

for (const [engine, open] of Object.entries(TEST_STORES)) {
  describe(`key store on ${engine}${open ? "" : " (pending: MONGODB_URL is not set)"}`, () => {
    const clock = createManualClock();
    let opened: OpenedStore | undefined;
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

    it("revokes a key once under concurrent calls", async () => {
      const { record } = await keys.create({ label: "c", scopes: [] });
      const answers = await Promise.all(Array.from({ length: 10 }, () => keys.revoke(record.id)));
      for (const answer of answers) expect(answer?.revokedAt).to.equal(clock.nowMs() / 1000);
    });

    it("stores a key's settings, and changes those named", async () => {
      const limits = { ratePerSecond: 0.5, burst: 5, dailyQuota: 0 };
      const { record } = await keys.create({
        label: "m",
        scopes: ["solana"],
        owner: "acme",
        note: "n",
        limits,
      });
      expect(record).to.deep.include({
        owner: "acme",
        note: "n",
        limits,
        subject: record.id,
        rotatedTo: null,
      });
      const expiresAt = clock.nowMs() / 1000 + 60;
      const changed = await keys.change(record.id, {
        note: null,
        scopes: ["lending"],
        expiresAt,
        limits: { burst: null },
      });
      expect(changed).to.deep.equal({
        ...record,
        note: null,
        scopes: ["lending"],
        expiresAt,
        limits: { ...limits, burst: null },
      });
      expect(await keys.find(record.id)).to.deep.equal(changed);
      expect(await keys.change("key_nobody", { label: "x" })).to.equal(undefined);
    });

    it("suspends and resumes, but not what is revoked", async () => {
      const { record } = await keys.create({ label: "s", scopes: [] });
      const suspendedAt = clock.nowMs() / 1000;
      expect(await keys.suspend(record.id)).to.deep.equal({ ...record, suspendedAt });
      clock.advance(1_000);
      expect(await keys.suspend(record.id)).to.deep.equal({ ...record, suspendedAt });
      expect(await keys.resume(record.id)).to.deep.equal(record);
      expect(await keys.resume(record.id)).to.deep.equal(record);
      await keys.revoke(record.id);
      const changes = [
        () => keys.suspend(record.id),
        () => keys.resume(record.id),
        () => keys.rotate(record.id, DAY),
      ];
      for (const change of changes)
        expect(await change().catch((error) => error)).to.be.instanceOf(InvalidKeyChange);
      expect(await keys.suspend("key_nobody")).to.equal(undefined);
    });

    it("rotates: another key of the same settings and subject, and an end for the old one", async () => {
      const wanted = { label: "r", scopes: ["solana"] as const, owner: "acme", limits: { burst: 5 } };
      const life = 30 * 86_400;
      const nowSeconds = clock.nowMs() / 1000;
      const first = await keys.create({ ...wanted, expiresAt: nowSeconds + life });
      clock.advance(1_000_000);
      const second = await keys.rotate(first.record.id, DAY);
      if (!second) throw new Error("the key is gone");
      expect(second.old).to.deep.equal({
        ...first.record,
        expiresAt: nowSeconds + 1_000 + 86_400,
        rotatedTo: second.record.id,
      });
      expect(await keys.findByHash(hashApiKey(first.key))).to.deep.equal(second.old);
      expect(second.key).not.to.equal(first.key);
      expect(await keys.findByHash(hashApiKey(second.key))).to.deep.equal(second.record);
      expect(second.record).to.deep.equal({
        ...first.record,
        id: second.record.id,
        hash: hashApiKey(second.key),
        createdAt: nowSeconds + 1_000,
        expiresAt: nowSeconds + 1_000 + life,
      });
      expect(second.record.subject).to.equal(first.record.id);

      const third = await keys.rotate(second.record.id, { overlapSeconds: 0, expiresAt: null });
      expect(third?.record).to.include({ subject: first.record.id, expiresAt: null });
      expect(third?.old.expiresAt).to.equal(clock.nowMs() / 1000);
      expect(await keys.rotate("key_nobody", DAY)).to.equal(undefined);
    });

    it("rotates a key once, also under concurrent calls, and one that ends before the overlap", async () => {
      const expiresAt = clock.nowMs() / 1000 + 100;
      const { record } = await keys.create({ label: "race", scopes: [], expiresAt });
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => keys.rotate(record.id, DAY).catch((error) => error)),
      );
      expect(answers.filter((answer) => answer instanceof InvalidKeyChange)).to.have.length(7);
      const [rotated] = answers.filter((answer) => !(answer instanceof Error));
      expect(rotated.old).to.include({ expiresAt: expiresAt - 1, rotatedTo: rotated.record.id });
      const all = await keys.list();
      expect(all.filter(({ label }) => label === "race").map(({ id }) => id)).to.have.members([
        record.id,
        rotated.record.id,
      ]);
    });

    it("never undoes a revocation by another change at the same time", async () => {
      for (let round = 0; round < 5; round += 1) {
        const { record } = await keys.create({ label: "u", scopes: [] });
        const others = [
          keys.suspend(record.id),
          keys.change(record.id, { note: "x" }),
          keys.rotate(record.id, DAY),
          keys.resume(record.id),
        ];
        await Promise.all([keys.revoke(record.id), ...others.map((each) => each.catch(() => {}))]);
        expect((await keys.find(record.id))?.revokedAt).to.equal(clock.nowMs() / 1000);
      }
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
