import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { createChainReader } from "./chain-reader.ts";
import { openDevnet } from "./devnet.ts";
import { FAMILIES } from "./plan.ts";
import { createTestChain } from "./testkit.ts";

describeThorough("devnet: resumption", () => {
  it("trades what it missed while it was off, then goes on at wall time", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "chaintables-devnet-resume-"));
    const said: string[] = [];
    try {
      const twoHoursAgo = Math.floor(Date.now() / 1000) - 7_200;
      const before = await createTestChain({ timestamp: twoHoursAgo, accounts: 32, families: FAMILIES });
      const head = await before.headNumber();
      const { hash } = await before.header(head);
      await before.anvil.saveState(join(dataDir, "devnet", "chain.json"));
      await before.stop();

      const devnet = await openDevnet({ dataDir, port: 0, blockTimeMs: 50, say: (line) => said.push(line) });
      const stop = new AbortController();
      const running = devnet.run(stop.signal);
      const chain = createChainReader(devnet.url);
      expect(devnet.resumed).to.equal(true);
      expect((await chain.header(head)).hash).to.equal(hash);
      const missed = (await chain.headNumber()) - head;
      expect(missed).to.be.greaterThan(60);
      expect(said.join()).to.match(/Filled 2\.0 hours/);
      while ((await chain.headNumber()) < head + missed + 2)
        await new Promise((resolve) => setTimeout(resolve, 25));
      const last = await chain.header(await chain.headNumber());
      expect(last.timestamp).to.be.closeTo(Date.now() / 1000, 60);
      stop.abort();
      await running;
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
