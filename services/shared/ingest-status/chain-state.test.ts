import { expect } from "chai";
import { describe, it } from "mocha";
import { deriveChainReading, notConfiguredError, notReadYetError } from "./chain-state.ts";
import type { IngestStatusRow } from "./status-row.ts";
import { statusRow } from "./testkit/status-row.ts";

const judge = (
  row: Partial<IngestStatusRow> | undefined,
  { hasData = false, isStale = false, isExpected = false, waitedMs = 0, chainId = 8453 } = {},
) => {
  const seen = row === undefined ? undefined : { row: statusRow(row), isStale };
  return deriveChainReading({ hasData, seen, isExpected, waitedMs, chainId });
};

describe("deriveChainReading", () => {
  it("serves what is stored, whether or not an ingest ever reported", () => {
    expect(judge(undefined, { hasData: true }).state).to.equal("serving");
    expect(judge({ state: "backfilling", share: 0.5 }, { hasData: true })).to.include({
      state: "serving",
      share: 0.5,
    });
  });

  it("is a first read while an ingest works and nothing is stored, with its share", () => {
    expect(judge({ state: "discovering" })).to.include({
      state: "first_read",
      share: 0.345,
      etaSeconds: 130,
    });
    expect(judge({ state: "starting", share: null })).to.include({ state: "first_read", share: null });
  });

  it("has no source where no ingest ever reported, or one reports it", () => {
    const why = "No source is configured for chain 1 (EVM_RPC_1).";
    expect(judge(undefined, { chainId: 1 })).to.include({ state: "no_source", why });
    expect(judge({ state: "no_source" }, { chainId: 1 })).to.include({ state: "no_source", why });
    expect(judge(undefined, { chainId: 0 }).why).to.equal("No source is configured for Solana (SOLANA_RPC).");
  });

  it("waits for an ingest that this process knows to be on its way", () => {
    expect(judge(undefined, { isExpected: true }).state).to.equal("first_read");
    const ended = judge(undefined, { isExpected: true, waitedMs: 60_001 });
    expect(ended).to.include({ state: "failing" });
    expect(ended.why).to.contain("No ingest has reported");
  });

  it("fails with the reason, with and without data", () => {
    const row = { state: "failing", why: "No RPC endpoint can be used: a.test", sinceMs: 1_700_000_000_999 };
    for (const hasData of [true, false])
      expect(judge(row, { hasData })).to.include({ state: "failing", why: row.why, since: 1_700_000_000 });
  });

  it("ignores the last report of an ingest that is gone", () => {
    const row = { state: "following", updatedAtMs: Date.UTC(2026, 10, 23, 5, 0, 7) };
    expect(judge(row, { hasData: true, isStale: true })).to.include({
      state: "failing",
      why: "No ingest has reported since 2026-11-23T05:00:07Z.",
      share: null,
    });
  });
});

describe("notConfiguredError", () => {
  it("is 404 and names the chains that are configured", () => {
    const one = notConfiguredError(1, [8453]);
    expect(one.code).to.equal("not_found");
    expect(one.message).to.equal(
      "Chain 1 is not configured on this instance (EVM_RPC_1). Configured: chain 8453.",
    );
    expect(notConfiguredError(8453, []).message).to.contain("Configured: none.");
    expect(notConfiguredError(0, []).message).to.equal(
      "Solana is not configured on this instance (SOLANA_RPC).",
    );
  });
});

describe("notReadYetError", () => {
  const refuse = (chainId: number, reading = judge({})) =>
    notReadYetError("The lending markets", { chainId, reading });

  it("says how far the first read is and when to come back", () => {
    const { message, code, retryAfterSeconds } = refuse(8453);
    expect(message).to.equal(
      "The lending markets of chain 8453 are being read for the first time: 34 % done, about 2 m 10 s left. Try again in 1 m 0 s.",
    );
    expect([code, retryAfterSeconds]).to.deep.equal(["unavailable", 60]);
    expect(refuse(8453, judge({ etaSeconds: 12 })).retryAfterSeconds).to.equal(12);
    expect(refuse(8453, judge({ etaSeconds: null, share: null })).message).to.equal(
      "The lending markets of chain 8453 are being read for the first time. Try again in 5 s.",
    );
  });

  it("names a chain without a source, and keeps hosts of a failing one to /readyz", () => {
    expect(refuse(1, judge(undefined, { chainId: 1 })).message).to.equal(
      "No source is configured for chain 1 (EVM_RPC_1).",
    );
    const failing = refuse(
      8453,
      judge({ state: "failing", why: "No RPC endpoint can be used: rpc.internal" }),
    );
    expect(failing.message).to.contain("have not been read yet").and.not.to.contain("rpc.internal");
    expect(failing.retryAfterSeconds).to.be.within(5, 60);
  });
});
