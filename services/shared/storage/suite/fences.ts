import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { collection } from "../collection.ts";
import { acquireLease, claimRow, guardedPut, type Lease, leases } from "../lease.ts";
import { ConflictError, claim, put, putFenced, type Store } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";

const checkpoints = collection({
  name: "checkpoints",
  fields: { chainId: "int", block: "int", hash: "text?" },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});
const KEY = { chainId: 1 };
const at = (block: number) => ({ ...KEY, block, hash: block % 2 === 0 ? "even" : null });
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

export function describeFences(options: SuiteOptions): void {
  describe("fences", () => {
    const fixture = useStore(options, [checkpoints, leases]);
    let clockMs: number;
    let held: Lease[];

    beforeEach(() => {
      clockMs = 1_700_000_000_000;
      held = [];
    });
    afterEach(async () => {
      for (const lease of held) await lease.release();
    });

    /** Takes the lease, from whoever holds it. */
    const lead = async (store: Store, holder: string): Promise<Lease> => {
      const lease = await acquireLease(store, {
        name: "ingest",
        holder,
        ttlMs: 3_600_000,
        pollMs: 2,
        // An hour passes between any two looks: whoever has it is silent for too long.
        now: () => (clockMs += 3_600_000),
      });
      if (lease === undefined) throw new Error("the waiting was ended");
      held.push(lease);
      return lease;
    };
    /** What a leader is about to send when it is paused: its guard has passed. */
    const inFlight = (lease: Lease, block: number) => [
      putFenced(checkpoints, at(block), { token: lease.token, guard: lease.guard() }),
    ];
    const stored = (store: Store) => store.get(checkpoints, KEY);

    it("let the holder of the lease write its row again and again, whole", async () => {
      const { store } = fixture;
      const lease = await lead(store, "one");
      for (const block of [1, 2, 3]) {
        await store.write([...guardedPut(() => [lease.guard()], checkpoints, at(block))]);
        expect(await stored(store)).to.deep.equal(at(block));
        expect(await store.find(checkpoints, {})).to.deep.equal([at(block)]);
      }
    });

    it("keep the checkpoint of the leader from one that was paused before its write", async () => {
      const { store } = fixture;
      const paused = await lead(store, "paused");
      await store.write(inFlight(paused, 1));
      const late = inFlight(paused, 2);
      const next = await lead(store, "next");
      await store.write(guardedPut(() => [next.guard()], checkpoints, at(3)));
      expect(await failureOf(store.write(late))).to.be.instanceOf(ConflictError);
      expect(await stored(store)).to.deep.equal(at(3));
    });

    it("keep it before the next leader has written anything: its claim is enough", async () => {
      const { store } = fixture;
      const paused = await lead(store, "paused");
      await store.write(inFlight(paused, 1));
      const late = inFlight(paused, 2);
      const next = await lead(store, "next");
      await claimRow(store, () => [next.guard()], { target: checkpoints, key: KEY });
      const read = await stored(store);
      expect(read, "a claim changes nothing").to.deep.equal(at(1));
      expect(await failureOf(store.write(late))).to.be.instanceOf(ConflictError);
      expect(await stored(store)).to.deep.equal(read);
      await store.write(guardedPut(() => [next.guard()], checkpoints, at(3)));
      expect(await stored(store)).to.deep.equal(at(3));
    });

    it("refuse the claim of one that was paused, and allow that of a row that does not exist", async () => {
      const { store } = fixture;
      const paused = await lead(store, "paused");
      const fence = { token: paused.token, guard: paused.guard() };
      await store.write([claim(checkpoints, KEY, fence)]);
      expect(await stored(store)).to.equal(undefined);
      const next = await lead(store, "next");
      await store.write(guardedPut(() => [next.guard()], checkpoints, at(3)));
      expect(await failureOf(store.write([claim(checkpoints, KEY, fence)]))).to.be.instanceOf(ConflictError);
    });

    it("apply no step after a put that is too late", async () => {
      const { store } = fixture;
      const paused = await lead(store, "paused");
      const late = [...inFlight(paused, 2), put(checkpoints, [{ chainId: 2, block: 2, hash: null }])];
      const next = await lead(store, "next");
      await store.write(guardedPut(() => [next.guard()], checkpoints, at(3)));
      expect(await failureOf(store.write(late))).to.be.instanceOf(ConflictError);
      expect(await store.find(checkpoints, {})).to.deep.equal([at(3)]);
    });

    it("are the same rows without a lease, as tests write them", async () => {
      const { store } = fixture;
      await store.write(guardedPut(() => [], checkpoints, at(1)));
      await claimRow(store, () => [], { target: checkpoints, key: KEY });
      expect(await stored(store)).to.deep.equal(at(1));
    });
  });
}
