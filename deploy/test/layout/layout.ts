import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mutex } from "../../../services/shared/process/mutex.ts";
import { SERVICE_NAMES } from "../../../services/shared/settings/settings.ts";
import { createTestSolana, type TestSolana } from "../../devnet/solana/testkit.ts";
import { createTestChain, type TestChain } from "../../devnet/testkit.ts";
import { findLastingPort } from "./lasting-port.ts";
import { Member, type MemberPlan, type Role } from "./member.ts";

export const KEY = "key of the layout";

/**
 * The production layout as processes of this machine: two gateways, two replicas of each service (a third one of solana
 * is named to the gateways and not started), an ingest and a standby each, over chains that a test moves. One store:
 * an empty database of MongoDB at LAYOUT_MONGODB_URL, else SQLite; one Redis at LAYOUT_REDIS_URL, else none. Settings of
 * their own, since other suites share the servers at MONGODB_URL and REDIS_URL.
 */
export interface Layout {
  readonly chain: TestChain;
  readonly solana: TestSolana;
  readonly members: readonly Member[];
  /** Those of a role that were started, in order. */
  membersWith(role: Role): readonly Member[];
  /** The third replica of solana, not started. */
  readonly spareSolana: Member;
  /** Where a load balancer sends requests to. */
  readonly gateways: readonly { readonly url: string; readonly member: Member }[];
  /** For processes beside the layout that read its chains. */
  readonly dataDir: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Mines blocks with trades on both chains until the signal. Resolves when it has stopped. */
  trade(signal: AbortSignal): Promise<void>;
  /** Replaces the newest blocks of the EVM chain, between two blocks of `trade`. */
  reorg(depth: number): Promise<void>;
  stop(): Promise<void>;
}

const REPLICAS = 2;
/** As in deploy/k8s: a load balancer needs so long to notice that a process is no longer ready. */
const DRAIN_DELAY_MS = 1_000;
const LEASE_TTL_MS = 3_000;
const BLOCK_MS = 1_000;
const SLOTS_A_BLOCK = 2;
const WARM_BLOCKS = 12;

export async function startLayout(env: Readonly<Record<string, string>> = {}): Promise<Layout> {
  const dataDir = await mkdtemp(join(tmpdir(), "chaintables-layout-"));
  const chain = await createTestChain({ poolCount: 3, families: ["aerodrome-v2", "aave-v3", "morpho-v1"] });
  const solana = await createTestSolana({
    seed: 21,
    transactions: 5,
    time: Math.floor(Date.now() / 1_000) - 60,
  });
  for (let block = 0; block < WARM_BLOCKS; block += 1) {
    await chain.send(chain.randomActions(block, 4));
    await chain.mine(1, { intervalS: 60 });
  }
  solana.produce(60);
  const plans = await planMembers({ dataDir, chain, solana, env });
  const all = plans.map((plan) => new Member(plan));
  const spareSolana = all.find(({ plan }) => plan.role === "solana" && plan.index === REPLICAS) as Member;
  const members = all.filter((member) => member !== spareSolana);
  const membersWith = (role: Role) => members.filter(({ plan }) => plan.role === role);
  const stop = async () => {
    await Promise.all(all.map((member) => member.stop("SIGKILL")));
    await chain.stop();
    await solana.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    // Ingests first: services are ready when there is data.
    for (const role of ["evm-dex-ingest", "lending-ingest", "solana-ingest"] as const)
      await Promise.all(membersWith(role).map((member) => member.start()));
    await Promise.all(SERVICE_NAMES.flatMap((role) => membersWith(role)).map((member) => member.start()));
    await Promise.all(membersWith("gateway").map((member) => member.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  const gateways = membersWith("gateway").map((member) => ({
    url: member.plan.readyUrl.replace("/readyz", ""),
    member,
  }));
  const settings = { DEPLOYMENTS_FILE: chain.deploymentsFile, ...rpcOf(chain, solana), ...storesOf() };
  const moves = moversOf(chain, solana);
  return { chain, solana, members, membersWith, spareSolana, gateways, dataDir, settings, ...moves, stop };
}

/** One at a time: a reorg in the middle of a block's transactions would lose some. */
function moversOf(chain: TestChain, solana: TestSolana): Pick<Layout, "trade" | "reorg"> {
  const turns = new Mutex();
  let seed = 1_000;
  const mineOne = async () => {
    seed += 1;
    await chain.send(chain.randomActions(seed, 3));
    await chain.mine(1);
    solana.produce(SLOTS_A_BLOCK);
  };
  return {
    async trade(signal) {
      while (!signal.aborted) {
        const beganMs = performance.now();
        await turns.run(mineOne);
        const restMs = BLOCK_MS - (performance.now() - beganMs);
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, restMs)));
      }
    },
    reorg: (depth) =>
      turns.run(async () => {
        await chain.reorg(depth, { transactionsPerBlock: 2, seed: seed++ });
      }),
  };
}

