import { expect } from "chai";
import { describe, it } from "mocha";
import { exitSentence, readableLine } from "./ingest-lines.ts";

const lineOf = (entry: object) => readableLine(JSON.stringify(entry));

describe("readableLine", () => {
  it("shows what was written for people as it is", () => {
    const msg = "Base head · block 1,577 · 2 s behind";
    expect(lineOf({ level: "info", chainId: 8453, screen: true, msg })).to.equal(msg);
    expect(lineOf({ level: "warn", screen: true, msg: "Base fails: no endpoint" })).to.equal(
      "warn: Base fails: no endpoint",
    );
  });

  it("shows warnings with chain, host and reason", () => {
    const circuit = { level: "warn", chainId: 8453, host: "rpc.test", msg: "endpoint fails, circuit opened" };
    expect(lineOf(circuit)).to.equal("warn: chain 8453: endpoint fails, circuit opened (rpc.test)");
    const aside = {
      level: "warn",
      chainId: 1,
      host: "rpc.test",
      reason: "wrong chain",
      msg: "endpoint set aside",
    };
    expect(lineOf(aside)).to.equal("warn: chain 1: endpoint set aside (rpc.test: wrong chain)");
    expect(lineOf({ level: "error", msg: "failed", err: { message: "refused" } })).to.equal(
      "error: failed (refused)",
    );
    const wrong = { level: "fatal", msg: "the configuration is wrong", problems: ["A is wrong.", "B is."] };
    expect(lineOf(wrong)).to.equal("fatal: the configuration is wrong (A is wrong. B is.)");
  });

  it("leaves out where a chain is, where the live line shows it, and nothing else", () => {
    const progress = JSON.stringify({ level: "info", screen: true, progress: true, msg: "Base head" });
    const outage = JSON.stringify({ level: "warn", screen: true, msg: "Base fails" });
    expect([progress, outage].map((line) => readableLine(line, { hidesProgress: true }))).to.deep.equal([
      undefined,
      "warn: Base fails",
    ]);
    expect(readableLine(progress)).to.equal("Base head");
  });

  it("hides what only machines need, and passes on what is no log line", () => {
    expect(lineOf({ level: "info", msg: "holding the lease" })).to.equal(undefined);
    expect(readableLine("Segmentation fault")).to.equal("Segmentation fault");
  });
});

describe("exitSentence", () => {
  it("tells of an ingest that its configuration has ended, and leaves the others to their restarts", () => {
    expect(exitSentence("lending", { code: 78, restartInMs: null })).to.match(
      /^error: the lending ingest has ended.*configuration/,
    );
    expect(exitSentence("lending", { code: 1, restartInMs: 500 })).to.equal(undefined);
    expect(exitSentence("lending", { code: 0, restartInMs: null })).to.equal(undefined);
  });
});
