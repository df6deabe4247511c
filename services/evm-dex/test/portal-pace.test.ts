import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { it } from "mocha";
import { createTestChain } from "../../../deploy/devnet/testkit.ts";
import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import { sendStatus, startScriptedPortal } from "../../shared/portal/testkit/scripted-portal.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { startIngestProcess } from "../../shared/testkit/service-process.ts";
import { until } from "../../shared/testkit/until.ts";

const INGEST = new URL("../ingest/main.ts", import.meta.url);

describeThorough("evm-dex ingest: the pace of its requests to a portal", () => {
  it("is as PORTAL_REQUESTS_PER_SECOND says", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "chaintables-pace-"));
    const portal = await startScriptedPortal();
    const times: number[] = [];
    // A portal that has just started knows no head: it is asked again, sooner than it may be.
    portal.play((response, { path }) => {
      times.push(performance.now());
      return sendStatus(200, path.endsWith("metadata") ? { start_block: 0 } : null)(response, {} as never);
    });
    const chain = await createTestChain();
    try {
      await chain.anvil.rpc.call("anvil_mine", [`0x${(2 * KEPT_HEADERS).toString(16)}`]);
      const ingest = startIngestProcess(INGEST, {
        EVM_RPC_8453: chain.url,
        EVM_RPC_1: undefined,
        EVM_PORTAL_8453: portal.url,
        PORTAL_REQUESTS_PER_SECOND: "1",
        START_BLOCK_8453: "0",
        DATA_DIR: dataDir,
        DEPLOYMENTS_FILE: chain.deploymentsFile,
      });
      await until("four requests to the portal", () => times.length >= 4);
      await ingest.stop("SIGTERM");
      const gaps = times.slice(1, 4).map((time, i) => time - (times[i] ?? 0));
      // Two a second where nothing is said. On a busy machine one of them may arrive late.
      expect(gaps.sort((a, b) => a - b)[1], gaps.join(", ")).to.be.greaterThan(750);
    } finally {
      await chain.stop();
      await portal.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
