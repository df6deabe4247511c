import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { describe, it } from "mocha";
import { Parts } from "./parts.ts";

describe("local/parts", () => {
  const part = (name: string, stopped: string[], ms = 0) => ({
    async stop() {
      stopped.push(`${name} begins`);
      await sleep(ms);
      stopped.push(`${name} ends`);
    },
  });

  it("stops ingests and front at once, and what is behind it when the front is through", async () => {
    const stopped: string[] = [];
    const parts = new Parts();
    parts.add("behind", part("chain", stopped));
    parts.add("behind", part("service", stopped));
    parts.add("ingest", part("ingest", stopped, 60));
    parts.add("front", part("gateway", stopped, 20));
    await Promise.all([parts.stop(), parts.stop()]);
    expect(stopped.slice(0, 2)).to.deep.equal(["ingest begins", "gateway begins"]);
    expect(stopped.indexOf("chain begins")).to.be.greaterThan(stopped.indexOf("gateway ends"));
    expect(stopped.indexOf("service begins")).to.be.lessThan(stopped.indexOf("ingest ends"));
    expect(stopped).to.have.length(8);
  });

  it("ends within three seconds, whatever hangs or fails, and stops what comes too late", async () => {
    const stopped: string[] = [];
    const parts = new Parts();
    parts.add("front", { stop: () => new Promise(() => {}) });
    parts.add("ingest", { stop: () => Promise.reject(new Error("no")) });
    parts.add("behind", part("service", stopped));
    parts.add("behind", { stop: () => new Promise(() => {}) });
    const startedMs = performance.now();
    await parts.stop();
    expect(performance.now() - startedMs).to.be.lessThan(3_000);
    expect(stopped).to.deep.equal(["service begins", "service ends"]);
    parts.add("behind", part("late", stopped));
    expect(stopped).to.include("late begins");
  });
});
