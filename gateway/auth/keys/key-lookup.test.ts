import { expect } from "chai";
import { describe, it } from "mocha";
import { ServiceError } from "../../../services/shared/errors.ts";
import { createManualClock } from "../../testkit/clock.ts";
import { createFakeDirectory } from "../../testkit/keys.ts";
import { hashApiKey, mintApiKey } from "./api-key.ts";
import { createKeyLookup, type KeyLookupOptions } from "./key-lookup.ts";

function setUp(options: Partial<KeyLookupOptions> = {}) {
  const clock = createManualClock();
  const directory = createFakeDirectory();
  const failures: unknown[] = [];
  const onStoreFailure = (error: unknown) => failures.push(error);
  const lookup = createKeyLookup({ directory, clock, onStoreFailure, ...options });
  const lookUp = (key: string) => lookup(hashApiKey(key));
  return { clock, directory, lookup, lookUp, failures };
}

async function failureOf(promise: Promise<unknown>): Promise<ServiceError> {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).to.be.instanceOf(ServiceError);
  return error;
}

describe("key look-up", () => {
  it("reads the store once for a found and once for a missing key while they are fresh", async () => {
    const { directory, lookUp, clock } = setUp();
    const key = directory.add();
    const stranger = mintApiKey();
    for (let round = 0; round < 3; round += 1) {
      expect((await lookUp(key))?.id).to.equal("key_0");
      expect(await lookUp(stranger)).to.equal(undefined);
      clock.advance(1_000);
    }
    expect(directory.lookups).to.equal(2);
  });

  it("learns of a revocation and of a new key within ten seconds", async () => {
    const { directory, lookUp, clock } = setUp();
    const key = directory.add();
    const later = mintApiKey();
    await lookUp(key);
    await lookUp(later);
    const hash = hashApiKey(key);
    const record = directory.records.get(hash);
    if (!record) throw new Error("the key was not stored");
    directory.records.set(hash, { ...record, revokedAt: 1 });
    directory.records.set(hashApiKey(later), { ...record, hash: hashApiKey(later), id: "later" });
    clock.advance(10_000);
    expect((await lookUp(key))?.revokedAt).to.equal(1);
    expect((await lookUp(later))?.id).to.equal("later");
  });

  it("counts age from the request, so that a slow response gains no time", async () => {
    const { directory, lookUp, clock } = setUp({ freshMs: 5_000 });
    const key = directory.add();
    let open = () => {};
    directory.gate = new Promise((resolve) => (open = resolve));
    const slow = lookUp(key);
    clock.advance(5_000);
    open();
    await slow;
    await lookUp(key);
    expect(directory.lookups).to.equal(2);
  });

  it("shares one look-up among concurrent requests for one key", async () => {
    const { directory, lookUp } = setUp();
    const key = directory.add();
    await Promise.all(Array.from({ length: 50 }, () => lookUp(key)));
    expect(directory.lookups).to.equal(1);
  });

  it("continues with remembered keys while the store is unreachable, and refuses the others with 503", async () => {
    const { directory, lookUp, clock, failures } = setUp({ graceMs: 60_000 });
    const key = directory.add();
    const unseen = directory.add();
    await lookUp(key);
    directory.failure = new Error("connection refused");
    clock.advance(30_000);
    expect((await lookUp(key))?.id).to.equal("key_0");
    const error = await failureOf(lookUp(unseen));
    expect(error.code).to.equal("unavailable");
    expect(error.retryAfterSeconds).to.be.greaterThan(0);
    expect(failures).to.have.length(1);
  });

  it("stops trusting a remembered key after the grace period", async () => {
    const { directory, lookUp, clock } = setUp({ graceMs: 60_000 });
    const key = directory.add();
    await lookUp(key);
    directory.failure = new Error("connection refused");
    clock.advance(60_000);
    expect((await failureOf(lookUp(key))).code).to.equal("unavailable");
  });

  it("leaves a failing store alone for a while, then finds it again", async () => {
    const { directory, lookUp, clock } = setUp({ pauseMs: 1_000 });
    const key = directory.add();
    directory.failure = new Error("connection refused");
    await failureOf(lookUp(key));
    await failureOf(lookUp(key));
    expect(directory.lookups).to.equal(1);
    directory.failure = undefined;
    clock.advance(1_000);
    expect((await lookUp(key))?.id).to.equal("key_0");
  });

  it("stops waiting for a store that does not respond", async () => {
    const { directory, lookUp } = setUp({ lookupTimeoutMs: 5 });
    directory.gate = new Promise(() => {});
    expect((await failureOf(lookUp(directory.add()))).code).to.equal("unavailable");
  });

  it("does not let invented keys push out real ones", async () => {
    const { directory, lookUp } = setUp({ maxEntries: 10 });
    const key = directory.add();
    await lookUp(key);
    for (let count = 0; count < 100; count += 1) await lookUp(mintApiKey());
    const before = directory.lookups;
    await lookUp(key);
    expect(directory.lookups).to.equal(before);
  });

  it("looks a key up again at once when it receives a change, found or missing before", async () => {
    const { directory, lookup, lookUp } = setUp();
    const key = directory.add();
    const hash = hashApiKey(key);
    const record = await lookUp(key);
    if (!record) throw new Error("the key was not found");
    directory.records.set(hash, { ...record, revokedAt: 1 });
    expect((await lookUp(key))?.revokedAt).to.equal(null);
    lookup.forget(hash);
    expect((await lookUp(key))?.revokedAt).to.equal(1);

    directory.records.delete(hash);
    lookup.forget(hash);
    expect(await lookUp(key)).to.equal(undefined);
    directory.records.set(hash, record);
    lookup.forget(hash);
    expect(await lookUp(key)).to.equal(record);
  });

  it("does not remember a response from before a change that it receives meanwhile", async () => {
    const { directory, lookup, lookUp } = setUp();
    const key = directory.add();
    const hash = hashApiKey(key);
    const record = directory.records.get(hash);
    if (!record) throw new Error("the key was not stored");
    const answers: ((answer: typeof record) => void)[] = [];
    directory.findByHash = () => new Promise((resolve) => answers.push(resolve));
    const early = lookUp(key);
    lookup.forget(hash);
    const late = lookUp(key);
    expect(answers).to.have.length(2);
    answers[1]?.({ ...record, revokedAt: 1 });
    expect((await late)?.revokedAt).to.equal(1);
    answers[0]?.(record);
    await early;
    const again = lookUp(key);
    answers[2]?.({ ...record, revokedAt: 1 });
    expect((await again)?.revokedAt).to.equal(1);
  });

  it("looks everything up again when it may have missed changes, and continues while it cannot", async () => {
    const { directory, lookup, lookUp, clock } = setUp();
    const [key, other] = [directory.add(), directory.add()];
    await lookUp(key);
    await lookUp(other);
    lookup.forgetAll();
    await lookUp(key);
    expect(directory.lookups).to.equal(3);
    lookup.forgetAll();
    directory.failure = new Error("away");
    expect((await lookUp(other))?.id).to.equal("key_1");
    clock.advance(1_000);
    lookup.forget(hashApiKey(other));
    await failureOf(lookUp(other));
  });
});