function rpcOf(chain: TestChain, solana: TestSolana) {
  const evm = { EVM_RPC_8453: chain.url, START_BLOCK_8453: "0" };
  return { ...evm, SOLANA_RPC: solana.urls.join(), START_BLOCK_SOLANA: "0" };
}

function storesOf(): Record<string, string> {
  const { LAYOUT_MONGODB_URL: mongodbUrl, LAYOUT_REDIS_URL: redisUrl } = process.env;
  return {
    ...(mongodbUrl !== undefined && { MONGODB_URL: mongodbUrl }),
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
  };
}

interface Parts {
  readonly dataDir: string;
  readonly chain: TestChain;
  readonly solana: TestSolana;
  readonly env: Readonly<Record<string, string>>;
}

async function planMembers({ dataDir, chain, solana, env }: Parts): Promise<MemberPlan[]> {
  const common = {
    DATA_DIR: dataDir,
    DEPLOYMENTS_FILE: chain.deploymentsFile,
    LOG_LEVEL: "info",
    DRAIN_DELAY_MS: String(DRAIN_DELAY_MS),
    LEASE_TTL_MS: String(LEASE_TTL_MS),
    ...storesOf(),
    ...env,
  };
  const plans: MemberPlan[] = [];
  const addresses: Record<string, { http: string; grpc: string }[]> = {};
  for (const role of SERVICE_NAMES) {
    const list: { http: string; grpc: string }[] = [];
    addresses[role] = list;
    for (let index = 0; index < (role === "solana" ? REPLICAS + 1 : REPLICAS); index += 1) {
      const [http, grpc] = [await findLastingPort(), await findLastingPort()];
      list.push({ http: `http://127.0.0.1:${http}`, grpc: `127.0.0.1:${grpc}` });
      const own = { HTTP_PORT: String(http), GRPC_PORT: String(grpc) };
      plans.push({
        ...{ role, index, program: `services/${role}/main.ts`, readyUrl: `http://127.0.0.1:${http}/readyz` },
        metricsUrl: `http://127.0.0.1:${http}/metrics`,
        env: {
          ...common,
          ...own,
          ...(role === "lending" && { EVM_DEX_GRPC: listOf(addresses, "evm-dex", "grpc") }),
        },
      });
    }
  }
  for (const service of SERVICE_NAMES) {
    for (let index = 0; index < 2; index += 1) {
      const port = await findLastingPort();
      plans.push({
        ...{ role: `${service}-ingest`, index, program: `services/${service}/ingest/main.ts` },
        readyUrl: `http://127.0.0.1:${port}/livez`,
        metricsUrl: `http://127.0.0.1:${port}/metrics`,
        env: { ...common, ...rpcOf(chain, solana), INGEST_METRICS_PORT: String(port) },
      });
    }
  }
  for (let index = 0; index < 2; index += 1) {
    const [port, admin] = [await findLastingPort(), await findLastingPort()];
    const upstreams = Object.fromEntries(
      SERVICE_NAMES.flatMap((service) => {
        const name = service.toUpperCase().replace("-", "_");
        return [
          [`${name}_URL`, listOf(addresses, service, "http")],
          [`${name}_GRPC`, listOf(addresses, service, "grpc")],
        ];
      }),
    );
    plans.push({
      ...{ role: "gateway", index, program: "gateway/main.ts", readyUrl: `http://127.0.0.1:${port}/readyz` },
      metricsUrl: `http://127.0.0.1:${admin}/metrics`,
      env: {
        ...common,
        ...upstreams,
        ...{ GATEWAY_PORT: String(port), BOOTSTRAP_API_KEY: KEY, ADMIN_PORT: String(admin) },
        ...{
          ADDRESS_RATE: "1000000",
          ADDRESS_BURST: "1000000",
          VERIFY_RATE: "1000000",
          VERIFY_BURST: "1000000",
        },
      },
    });
  }
  return plans;
}

function listOf(
  addresses: Readonly<Record<string, readonly { http: string; grpc: string }[]>>,
  service: string,
  kind: "http" | "grpc",
): string {
  return (addresses[service] ?? []).map((each) => each[kind]).join(",");
}
