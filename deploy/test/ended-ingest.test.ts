import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createLog } from "../../services/shared/logging/log.ts";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { exitSentence, readableLine } from "../local/ingest-lines.ts";
import { type ProcessExit, superviseProcess } from "../local/supervisor.ts";

/** Nobody listens there: the service needs a source, but no answer of it. */
const SOURCE = { EVM_RPC_8453: "http://127.0.0.1:9" };

describeThorough("an ingest that ends of its configuration", () => {
  let dataDir: string;
  let lending: TestProcess;
  let url: string;

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-ended-ingest-"));
    const ports = { HTTP_PORT: "0", GRPC_PORT: "0", EVM_DEX_GRPC: "127.0.0.1:1" };
    lending = startProgram("services/lending/main.ts", {
      env: { ...SOURCE, ...ports, DATA_DIR: dataDir, LOG_LEVEL: "info" },
    });
    url = (await lending.logged("listening")).httpUrl;
  });
  after(async () => {
    await lending?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  it("is reported with its reason, and not started again", async () => {
    const lines: string[] = [];
    const exit = await new Promise<ProcessExit>((resolve) => {
      superviseProcess({
        name: "lending-ingest",
        program: { entry: new URL("../../services/lending/ingest/main.ts", import.meta.url) },
        env: { ...process.env, ...SOURCE, DATA_DIR: dataDir, LENDING_REFRESH_SECONDS: "31536000" },
        log: createLog({ name: "test", level: "silent" }),
        onLine: (line) => lines.push(readableLine(line) ?? ""),
        onExit: resolve,
      });
    });
    expect(exit).to.include({ code: 78, restartInMs: null });
    expect(lines.join("\n")).to.include("LENDING_REFRESH_SECONDS");
    expect(exitSentence("lending", exit)).to.match(/^error: the lending ingest has ended/);
  });

  it("leaves tables that were never read unavailable: no empty table, no 404, a time to come again", async () => {
    const vault = `0x${"1".repeat(40)}`;
    for (const path of [
      "lendinga/v3/pools",
      "lendingb/v2/vaults",
      "lendingb/curators",
      "lendingc/markets",
      `lendingb/v2/vault/markets?vault_address=${vault}`,
      `lendingc/curator/vaults?curator_address=${vault}`,
    ]) {
      const answer = await fetch(`${url}/evm/lending/${path}`);
      const { message } = (await answer.json()) as { message: string };
      expect(answer.status, `${path}: ${message}`).to.equal(503);
      expect(Number(answer.headers.get("retry-after")), path).to.be.above(0);
      expect(message).to.include("chain 8453");
    }
    const other = await fetch(`${url}/evm/lending/lendinga/v3/pools?chain_id=1`);
    expect(other.status).to.equal(404);
    expect(await other.text()).to.include("Configured: chain 8453.");
    const { mode, chains } = (await (await fetch(`${url}/readyz`)).json()) as {
      mode: string;
      chains: Record<string, { state: string; why: string }>;
    };
    expect(mode).to.equal("empty");
    // A minute after its own start, the service says that no ingest has reported.
    expect(chains[8453]).to.include({ state: "first_read", why: "The ingest has not reported yet." });
  });
});
