import { expect } from "chai";
import { describe, it } from "mocha";
import { ServiceError } from "../../../services/shared/errors.ts";
import { createManualClock } from "../../testkit/clock.ts";
import { createFakeDirectory } from "../../testkit/keys.ts";
import { createRule } from "../limits/rule.ts";
import { mintApiKey } from "./api-key.ts";
import { authorize, createKeyAuthenticator, rejectSuspended } from "./key-authenticator.ts";
import { createKeyLookup } from "./key-lookup.ts";

const rule = createRule({ ratePerSecond: 1, burst: 5, dailyQuota: null });

function setUp(bootstrapKey?: string) {
  const clock = createManualClock();
  const directory = createFakeDirectory();
  const lookup = createKeyLookup({ directory, clock });
  const check = createKeyAuthenticator({ lookup, clock, getRule: () => rule, bootstrapKey });
  return { clock, directory, check };
}

async function refusalOf(promise: Promise<unknown>): Promise<ServiceError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("the key was accepted");
}

describe("key check", () => {
  it("names the holder of a live key", async () => {
    const { check, directory } = setUp();
    const holder = await check(directory.add({ scopes: ["solana"], subject: "key_first" }));
    const record = [...directory.records.values()][0];
    expect(holder).to.deep.equal({
      id: "key_0",
      scopes: ["solana"],
      isSuspended: false,
      subject: "key_first",
      rule,
      record,
    });
  });

  it("returns unauthorized without, with a malformed, unknown, expired or revoked key, and never shows the key", async () => {
    const { check, directory, clock } = setUp();
    const nowSeconds = clock.nowMs() / 1000;
    const cases = {
      "is required": undefined,
      "is malformed": `${mintApiKey().slice(0, -1)}g`,
      "is unknown": mintApiKey(),
      "is expired": directory.add({ expiresAt: nowSeconds }),
      "is revoked": directory.add({ revokedAt: nowSeconds - 1, suspendedAt: nowSeconds - 2 }),
    };
    for (const [words, key] of Object.entries(cases)) {
      const error = await refusalOf(check(key));
      expect(error.code, words).to.equal("unauthorized");
      expect(error.message).to.contain(words);
      if (key !== undefined) expect(error.message).not.to.contain(key);
    }
  });

  it("refuses a malformed key without reading the store", async () => {
    const { check, directory } = setUp();
    for (const key of ["x", "ct_", "null", `${mintApiKey()}, ${mintApiKey()}`]) await refusalOf(check(key));
    expect(directory.lookups).to.equal(0);
  });

  it("ends a remembered key at the second of its expiry", async () => {
    const { check, directory, clock } = setUp();
    const key = directory.add({ expiresAt: clock.nowMs() / 1000 + 2 });
    clock.advance(1_999);
    expect((await check(key)).id).to.equal("key_0");
    clock.advance(1);
    expect((await refusalOf(check(key))).message).to.contain("expired");
    expect(directory.lookups).to.equal(1);
  });

  it("accepts the bootstrap key, of any form, with every scope and without the store", async () => {
    const { check, directory } = setUp("any text at all");
    directory.failure = new Error("away");
    const holder = await check("any text at all");
    for (const family of ["evm-dex", "lending", "solana"] as const) authorize(holder, family);
    expect(holder.id).to.equal("bootstrap");
    expect((await refusalOf(check("any text at al"))).code).to.equal("unauthorized");
  });

  it("has no bootstrap key unless one is set", async () => {
    expect((await refusalOf(setUp("").check(""))).code).to.equal("unauthorized");
    expect((await refusalOf(setUp().check("undefined"))).code).to.equal("unauthorized");
  });

  it("forbids suspended keys and families outside the scopes", async () => {
    const { check, directory } = setUp();
    const suspended = await check(directory.add({ suspendedAt: 1 }));
    expect(() => rejectSuspended(suspended))
      .to.throw(ServiceError, "suspended")
      .with.property("code", "forbidden");
    const narrow = await check(directory.add({ scopes: ["solana"] }));
    authorize(narrow, "solana");
    expect(() => authorize(narrow, "lending"))
      .to.throw(ServiceError, "lending")
      .with.property("code", "forbidden");
  });
});
