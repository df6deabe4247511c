import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import type { Hex } from "../../../services/shared/evm/port.ts";
import type { Store } from "../../../services/shared/storage/port.ts";
import { createManualClock } from "../../testkit/clock.ts";
import { type OpenedStore, TEST_STORES } from "../../testkit/stores.ts";
import { type JanitorRound, type Ledger, type OpenCursor, openLedger } from "./ledger.ts";
import { type PaymentRecord, paidAnswersCollection, paymentsCollection } from "./payment-record.ts";

const TX: Hex = `0x${"ab".repeat(32)}`;
const ANSWER = {
  body: Buffer.from(JSON.stringify({ rows: 1, data: ["é", "x".repeat(100_000)] })),
  headers: { etag: 'W/"1"' },
};

for (const [engine, open] of Object.entries(TEST_STORES)) {
  describe(`payment ledger on ${engine}${open ? "" : " (pending: MONGODB_URL is not set)"}`, () => {
    const clock = createManualClock();
    let opened: OpenedStore | undefined;
    let store: Store;
    let ledger: Ledger;
    let other: Ledger;
    let count = 0;

    before(async function () {
      if (!open) {
        this.skip();
        return;
      }
      opened = await open();
      store = opened.store;
      const options = { clock, answersKeptMs: 60_000 };
      ledger = await openLedger(store, options);
      // Another gateway.
      other = await openLedger(store, options);
    });
    after(() => opened?.close());

    const recordOf = (changes: Partial<PaymentRecord> = {}): PaymentRecord => {
      count += 1;
      return {
        key: `eip155:8453:0xa:0xb:${count}`,
        state: "open",
        payer: "0xpayer",
        nonce: `0x${count}`,
        resource: `https://pay.example/${count}`,
        path: "/a",
        network: "eip155:8453",
        asset: "0xa",
        payTo: "0xtill",
        amount: "50000",
        identifier: null,
        payload: { x402Version: 2 } as PaymentRecord["payload"],
        requirements: { scheme: "exact" } as PaymentRecord["requirements"],
        fromBlock: 7,
        validBefore: 2_000_000_000,
        transaction: null,
        reason: null,
        session: "s",
        createdAt: clock.nowMs() + count,
        settledAt: null,
        deliveredAt: null,
        ...changes,
      };
    };

    it("opens a record once, whichever gateway is first", async () => {
      const record = recordOf();
      const won = await Promise.all([ledger.open(record), other.open(record)]);
      expect(won.sort()).to.deep.equal([false, true]);
      expect(await other.find(record.key)).to.deep.equal(record);
      expect(await ledger.find("another")).to.equal(undefined);
    });

    it("leads a record from open to settled to delivered, each once", async () => {
      const record = recordOf();
      await ledger.open(record);
      clock.advance(1_000);
      const settled = await ledger.markSettled(record, TX);
      expect(settled).to.deep.include({ state: "settled", transaction: TX, settledAt: clock.nowMs() });
      const settledAt = clock.nowMs();
      clock.advance(1_000);
      // Another gateway that finds the same out later changes nothing.
      expect(await other.markSettled(record, TX)).to.include({ settledAt });
      expect(await other.markVoid(record, "late")).to.include({ state: "settled" });
      const delivered = await ledger.markDelivered(settled);
      expect(delivered.deliveredAt).to.equal(clock.nowMs());
      clock.advance(1_000);
      expect(await other.markDelivered(settled)).to.include({ deliveredAt: clock.nowMs() - 1_000 });
    });

    it("settles a void record where the chain has the transfer after all", async () => {
      const record = recordOf();
      await ledger.open(record);
      expect(await ledger.markVoid(record, "expired")).to.include({ state: "void", reason: "expired" });
      expect(await other.markSettled(record, TX)).to.include({ state: "settled", reason: null });
    });

    it("discards payments that no facilitator has received, and nothing else", async () => {
      const [open, settled] = [recordOf(), recordOf()];
      await ledger.open(open);
      await ledger.storeResponse(open, ANSWER);
      await ledger.open(settled);
      await ledger.markSettled(settled, TX);
      await ledger.discard(open);
      await ledger.discard(settled);
      expect(await ledger.find(open.key)).to.equal(undefined);
      expect(await ledger.findResponse(open)).to.equal(undefined);
      expect(await ledger.find(settled.key)).to.include({ state: "settled" });
    });

    it("lists what a payer has paid for and not received, oldest first", async () => {
      const resource = "https://pay.example/owed";
      const [first, second, had, gone, ofOther] = [
        recordOf({ resource }),
        recordOf({ resource }),
        recordOf({ resource }),
        recordOf({ resource }),
        recordOf({ resource, payer: "0xother" }),
      ];
      for (const record of [second, first, had, gone, ofOther]) await ledger.open(record);
      await ledger.markSettled(second, TX);
      await ledger.markDelivered(await ledger.markSettled(had, TX));
      await ledger.markVoid(gone, "expired");
      const owed = await ledger.findOwed("0xpayer", resource);
      expect(owed.map(({ key, state }) => [key, state])).to.deep.equal([
        [first.key, "open"],
        [second.key, "settled"],
      ]);
    });

    it("finds the latest payment with an identifier that is not void, delivered or not", async () => {
      const identifier = "pay_0123456789abcdef";
      const [early, late, last] = [
        recordOf({ identifier }),
        recordOf({ identifier }),
        recordOf({ identifier }),
      ];
      for (const record of [early, late, last]) await ledger.open(record);
      await ledger.markDelivered(await ledger.markSettled(late, TX));
      await ledger.markVoid(last, "expired");
      expect((await ledger.findByIdentifier("0xpayer", identifier))?.key).to.equal(late.key);
      expect(await ledger.findByIdentifier("0xother", identifier)).to.equal(undefined);
    });

    it("stores responses to the byte, for the configured time", async () => {
      const record = recordOf();
      await ledger.storeResponse(record, ANSWER);
      expect(await other.findResponse(record)).to.deep.equal(ANSWER);
      clock.advance(59_000);
      expect(await other.findResponse(record)).to.deep.equal(ANSWER);
      clock.advance(2_000);
      expect(await ledger.findResponse(record)).to.equal(undefined);
      await ledger.clean({ voidBeforeMs: 0 });
      expect(await store.count(paidAnswersCollection, { key: record.key })).to.equal(0);
    });

    it("deletes old void payments, and lists the others, newest first", async () => {
      const old = recordOf({ createdAt: 5 });
      await ledger.open(old);
      await ledger.markVoid(old, "expired");
      const settled = recordOf({ createdAt: 6 });
      await ledger.open(settled);
      await ledger.markSettled(settled, TX);
      await ledger.clean({ voidBeforeMs: 1_000 });
      const all = await ledger.list({ limit: 1_000 });
      expect(all.map(({ key }) => key))
        .to.include(settled.key)
        .and.not.include(old.key);
      const times = all.map(({ createdAt }) => createdAt);
      expect(times).to.deep.equal([...times].sort((a, b) => b - a));
      expect(await ledger.list({ limit: 2 })).to.have.length(2);
      for (const { state } of await ledger.list({ limit: 100, state: "open" }))
        expect(state).to.equal("open");
      expect(await ledger.findOpen({ beforeMs: 6, after: undefined, limit: 10 })).to.have.length(0);
    });

    it("takes a delivery back, unless it has been delivered again meanwhile", async () => {
      const resource = "https://pay.example/taken-back";
      const record = recordOf({ resource });
      await ledger.open(record);
      clock.advance(1_000);
      const first = await ledger.markDelivered(await ledger.markSettled(record, TX));
      const [owed] = [await ledger.markOwed(first)];
      expect(owed.deliveredAt).to.equal(null);
      expect(await other.findOwed("0xpayer", resource)).to.have.length(1);
      clock.advance(1_000);
      await other.markDelivered(owed);
      expect((await ledger.markOwed(first)).deliveredAt).to.equal(clock.nowMs());
      expect(await ledger.findOwed("0xpayer", resource)).to.have.length(0);
    });

    it("lists what is owed: settled and not delivered", async () => {
      const [owed, had] = [recordOf(), recordOf()];
      for (const record of [owed, had]) await ledger.open(record);
      await ledger.markSettled(owed, TX);
      await ledger.markDelivered(await ledger.markSettled(had, TX));
      const keys = (await ledger.list({ limit: 1_000, state: "owed" })).map(({ key }) => key);
      expect(keys).to.include(owed.key).and.not.include(had.key);
    });

    it("goes through open payments from a cursor on, also where many were opened at the same moment", async () => {
      const createdAt = 1_000;
      const records = Array.from({ length: 7 }, () => recordOf({ createdAt }));
      for (const record of records) await ledger.open(record);
      const seen: string[] = [];
      for (let after: OpenCursor | undefined; ; ) {
        const page = await ledger.findOpen({ beforeMs: 1_001, after, limit: 3 });
        if (page.length === 0) break;
        seen.push(...page.map(({ key }) => key));
        after = page.at(-1);
      }
      expect(seen.sort()).to.deep.equal(records.map(({ key }) => key).sort());
      expect(await ledger.countOpen(1_001)).to.equal(7);
    });

    it("grants a round to one of several gateways, and to another one when its time is over", async () => {
      const nowMs = 10_000;
      const taken = await Promise.all(
        [ledger, other].map((one) => one.takeRound({ nowMs, untilMs: nowMs + 100 })),
      );
      const [round] = taken.filter((one) => one !== undefined);
      expect(taken.filter((one) => one !== undefined)).to.have.length(1);
      expect(round?.cursor).to.equal(undefined);
      expect(await other.takeRound({ nowMs: nowMs + 50, untilMs: nowMs + 200 })).to.equal(undefined);
      const cursor = { createdAt: 5, key: "k" };
      await ledger.endRound(round as JanitorRound, { cursor, untilMs: nowMs + 60 });
      const next = await other.takeRound({ nowMs: nowMs + 60, untilMs: nowMs + 200 });
      expect(next?.cursor).to.deep.equal(cursor);
      // It died in its round; its late end changes nothing.
      const late = await ledger.takeRound({ nowMs: nowMs + 201, untilMs: nowMs + 300 });
      expect(late?.cursor).to.deep.equal(cursor);
      await other.endRound(next as JanitorRound, { cursor: undefined, untilMs: nowMs });
      expect(await other.takeRound({ nowMs: nowMs + 250, untilMs: nowMs + 400 })).to.equal(undefined);
    });

    it("reads by indexes", async () => {
      const order = [{ field: "createdAt", direction: "asc" }] as const;
      const filters = [
        { payer: "0xpayer", resource: "r", deliveredAt: null, state: { in: ["open", "settled"] } },
        { payer: "0xpayer", identifier: "i" },
        { state: "open", createdAt: { lt: 5 } },
      ];
      for (const filter of filters) {
        expect(await store.plan(paymentsCollection, { filter, order })).not.to.equal("scan");
      }
    });
  });
}
