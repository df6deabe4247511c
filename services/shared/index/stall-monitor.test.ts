import { expect } from "chai";
import { describe, it } from "mocha";
import { IngestStalled } from "../chain-errors.ts";
import { StallMonitor } from "./stall-monitor.ts";

function monitor() {
  const lines: string[] = [];
  const failures: unknown[] = [];
  const stop = new AbortController();
  const write = (level: string) => (fields: object, text?: string) => {
    lines.push(`${level} ${text ?? fields} ${JSON.stringify(text === undefined ? {} : fields)}`);
  };
  const stalls = new StallMonitor({
    log: { error: write("error"), info: write("info") } as never,
    signal: stop.signal,
    onFailure: (error) => failures.push(error),
    retryMs: 1,
  });
  return { stalls, lines, failures, stop };
}

/** Throws these errors, one a call, then nothing more. */
function failing(...errors: Error[]): () => Promise<void> {
  return async () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
  };
}

describe("StallMonitor", () => {
  const stalled = new IngestStalled("All contradict.", { advice: "Reindex.", fields: { chainId: 1 } });

  it("logs a stall once with its advice, reports each attempt, and logs when indexing goes on", async () => {
    const { stalls, lines, failures } = monitor();
    await stalls.waitUntil(failing(stalled, stalled));
    await stalls.run(failing(stalled));
    expect(stalls.isStalled).to.equal(true);
    stalls.resolve();
    stalls.resolve();
    expect(stalls.isStalled).to.equal(false);
    expect(failures).to.deep.equal([stalled, stalled, stalled]);
    expect(lines).to.deep.equal([
      'error All contradict. Reindex. {"chainId":1}',
      "info the endpoints serve the index again: indexing goes on {}",
    ]);
  });

  it("throws other errors", async () => {
    const { stalls } = monitor();
    const error = await stalls.run(failing(new Error("store"))).catch((thrown: unknown) => thrown);
    expect(error).to.have.property("message", "store");
  });

  it("ends waiting at the signal", async () => {
    const { stalls, stop } = monitor();
    await stalls.waitUntil(async () => {
      stop.abort();
      throw stalled;
    });
  });
});
