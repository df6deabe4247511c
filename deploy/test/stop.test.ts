import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { startProgram, stopProgram } from "./processes.ts";

/** What a person waits after a Ctrl-C. */
const STOP_MS = 3_000;
/** After its preflight: it is in the middle of asking. */
const RUNNING_MS = 1_500;
/** Enough for a process to be in the middle of opening its store. */
const STARTING_MS = 4_000;

describeWithProcesses("stops within three seconds", () => {
  let dataDir: string;
  let silent: Server;
  let silentUrl: string;

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-stop-"));
    // Accepts every connection and never answers.
    silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  });
  after(async () => {
    silent.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  for (const [service, setting] of [
    ["evm-dex", "EVM_RPC_8453"],
    ["lending", "EVM_RPC_8453"],
    ["solana", "SOLANA_RPC"],
  ] as const) {
    for (const kind of ["refuses connections", "never answers"] as const) {
      it(`an ingest of ${service}, whose endpoint ${kind}`, async () => {
        const url = kind === "never answers" ? silentUrl : "http://127.0.0.1:9";
        const started = startProgram(`services/${service}/ingest/main.ts`, {
          env: { [setting]: url, DATA_DIR: dataDir, LOG_LEVEL: "info" },
        });
        const host = new URL(url).host;
        await started.find((line) =>
          line.includes(`${host} (${setting}) cannot be reached`) ? line : undefined,
        );
        await Promise.race([sleep(RUNNING_MS), started.ended]);
        const askedMs = performance.now();
        const code = await stopProgram(started, "SIGTERM");
        expect(performance.now() - askedMs).to.be.lessThan(STOP_MS);
        expect(code, started.lines.join("\n")).to.equal(0);
      });
    }
  }

  for (const [path, shows] of [
    ["gateway/main.ts", "listening"],
    ["services/evm-dex/main.ts", undefined],
    ["services/solana/ingest/main.ts", undefined],
  ] as const) {
    it(`${path}, whose MongoDB and Redis never answer`, async () => {
      const { host } = new URL(silentUrl);
      const ports = { GATEWAY_PORT: "0", HTTP_PORT: "0", GRPC_PORT: "0" };
      const started = startProgram(path, {
        env: { ...ports, MONGODB_URL: `mongodb://${host}`, REDIS_URL: `redis://${host}`, LOG_LEVEL: "info" },
      });
      if (shows !== undefined) await started.find((line) => (line.includes(shows) ? line : undefined));
      await Promise.race([sleep(STARTING_MS), started.ended]);
      const askedMs = performance.now();
      const code = await stopProgram(started, "SIGTERM");
      expect(performance.now() - askedMs).to.be.lessThan(STOP_MS);
      // Null: so slow a machine that the signal came before anybody listened for it.
      expect(code, started.lines.join("\n")).to.be.oneOf([0, null]);
    });
  }
});
