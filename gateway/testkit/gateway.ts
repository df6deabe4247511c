import { createLog } from "../../services/shared/logging/log.ts";
import type { GatewayConfig, LimitSettings, LimitsConfig } from "../config.ts";
import { type GatewayParts, type RunningGateway, startGateway } from "../service.ts";
import { createFakeDirectory, type FakeDirectory, openFakeKeys } from "./keys.ts";
import { type FakeUpstream, startFakeUpstream } from "./upstream.ts";

export interface TestGateway extends RunningGateway {
  readonly keys: FakeDirectory;
  /** One replica for each service by default. */
  readonly evmDex: FakeUpstream;
  readonly others: readonly FakeUpstream[];
  readonly lending: FakeUpstream;
  readonly solana: FakeUpstream;
  /** Parsed log lines, oldest first. */
  readonly lines: Record<string, unknown>[];
  /** What operators read. */
  metrics(): Promise<string>;
  /** GET with a key that has every scope. */
  get(path: string, init?: RequestInit): Promise<Response>;
}

export const BOOTSTRAP_KEY = "bootstrap key of the tests";

const plenty: LimitSettings = { ratePerSecond: 1_000_000, burst: 1_000_000, dailyQuota: null };
/** Limits that no test meets by chance. */
export const UNLIMITED: LimitsConfig = { key: plenty, address: plenty, verification: plenty };

export interface TestGatewayOptions {
  readonly config?: Partial<GatewayConfig>;
  readonly parts?: GatewayParts;
  /** Replicas of evm-dex. */
  readonly replicas?: number;
}

/** Any free ports, no limits, the bootstrap key. */
export function testConfig(upstreams: GatewayConfig["upstreams"]): GatewayConfig {
  return {
    bindHost: "127.0.0.1",
    port: 0,
    admin: { host: "127.0.0.1", port: 0 },
    upstreams,
    bootstrapKey: BOOTSTRAP_KEY,
    store: { dataDir: "unused" },
    limits: UNLIMITED,
    liveStreams: 1_000,
    liveStreamsPerKey: 1_000,
    trustedProxies: [],
    deadlineMs: 5_000,
    drainDelayMs: 0,
    drainTimeoutMs: 2_000,
    logLevel: "debug",
  };
}

/** A gateway in this process before fake services; keys are in memory. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const [evmDex, lending, solana] = await Promise.all([
    startFakeUpstream("evm-dex"),
    startFakeUpstream("lending"),
    startFakeUpstream("solana"),
  ]);
  const others = await Promise.all(
    Array.from({ length: (options.replicas ?? 1) - 1 }, () => startFakeUpstream("evm-dex")),
  );
  const stopServices = () =>
    Promise.all([evmDex, lending, solana, ...others].map((upstream) => upstream.stop()));
  const keys = createFakeDirectory();
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const gateway = await startGateway(
    {
      ...testConfig({ "evm-dex": [evmDex, ...others], lending: [lending], solana: [solana] }),
      ...options.config,
    },
    {
      log: createLog({ name: "gateway", level: "debug", destination: { write } }),
      openKeys: () => openFakeKeys(keys),
      // On a busy machine the fakes may answer later than a second, and a test would find them unreachable.
      probeTimeoutMs: 20_000,
      ...options.parts,
    },
  ).catch(async (error) => {
    await stopServices();
    throw error;
  });
  return {
    ...gateway,
    keys,
    evmDex,
    others,
    lending,
    solana,
    lines,
    metrics: async () => (await fetch(`${gateway.adminUrl}/metrics`)).text(),
    get: (path, init = {}) =>
      fetch(`${gateway.url}${path}`, {
        redirect: "manual",
        ...init,
        headers: { "X-API-KEY": BOOTSTRAP_KEY, ...(init.headers as Record<string, string>) },
      }),
    async stop() {
      await gateway.stop();
      await stopServices();
    },
  };
}
