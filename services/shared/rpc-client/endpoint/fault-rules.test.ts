import { expect } from "chai";
import { describe, it } from "mocha";
import { parseRetryAfter } from "./fault-rules.ts";

describe("parseRetryAfter", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  it("reads seconds", () => expect(parseRetryAfter("3", now)).to.equal(3000));
  it("reads a date", () => expect(parseRetryAfter("Thu, 01 Jan 2026 00:00:05 GMT", now)).to.equal(5000));
  it("takes a date in the past as now", () =>
    expect(parseRetryAfter("Wed, 31 Dec 2025 00:00:00 GMT", now)).to.equal(0));
  it("returns undefined for anything else", () => {
    expect(parseRetryAfter("soon", now)).to.equal(undefined);
    expect(parseRetryAfter(null, now)).to.equal(undefined);
  });
});
