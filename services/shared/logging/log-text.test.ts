import { expect } from "chai";
import { describe, it } from "mocha";
import { createLog } from "./log.ts";
import { describeError, formatLogLine } from "./log-text.ts";

describe("logging/log-text", () => {
  it("writes a line with its time, level, service, reason and fields", () => {
    const lines: string[] = [];
    const log = createLog({
      name: "gateway",
      level: "info",
      destination: { write: (line: string) => lines.push(line) },
    });
    log.warn({ chainId: 8453, host: "node.example", err: new Error("refused") }, "endpoint fails");
    expect(formatLogLine(lines[0] as string)).to.match(
      /^\d\d:\d\d:\d\d warn gateway: chain 8453: endpoint fails \(refused\) host=node\.example\n$/,
    );
    expect(formatLogLine("a panic of the runtime\n")).to.equal("a panic of the runtime\n");
  });

  it("writes each cause once", () => {
    const inner = new Error("EADDRINUSE");
    expect(describeError(new Error("Cannot listen: EADDRINUSE", { cause: inner }))).to.equal(
      "Cannot listen: EADDRINUSE",
    );
    expect(describeError(new Error("Cannot start", { cause: inner }))).to.equal("Cannot start: EADDRINUSE");
    expect(describeError("words")).to.equal("words");
  });
});
