import { expect } from "chai";
import { describe, it } from "mocha";
import type { ProgressView } from "../ingest-status/progress-model.ts";
import { isLiveNotice, type LiveNotice, liveNotice, openLiveChannel } from "./live-notice.ts";

const words = { chain: "Base", discovered: "pools", blockNoun: "block", events: "events" } as const;
const VIEW: ProgressView = {
  ...{ state: "following", share: 1, etaSeconds: undefined, done: 0, size: 0, perSecond: 1 },
  ...{ eventsPerSecond: 35.4, scans: 1, toCome: [], head: 1_579, block: 1_577, lagSeconds: 2 },
  ...{ isFallingBehind: false, history: undefined },
};
const told = (view: Partial<ProgressView>, why?: string) => liveNotice({ ...VIEW, ...view }, { words, why });

describe("live notices of an ingest", () => {
  it("say block, lag and rate at the head, and how far back history reaches while it grows", () => {
    const text = "1,577 · 2 s behind · 35 events/s";
    expect(told({})).to.deep.equal({ kind: "live", chain: "Base", mood: "following", text });
    expect(told({ lagSeconds: undefined, eventsPerSecond: 3.44 }).text).to.equal(
      "1,577 · 2 blocks behind · 3.4 events/s",
    );
    const history = { coveredFrom: 1_795_600_800, since: 1_795_000_000, etaSeconds: 60 };
    expect(told({ history }).text).to.equal(`${text} · from 2026-11-25 10:00`);
  });

  it("say how much is done and what is left before it", () => {
    const backfill = { state: "backfilling", share: 0.356, etaSeconds: 130 } as const;
    expect(told(backfill)).to.deep.include({ mood: "working", text: "35 % · 35 events/s · 2 m 10 s left" });
    expect(
      told({ ...backfill, state: "starting", eventsPerSecond: undefined, etaSeconds: undefined }).text,
    ).to.equal("starts");
  });

  it("say why it fails, whatever else is so", () => {
    expect(told({}, "No RPC endpoint can be used.")).to.deep.include({
      mood: "failing",
      text: "fails: No RPC endpoint can be used.",
    });
  });

  it("go to the process that listens, and are told from other messages", () => {
    const sent: LiveNotice[] = [];
    const channel = { connected: true, send: (message: LiveNotice) => sent.push(message) };
    const tell = openLiveChannel(channel);
    tell?.(told({}));
    channel.connected = false;
    tell?.(told({}));
    expect(sent).to.have.length(1);
    expect(sent.every(isLiveNotice)).to.equal(true);
    expect(openLiveChannel({})).to.equal(undefined);
    for (const other of [null, 1, {}, { kind: "watch-head", chainId: 1 }, { ...told({}), mood: "merry" }])
      expect(isLiveNotice(other)).to.equal(false);
  });
});
