import { expect } from "chai";
import { describe, it } from "mocha";
import { AnchorFeeds, describeNotice } from "./anchor-feeds.ts";

const [USDC, DAI] = ["0xc", "0xd"];
const T = 1_700_000_000;
const HOUR = 3_600;
const answer = (blockNumber: number, usd: number, token = USDC as string) => ({
  token,
  blockNumber,
  usd,
  updatedAt: T,
});
const usdAt = (feeds: AnchorFeeds, block: number, time = T) => Object.fromEntries(feeds.at(block, time));

describe("AnchorFeeds", () => {
  it("says nothing of an anchor without an answer", () => {
    expect(usdAt(new AnchorFeeds(), 9)).to.deep.equal({});
  });

  it("has each answer from its block on, the last in a block", () => {
    const feeds = new AnchorFeeds();
    feeds.add([answer(10, 0.99), answer(12, 0.95), answer(12, 0.91), answer(14, 0.9, DAI)]);
    expect(usdAt(feeds, 9)).to.deep.equal({});
    expect(usdAt(feeds, 11)).to.deep.equal({ [USDC]: 0.99 });
    expect(usdAt(feeds, 12)).to.deep.equal({ [USDC]: 0.91 });
    feeds.add([answer(15, 1)]);
    expect(usdAt(feeds, 20)).to.deep.equal({ [USDC]: 1, [DAI]: 0.9 });
  });

  it("refuses an answer that is older than 25 hours", () => {
    const feeds = new AnchorFeeds();
    feeds.add([answer(10, 0.97)]);
    expect(usdAt(feeds, 10, T + 25 * HOUR)).to.deep.equal({ [USDC]: 0.97 });
    expect(usdAt(feeds, 11, T + 25 * HOUR + 1)).to.deep.equal({ [USDC]: undefined });
    feeds.add([{ ...answer(12, 0.98), updatedAt: T + 26 * HOUR }]);
    expect(usdAt(feeds, 12, T + 26 * HOUR)).to.deep.equal({ [USDC]: 0.98 });
  });

  for (const usd of [0, -1, 10, 1e9, Number.NaN]) {
    it(`refuses ${usd} USD`, () => {
      const feeds = new AnchorFeeds();
      feeds.add([answer(10, usd)]);
      expect(usdAt(feeds, 10)).to.deep.equal({ [USDC]: undefined });
      expect(feeds.takeNotices().map(({ verdict }) => verdict)).to.deep.equal(["absurd"]);
    });
  }

  it("tells of every change once", () => {
    const feeds = new AnchorFeeds();
    const told: string[] = [];
    const step = (block: number, time = T) => {
      feeds.at(block, time);
      told.push(...feeds.takeNotices().map((notice) => describeNotice(notice, "USDC")));
    };
    feeds.add([answer(1, 1.004), answer(2, 0.91), answer(3, 0.9), answer(5, 0.996)]);
    for (const block of [1, 2, 3, 4, 5, 6]) step(block);
    step(7, T + 26 * HOUR);
    step(8, T + 27 * HOUR);
    expect(told).to.deep.equal([
      "USDC is at 0.91 USD by its feed.",
      "USDC is at 1 USD again by its feed.",
      "The feed of USDC is silent for more than 25 hours: other stablecoins value it.",
    ]);
  });
});
