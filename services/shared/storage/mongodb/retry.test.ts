import { expect } from "chai";
import { describe, it } from "mocha";
import { isStoreAway } from "../away.ts";
import { StoreAwayError } from "../port.ts";
import { isTransient, markAway, retry, wasNeverSent } from "./retry.ts";

const named = (name: string, more: object = {}): Error => Object.assign(new Error(name), { name, ...more });
/** Fails with each error in turn, then returns how often it was called. */
function failing(...errors: Error[]): () => Promise<number> {
  let calls = 0;
  return async () => {
    const error = errors[calls++];
    if (error !== undefined) throw error;
    return calls;
  };
}

describe("mongodb retry", () => {
  const pausesMs = [1, 1, 1];
  const retryTransient = (work: () => Promise<number>): Promise<number> =>
    retry(work, isTransient, { pausesMs });
  const lost = named("MongoNetworkError");

  it("repeats what a lost connection or a change of primary ended", async () => {
    for (const error of [
      lost,
      named("MongoServerSelectionError"),
      named("PoolClearedOnNetworkError"),
      named("MongoServerError", { code: 10107 }),
      named("MongoServerError", { code: 1, errorLabels: ["RetryableWriteError"] }),
      named("MongoBulkWriteError", { errorResponse: lost }),
      named("Error", { code: "EPIPE" }),
    ]) {
      expect(await retryTransient(failing(error, error))).to.equal(3);
    }
  });

  it("passes every other error at once", async () => {
    for (const error of [
      named("MongoServerError", { code: 11000 }),
      new TypeError("wrong"),
      named("MongoBulkWriteError", { code: 121 }),
    ]) {
      expect(isTransient(error)).to.equal(false);
      expect(await retryTransient(failing(error)).catch((reason: unknown) => reason)).to.equal(error);
    }
  });

  it("marks as the store's what says that the server is away, and nothing else", async () => {
    const duplicate = named("MongoServerError", { code: 11000 });
    const marked = await markAway(Promise.reject(lost)).catch((error: unknown) => error);
    expect(marked).to.be.instanceOf(StoreAwayError).and.include({ message: lost.message, cause: lost });
    expect(await markAway(Promise.reject(duplicate)).catch((error: unknown) => error)).to.equal(duplicate);
    expect(await markAway(Promise.resolve(7))).to.equal(7);
    expect(isStoreAway(new Error("Cannot read", { cause: marked }))).to.equal(true);
    // What it looks like does not count: sockets of RPC endpoints and of Redis fail in the same words.
    for (const other of [lost, named("Error", { code: "ECONNREFUSED" }), duplicate, undefined])
      expect(isStoreAway(other)).to.equal(false);
  });

  it("distinguishes what was never sent from what may have been done", () => {
    expect(wasNeverSent(named("MongoServerSelectionError"))).to.equal(true);
    expect(
      wasNeverSent(named("MongoBulkWriteError", { errorResponse: named("MongoServerSelectionError") })),
    ).to.equal(true);
    expect(wasNeverSent(lost)).to.equal(false);
    expect(wasNeverSent(undefined)).to.equal(false);
  });

  it("gives up after four attempts, with the last error", async () => {
    const last = named("MongoNetworkError");
    expect(await retryTransient(failing(lost, lost, lost, last)).catch((reason: unknown) => reason)).to.equal(
      last,
    );
    expect(await retryTransient(failing(lost, lost, lost))).to.equal(4);
  });
});
