import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestSolana } from "../devnet/solana/testkit.ts";
import { killGroup, ROOT, run } from "./command.ts";
import { type BuiltImage, buildImage } from "./manifests/dockerfile-steps.ts";
import { listProcesses, type Process } from "./manifests/process.ts";
import { findFreePort } from "./servers.ts";
import type { Finding, Step } from "./step.ts";

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 30_000;
/** How long a process without a port must stay up to count as started. */
const SETTLE_MS = 3_000;
/** Base; the ingest processes are given an empty private chain in its place, and a short one in Solana's. */
const CHAIN_ID = "8453";

/** The gateway sells and the facilitator has a wallet; the chain may be away from both. */
const PAYMENTS = {
  X402_PAY_TO: `0x${"11".repeat(20)}`,
  FACILITATOR_PRIVATE_KEY: `0x${"22".repeat(32)}`,
  EVM_RPC_8453: "http://127.0.0.1:9",
};

/** In this order: the first makes a store for those that follow. */
const OPERATOR_COMMANDS = [
  "gateway/cli/keys.js list",
  "gateway/cli/payments.js list",
  "deploy/doctor/main.js store",
  "deploy/doctor/main.js --help",
  "deploy/backup/main.js backup --to backup",
  "deploy/backup/main.js check",
  "deploy/reindex/main.js --help",
  "services/evm-dex/audit/main.js --help",
];

/** What the steps of the Dockerfile leave: dist/ and production dependencies, nothing else. */
interface Installation extends BuiltImage {
  readonly remove: () => void;
}

/** Steps that execute those of the Dockerfile, and start and stop each process of what they leave. */
export function productionSteps(): Step[] {
  let installed: Installation | undefined;
  const processes = listProcesses(ROOT);
  return [
    {
      name: "steps of the Dockerfile",
      inspect: async () => {
        const made = await install();
        if (made.faults.length === 0) installed = made;
        return { faults: made.faults };
      },
    },
    ...processes.map((process) => ({
      name: `built ${process.name} starts and stops`,
      inspect: async () => ({
        faults:
          installed === undefined ? ["there is no build to start"] : await startAndStop(process, installed),
      }),
    })),
    {
      name: "SBOM of the image",
      inspect: async () =>
        installed === undefined
          ? { faults: ["there is no build to describe"] }
          : inspectSbom(installed.folder),
    },
    {
      name: "built commands of operators",
      inspect: async () => {
        if (installed === undefined) return { faults: ["there is no build to start"] };
        const { folder, remove } = installed;
        const env = { ...installed.env, DATA_DIR: join(folder, "data-commands"), MONGODB_URL: "" };
        const faults: string[] = [];
        for (const words of OPERATOR_COMMANDS) {
          const [program = "", ...args] = words.split(" ");
          const { ok, output } = await run(["node", `dist/${program}`, ...args], { cwd: folder, env });
          if (!ok) faults.push(output);
        }
        remove();
        return { faults };
      },
    },
  ];
}

async function install(): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), "production-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
  const built = await buildImage(read("deploy/Dockerfile"), {
    root: ROOT,
    dockerignore: read(".dockerignore"),
    folder,
    env: { npm_config_prefer_offline: "true" },
  });
  return { ...built, remove };
}

interface Sbom {
  readonly packages: readonly { readonly name: string }[];
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** What the Dockerfile writes beside the programs: every production dependency, and none of development is installed. */
function inspectSbom(folder: string): Finding {
  const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
  const { packages } = read(join(ROOT, "package-lock.json")) as LockFile;
  const { dependencies } = read(join(ROOT, "package.json")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const sbom = read(join(folder, "sbom.spdx.json")) as Sbom;
  const named = new Set(sbom.packages.map(({ name }) => name));
  const missing = Object.keys(dependencies).filter((name) => !named.has(name));
  const foreign = Object.keys(packages).filter(
    (path) => packages[path]?.dev === true && existsSync(join(folder, path)),
  );
  return {
    faults: [
      ...missing.map((name) => `${name} is not in the SBOM`),
      ...foreign.map((path) => `${path} is installed, which development alone needs`),
    ],
    seen: `${named.size} packages`,
  };
}

async function startAndStop(described: Process, { folder, env: imageEnv }: Installation): Promise<string[]> {
  const dataDir = join(folder, `data-${described.name}`);
  mkdirSync(dataDir);
  if (described.role !== "ingest") return startAndAsk(described, { folder, dataDir, imageEnv });
  const port = await findFreePort();
  const solana = await createTestSolana();
  solana.produce(40);
  const anvil = spawn(
    join(ROOT, "node_modules/.bin/anvil"),
    ["--chain-id", CHAIN_ID, "--port", String(port), "--silent"],
    { stdio: "ignore", detached: true },
  );
  try {
    const env = {
      ...imageEnv,
      DATA_DIR: dataDir,
      [`EVM_RPC_${CHAIN_ID}`]: `http://127.0.0.1:${port}`,
      [`START_BLOCK_${CHAIN_ID}`]: "0",
      SOLANA_RPC: solana.urls.join(),
      START_BLOCK_SOLANA: "0",
    };
    return await supervise(described, {
      folder,
      env,
      settled: () => new Promise((done) => setTimeout(done, SETTLE_MS)),
    });
  } finally {
    killGroup(anvil, "SIGKILL");
    await solana.stop();
  }
}

async function startAndAsk(
  described: Process,
  at: { folder: string; dataDir: string; imageEnv: BuiltImage["env"] },
): Promise<string[]> {
  const [http, grpc, x402] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const env = {
    ...at.imageEnv,
    DATA_DIR: at.dataDir,
    GATEWAY_PORT: String(http),
    HTTP_PORT: String(http),
    GRPC_PORT: String(grpc),
    ...PAYMENTS,
    X402_PORT: String(x402),
    FACILITATOR_PORT: String(http),
    ADMIN_PORT: "0",
    FACILITATOR_ADMIN_PORT: "0",
  };
  return supervise(described, {
    folder: at.folder,
    env,
    settled: () => answers(`http://127.0.0.1:${http}/livez`),
  });
}

/** Starts a process, waits until it has settled, stops it, and returns what went wrong. */
async function supervise(
  { built }: Process,
  given: {
    readonly folder: string;
    readonly env: Readonly<Record<string, string>>;
    readonly settled: () => Promise<unknown>;
  },
): Promise<string[]> {
  const child = spawn("node", [built], {
    cwd: given.folder,
    // Stores of the machine must not make a difference to what is shown here.
    env: { ...process.env, MONGODB_URL: "", REDIS_URL: "", ...given.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = waitForEnd(child);
  try {
    const early = await within(
      START_TIMEOUT_MS,
      Promise.race([ended, given.settled().then(() => "up" as const)]),
    );
    if (early !== "up") return [`it did not start: ${describeEnd(early)}\n${output}`];
    killGroup(child, "SIGTERM");
    const end = await within(STOP_TIMEOUT_MS, ended);
    return end === 0 ? [] : [`after SIGTERM: ${describeEnd(end)}\n${output}`];
  } finally {
    killGroup(child, "SIGKILL");
  }
}

function waitForEnd(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(code ?? signal ?? "no exit code"));
  });
}

function describeEnd(end: number | string | undefined): string {
  return end === undefined ? "nothing happened in time" : `it ended with ${end}`;
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => undefined,
    );
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The result, or undefined when it takes longer. */
function within<T>(timeoutMs: number, result: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}
