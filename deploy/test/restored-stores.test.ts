import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { MongoClient } from "mongodb";
import { EXAMPLES_PATH, type Examples } from "../../services/shared/contract/examples.ts";
import { SERVICE_NAMES, type ServiceName } from "../../services/shared/settings/settings.ts";
import { fileOf } from "../../services/shared/storage/open.ts";
import { STORE_NAMES } from "../../services/shared/storage/stores.ts";
import { TestMongod } from "../../services/shared/storage/testkit/mongod/server.ts";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { runProgram, startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { until } from "../../services/shared/testkit/until.ts";
import { DATABASES } from "../backup/mongodb/layout.ts";
import { type Stack, startStack } from "./stack.ts";

/** Other servers are tried by LAYOUT_MONGODB_URL: one without databases of chaintables. */
const OWN_SERVER = process.env.LAYOUT_MONGODB_URL;
type Services = Readonly<Record<ServiceName, TestProcess>>;

/** Where an installation keeps its stores. */
interface Engine {
  /** For its processes. */
  readonly settings: Readonly<Record<string, string>>;
  /** Loses every store: what a restore is for. */
  drop(dataDir: string): Promise<void>;
  close(): Promise<void>;
}

async function openMongodb(): Promise<Engine> {
  const server = OWN_SERVER === undefined ? await TestMongod.start() : undefined;
  const url = server?.url ?? (OWN_SERVER as string);
  const drop = async () => {
    const client = new MongoClient(url);
    for (const name of DATABASES) await client.db(name).dropDatabase();
    await client.close();
  };
  const close = async () => (server === undefined ? drop() : server.close());
  return { settings: { MONGODB_URL: url }, drop, close };
}

const SQLITE: Engine = {
  settings: {},
  async drop(dataDir) {
    for (const name of STORE_NAMES)
      for (const end of ["", "-wal", "-shm"]) await rm(`${fileOf(name, dataDir)}${end}`, { force: true });
  },
  close: async () => {},
};

for (const [name, open] of Object.entries({ MongoDB: openMongodb, SQLite: async () => SQLITE }))
  describeThorough(`stores of ${name} that were backed up, lost and restored`, () => describeRestored(open));

function describeRestored(open: () => Promise<Engine>): void {
  let engine: Engine | undefined;
  let stack: Stack;
  let folder: string;
  const started: TestProcess[] = [];
  before(async () => {
    engine = await open();
    folder = await mkdtemp(join(tmpdir(), "restored-stores-"));
    stack = await startStack(engine.settings);
  });
  after(async () => {
    await Promise.all(started.map((program) => program.stop("SIGKILL")));
    await stack?.stop();
    if (stack !== undefined) await engine?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  const env = (more: Readonly<Record<string, string>> = {}) => {
    const { dataDir, deploymentsFile } = stack.data;
    const ports = { HTTP_PORT: "0", GRPC_PORT: "0" };
    return {
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: deploymentsFile,
      ...engine?.settings,
      LOG_LEVEL: "info",
      ...ports,
      ...more,
    };
  };
  const run = async (program: string, ...args: string[]) => {
    const { code, stderr, stdout } = await runProgram(program, { args, env: env() });
    expect(code, stderr + stdout).to.equal(0);
    return stdout;
  };
  async function startServices(): Promise<Services> {
    const start = (name: string, more: Readonly<Record<string, string>> = {}) => {
      const program = startProgram(`services/${name}/main.ts`, { env: env(more) });
      started.push(program);
      return program;
    };
    const evmDex = start("evm-dex");
    const { grpcAddress } = await evmDex.logged("listening");
    return {
      "evm-dex": evmDex,
      lending: start("lending", { EVM_DEX_GRPC: grpcAddress }),
      solana: start("solana"),
    };
  }

  /** The requests that the examples of every endpoint make, by path and query. */
  async function listRequests(services: Services): Promise<Map<string, keyof Services>> {
    const requests = new Map<string, keyof Services>();
    for (const name of SERVICE_NAMES) {
      const { httpUrl } = await services[name].logged("listening");
      const offered = (await (await fetch(httpUrl + EXAMPLES_PATH)).json()) as Examples;
      for (const [path, example] of Object.entries(offered)) {
        const query = Object.entries(example ?? {}).map(
          ([key, value]) => `${key}=${encodeURIComponent(value)}`,
        );
        requests.set(`${path}?${query.join("&")}`, name);
      }
    }
    return requests;
  }

  async function readTables(services: Services, requests: ReadonlyMap<string, keyof Services>) {
    const tables: Record<string, unknown> = {};
    for (const [request, name] of requests) {
      const { httpUrl } = await services[name].logged("listening");
      let answer = await fetch(httpUrl + request);
      // After a start, tables that are held in memory are loaded, at first without the prices of another service.
      while (answer.status === 503 || answer.headers.get("x-data-stale")?.startsWith("prices")) {
        await answer.body?.cancel();
        await new Promise((resolve) => setTimeout(resolve, 100));
        answer = await fetch(httpUrl + request);
      }
      tables[request] = {
        status: answer.status,
        block: answer.headers.get("x-data-block"),
        body: await answer.json(),
      };
    }
    return tables;
  }

  it("answer every endpoint with the tables of before, know the same keys, and are whole by the doctor", async () => {
    const own = Object.fromEntries(
      SERVICE_NAMES.map((name) => [name, stack.processes[`services/${name}/main.ts`]]),
    ) as unknown as Services;
    let requests = new Map<string, keyof Services>();
    // A service finds the example of an endpoint once it answers with rows.
    await until("an example of every endpoint", async () => {
      requests = await listRequests(own);
      return requests.size >= 37;
    });
    const before = await readTables(own, requests);
    for (const [request, table] of Object.entries(before))
      expect(table, request).to.have.property("status", 200);
    const keys = await run("gateway/cli/keys.ts", "list", "--json");
    await run("deploy/backup/main.ts", "backup", "--to", join(folder, "copy"));

    await Promise.all(Object.values(stack.processes).map((program) => program.stop()));
    await engine?.drop(stack.data.dataDir);
    await run("deploy/backup/main.ts", "restore", "--from", join(folder, "copy"));
    const services = await startServices();
    for (const [request, table] of Object.entries(await readTables(services, requests)))
      expect(table, request).to.deep.equal(before[request]);
    expect(JSON.parse(await run("gateway/cli/keys.ts", "list", "--json"))).to.deep.equal(JSON.parse(keys));
    const doctor = JSON.parse(await run("deploy/doctor/main.ts", "store", "--samples", "3", "--json"));
    expect(doctor.faults).to.equal(0);
    expect(doctor.stores).to.have.length(4);
  });
}
