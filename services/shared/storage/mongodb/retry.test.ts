import { expect } from "chai";
import { describe, it } from "mocha";
import { isTransient, retry, wasNeverSent } from "./retry.ts";

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
