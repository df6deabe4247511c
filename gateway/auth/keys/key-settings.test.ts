import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { createRule } from "../limits/rule.ts";
import { mergeKeyLimits } from "./key-rules.ts";
import { NO_SETTINGS, parseKeySettings } from "./key-settings.ts";

describe("key settings", () => {
  it("are read as they were written", () => {
    const settings = {
      owner: "acme",
      note: "n",
      limits: { ratePerSecond: 0.5, burst: 5, dailyQuota: 0 },
      subject: "key_1",
      rotatedTo: "key_3",
    };
    expect(parseKeySettings(JSON.parse(JSON.stringify(settings)))).to.deep.equal(settings);
    expect(parseKeySettings(NO_SETTINGS)).to.deep.equal(NO_SETTINGS);
  });

  it("are empty where a key is older than settings, and where they are invalid", () => {
    const nonsense = [null, undefined, {}, [], "x", 7, { limits: null }, { limits: "none", owner: 7 }];
    for (const stored of nonsense) expect(parseKeySettings(stored)).to.deep.equal(NO_SETTINGS);
    const limits = { ratePerSecond: "1000", burst: -1, dailyQuota: 1.5 };
    expect(parseKeySettings({ limits })).to.deep.equal(NO_SETTINGS);
  });

  it("make a rule whatever the store holds, never one without limits", () => {
    const standard = { ratePerSecond: 2, burst: 3, dailyQuota: null };
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({
            limits: fc.record({ ratePerSecond: fc.anything(), burst: fc.double(), dailyQuota: fc.double() }),
          }),
        ),
        (stored) => {
          const rule = createRule(mergeKeyLimits(parseKeySettings(stored).limits, standard));
          expect(rule.capacity).to.be.greaterThan(0);
          expect(rule.drain).to.be.greaterThan(0);
        },
      ),
    );
  });

  it("leave to the configuration what they do not set", () => {
    const standard = { ratePerSecond: 2, burst: 3, dailyQuota: 10 };
    const own = { ratePerSecond: null, burst: null, dailyQuota: null };
    expect(mergeKeyLimits(own, standard)).to.deep.equal(standard);
    expect(mergeKeyLimits({ ...own, burst: 9, dailyQuota: 0 }, standard)).to.deep.equal({
      ratePerSecond: 2,
      burst: 9,
      dailyQuota: null,
    });
  });
});
