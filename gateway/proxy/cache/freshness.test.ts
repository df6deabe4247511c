import { expect } from "chai";
import { describe, it } from "mocha";
import { freshMsOf, freshnessOf, isFresh, isLater, momentOf } from "./freshness.ts";

const epochOf = (count: number, block: number) => ({ count, block, hash: `0xa${block}` });
const headersOf = (block: number, fork = "a") => ({
  "cache-control": "private, max-age=2",
  "x-data-block": String(block),
  "x-data-block-hash": `0x${fork}${block}`,
});

describe("freshness", () => {
  it("is the max-age of Cache-Control, and 0 where a response must not be cached", () => {
    expect(freshMsOf("private, max-age=2")).to.equal(2_000);
    expect(freshMsOf("Max-Age=12")).to.equal(12_000);
    for (const none of [
      undefined,
      "",
      "no-store",
      "max-age=5, no-store",
      "no-cache, max-age=1",
      "max-age=",
      "max-age=-1",
      "max-age=1.5",
      "s-maxage=4",
    ])
      expect(freshMsOf(none), none).to.equal(0);
  });

  it("ends with its time, where no head is told, and with another head, where one is", () => {
    const alone = freshnessOf(headersOf(5), momentOf(1_000, undefined), undefined);
    expect(alone && [isFresh(alone, 2_999), isFresh(alone, 3_000)]).to.deep.equal([true, false]);
    const epoch = epochOf(1, 5);
    const told = freshnessOf(headersOf(5), momentOf(1_000, epoch), undefined);
    expect(told && [isFresh(told, 2_999), isFresh(told, 3_000)]).to.deep.equal([true, false]);
    epoch.count += 1;
    expect(told && isFresh(told, 1_001)).to.equal(false);
    expect(freshnessOf({}, momentOf(1_000, epoch), undefined)).to.equal(undefined);
  });

  it("ends with the first head that is told, whether it is of that head already or not", () => {
    const epoch = epochOf(0, 0);
    const before = freshnessOf(headersOf(5), momentOf(0, epoch), undefined);
    expect(before && isFresh(before, 1_999)).to.equal(true);
    Object.assign(epoch, epochOf(1, 5));
    expect(before && isFresh(before, 1)).to.equal(false);
  });

  it("is short for a response that is behind the told head, and doubles while it is", () => {
    const epoch = epochOf(3, 5);
    let last = freshnessOf(headersOf(4), momentOf(0, epoch), undefined);
    const lifetimes: number[] = [];
    for (let at = 0; at < 8; at += 1) {
      lifetimes.push((last?.freshUntilMs ?? 0) - (last?.requestedAtMs ?? 0));
      last = freshnessOf(headersOf(4), momentOf(1_000 * at, epoch), last);
    }
    expect(lifetimes).to.deep.equal([50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
    expect(freshnessOf(headersOf(5, "b"), momentOf(0, epoch), undefined)?.behindMs, "of a fork").to.equal(50);
    expect(freshnessOf(headersOf(5), momentOf(0, epoch), last)?.behindMs, "of the head").to.equal(0);
    expect(freshnessOf(headersOf(6), momentOf(0, epoch), last)?.behindMs, "ahead").to.equal(0);
    Object.assign(epoch, epochOf(4, 6));
    expect(freshnessOf(headersOf(5), momentOf(0, epoch), last)?.behindMs, "of the next head").to.equal(50);
  });

  it("outlives heads for an answer about a final block, and is not behind for one about an earlier block", () => {
    const epoch = epochOf(3, 9);
    const past = { ...headersOf(4), "x-data-head": "9" };
    const open = freshnessOf(past, momentOf(0, epoch), undefined);
    expect([open?.behindMs, open?.freshUntilMs]).to.deep.equal([0, 2_000]);
    const late = freshnessOf({ ...past, "x-data-head": "8" }, momentOf(0, epoch), undefined);
    expect(late?.behindMs, "by a replica that is behind").to.equal(50);
    const lasting = { ...past, "cache-control": "private, max-age=86400, immutable" };
    const final = freshnessOf(lasting, momentOf(0, epoch), undefined);
    epoch.count += 1;
    expect(open && isFresh(open, 1)).to.equal(false);
    expect(final && [isFresh(final, 86_399_999), isFresh(final, 86_400_000)]).to.deep.equal([true, false]);
  });

  it("takes a request as later than another one of the same chain by its head alone", () => {
    const [base, other] = [epochOf(1, 5), epochOf(9, 5)];
    const first = momentOf(2, base);
    base.count = 2;
    expect(isLater(momentOf(1, base), first)).to.equal(true);
    expect(isLater(first, momentOf(1, base))).to.equal(false);
    expect(isLater(first, first)).to.equal(false);
    expect(isLater(momentOf(1, other), first)).to.equal(false);
    expect(isLater(momentOf(1, undefined), momentOf(0, undefined))).to.equal(false);
  });
});
