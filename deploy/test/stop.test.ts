import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";

/** What a person waits after a Ctrl-C. */
const STOP_MS = 3_000;
/** After its preflight, an ingest waits for its endpoint. */
const RUNNING_MS = 1_500;
/** Enough for a process to be in the middle of opening its store. */
const STARTING_MS = 4_000;

interface Case {
  readonly title: string;
  readonly program: string;
  /** Settings for a server that accepts every connection and never answers. */
  settings(silent: string): Readonly<Record<string, string>>;
  /** The line of its log after which it is stopped, so many milliseconds later; undefined = after its start. */
  readonly shows?: RegExp;
  readonly afterMs: number;
  /** Null: on so slow a machine the signal comes before the program listens for it. */
  readonly codes: readonly (number | null)[];
}

const INGESTS = { "evm-dex": "EVM_RPC_8453", lending: "EVM_RPC_8453", solana: "SOLANA_RPC" } as const;
const PORTS = { GATEWAY_PORT: "0", HTTP_PORT: "0", GRPC_PORT: "0" };

const CASES: readonly Case[] = [
  ...Object.entries(INGESTS).flatMap(([service, setting]) =>
    (["refuses connections", "never answers"] as const).map((kind) => ({
      title: `an ingest of ${service}, whose endpoint ${kind}`,
      program: `services/${service}/ingest/main.ts`,
      settings: (silent: string) => ({
        [setting]: kind === "never answers" ? `http://${silent}` : "http://127.0.0.1:9",
      }),
      shows: new RegExp(`127\\.0\\.0\\.1:\\d+ \\(${setting}\\) cannot be reached`),
      afterMs: RUNNING_MS,
      codes: [0],
    })),
  ),
  ...["gateway/main.ts", "services/evm-dex/main.ts", "services/solana/ingest/main.ts"].map((program) => ({
    title: `${program}, whose MongoDB and Redis never answer`,
    program,
    settings: (silent: string) => ({
      ...PORTS,
      MONGODB_URL: `mongodb://${silent}`,
      REDIS_URL: `redis://${silent}`,
    }),
    ...(program.startsWith("gateway") && { shows: /listening/ }),
    afterMs: STARTING_MS,
    codes: [0, null],
  })),
];

describeWithProcesses("stops within three seconds", () => {
  let folder: string;
  let silent: Server;
  /** All of them wait at the same time, each in a folder of its own. */
  const running = new Map<Case, { readonly started: TestProcess; readonly ready: Promise<unknown> }>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-stop-"));
    silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    for (const [at, one] of CASES.entries()) {
      const env = { DATA_DIR: join(folder, String(at)), LOG_LEVEL: "info", ...one.settings(host) };
      const started = startProgram(one.program, { env });
      const shown = one.shows && started.find((line) => one.shows?.exec(line) ?? undefined);
      const ready = Promise.resolve(shown).then(() => Promise.race([sleep(one.afterMs), started.exited]));
      // Its test awaits it, and fails with the log of the program.
      ready.catch(() => {});
      running.set(one, { started, ready });
    }
  });
  after(async () => {
    await Promise.all([...running.values()].map(({ started }) => started.stop("SIGKILL")));
    silent.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const one of CASES) {
    it(one.title, async () => {
      const { started, ready } = running.get(one) as { started: TestProcess; ready: Promise<unknown> };
      await ready;
      const stoppedMs = performance.now();
      const { code } = await started.stop("SIGTERM");
      expect(performance.now() - stoppedMs).to.be.lessThan(STOP_MS);
      expect(code, started.lines.join("\n")).to.be.oneOf([...one.codes]);
    });
  }
});
