import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
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

/** Programs that wait at the same time: so many that they do not slow each other down. */
const AT_ONCE = 3;

interface Stopped {
  readonly tookMs: number;
  readonly code: number | null;
  readonly log: string;
}

describeThorough("stops within three seconds", () => {
  let folder: string;
  let silent: Server;
  const running: TestProcess[] = [];
  const stopped = new Map<Case, Promise<Stopped>>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-stop-"));
    silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    await Promise.all(running.map((started) => started.stop("SIGKILL")));
    silent.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts the program in a folder of its own, and stops it when it has shown its line and some time has passed. */
  async function startAndStop(one: Case): Promise<Stopped> {
    const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const dataDir = join(folder, String(CASES.indexOf(one)));
    const env = { DATA_DIR: dataDir, LOG_LEVEL: "info", ...one.settings(host) };
    const started = startProgram(one.program, { env });
    running.push(started);
    const { shows } = one;
    if (shows !== undefined) await started.find((line) => (shows.test(line) ? line : undefined));
    await Promise.race([sleep(one.afterMs), started.exited]);
    const stoppedMs = performance.now();
    const { code } = await started.stop("SIGTERM");
    return { tookMs: performance.now() - stoppedMs, code, log: started.lines.join("\n") };
  }

  for (const [at, one] of CASES.entries()) {
    it(one.title, async () => {
      if (at % AT_ONCE === 0)
        for (const each of CASES.slice(at, at + AT_ONCE)) {
          const end = startAndStop(each);
          // Its own test reports the failure.
          end.catch(() => {});
          stopped.set(each, end);
        }
      const { tookMs, code, log } = (await stopped.get(one)) as Stopped;
      expect(tookMs).to.be.lessThan(STOP_MS);
      expect(code, log).to.be.oneOf([...one.codes]);
    });
  }
});
