import type { Server } from "node:http";
import { defineColumns, defineEndpoint } from "../contract/define.ts";
import { chainId, evmAddress, evmPage } from "../contract/param.ts";
import { closeHttpServer, createHttpServer, listen } from "../http/server.ts";
import { createLog, type Log } from "../logging/log.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { createServiceApp, type ServiceAppOptions } from "../service/service-app.ts";

/** For tests of the host: two small endpoints and an app over them whose log lines can be read. */

const columns = defineColumns([
  { name: "name", type: "String", description: "A name." },
  { name: "price", type: "Float64", description: "A price." },
]);

export const listEndpoint = defineEndpoint({
  family: "evm-dex",
  path: "/test/things",
  summary: "Things",
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: { chain_id: chainId([8453, 1]), ...evmPage() },
  columns,
  rowOrder: "By name.",
  whenAbsent: "empty",
});

export const itemEndpoint = defineEndpoint({
  family: "evm-dex",
  path: "/test/thing",
  summary: "One thing",
  mediaType: "application/vnd.service.table.v2.0.0+json",
  body: "array",
  params: {
    chain_id: chainId([8453, 1]),
    pool_address: evmAddress({ description: "Address of the thing." }),
  },
  columns,
  rowOrder: "One row.",
  whenAbsent: "not_found",
});

export interface TestApp {
  readonly url: string;
  readonly server: Server;
  /** Parsed log lines, oldest first. */
  readonly lines: Record<string, unknown>[];
  readonly metrics: Metrics;
  close(): Promise<void>;
}

export function collectingLog(lines: Record<string, unknown>[], name = "evm-dex"): Log {
  return createLog({
    name,
    level: "debug",
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
}

export async function startTestApp(options: Partial<ServiceAppOptions> = {}): Promise<TestApp> {
  const lines: Record<string, unknown>[] = [];
  const metrics = createMetrics({ name: "evm-dex" });
  const app = createServiceApp({
    endpoints: [listEndpoint, itemEndpoint],
    handlers: {},
    log: collectingLog(lines),
    metrics,
    deadlineMs: 5_000,
    readiness: async () => ({ ready: true }),
    ...options,
  });
  const server = createHttpServer(app);
  const port = await listen(server, { host: "127.0.0.1", port: 0 });
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    lines,
    metrics,
    close: () => closeHttpServer(server, { timeoutMs: 100 }),
  };
}

/** Waits until a condition holds; fails the test by its timeout otherwise. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of many shapes and assert what they read.
export async function bodyOf(response: Response): Promise<any> {
  return response.json();
}
