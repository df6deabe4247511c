/**
 * npm run bench:gateway-walk — our files and functions that one uncached request runs in the gateway, by V8's
 * precise coverage after a warm-up. The gateway runs from source as a process of its own, with a key from its settings
 * and no Redis; the service is a raw socket. A function counts that every one of BENCH_SAMPLES (10) requests ran, so that
 * health checks and timers, which run once in a while, do not. BENCH_LIST=1 prints the functions.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePort } from "../deploy/check/servers.ts";
import { end, untilReady } from "./http-load/gateway-process.ts";
import { startUpstream } from "./http-load/upstream.ts";

const SAMPLES = Number(process.env.BENCH_SAMPLES ?? 10);
const WARM_UP_REQUESTS = 200;
/** Until the access line of a request has been written. */
const SETTLE_MS = 50;
const ROOT = fileURLToPath(new URL("../", import.meta.url));
const KEY = "bench-gateway-walk";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function coverageOf(child: ChildProcess, command: "reset" | "take"): Promise<string[]> {
  child.send(command);
  const [{ coverage }] = (await once(child, "message")) as [{ coverage: string[] }];
  return coverage;
}

const upstream = await startUpstream({
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: JSON.stringify([{ columns: [{ name: "address", type: "String" }], data: [], rows: 0 }]),
  headers: { ETag: 'W/"bench"', "Cache-Control": "private, max-age=1", "X-Data-Block": "1" },
});
const folder = mkdtempSync(join(tmpdir(), "chaintables-walk-"));
const port = await findFreePort();
const url = `http://127.0.0.1:${upstream.port}`;
const agent = new URL("./http-load/coverage-agent.ts", import.meta.url).href;
const child = spawn(process.execPath, ["--import", "tsx", "--import", agent, "gateway/main.ts"], {
  cwd: ROOT,
  env: {
    ...process.env,
    ...{ DATA_DIR: folder, MONGODB_URL: "", REDIS_URL: "", BOOTSTRAP_API_KEY: KEY, ADMIN_PORT: "off" },
    ...{ GATEWAY_PORT: String(port), EVM_DEX_URL: url, LENDING_URL: url, SOLANA_URL: url },
    ...{ EVM_DEX_GRPC: upstream.grpc, LENDING_GRPC: upstream.grpc, SOLANA_GRPC: upstream.grpc },
  },
  stdio: ["ignore", "ignore", "inherit", "ipc"],
});

let sent = 0;
async function request(): Promise<void> {
  sent += 1;
  const address = sent.toString(16).padStart(40, "0");
  const target = `http://127.0.0.1:${port}/evm/dexb/v3/pool?pool_address=0x${address}`;
  const response = await fetch(target, { headers: { "X-API-KEY": KEY } });
  await response.arrayBuffer();
  const cache = response.headers.get("x-cache");
  if (response.status !== 200 || cache !== "miss")
    throw new Error(`Got ${response.status}, X-Cache ${cache}`);
}

try {
  await untilReady(port, child);
  for (let count = 0; count < WARM_UP_REQUESTS; count += 1) await request();
  let common: Set<string> | undefined;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    await pause(SETTLE_MS);
    await coverageOf(child, "reset");
    await request();
    await pause(SETTLE_MS);
    const called = await coverageOf(child, "take");
    common = new Set(common === undefined ? called : called.filter((name) => common?.has(name)));
  }
  const functions = [...(common ?? [])].sort();
  const files = [...new Set(functions.map((name) => name.slice(0, name.indexOf(":"))))];
  const countIn = (names: readonly string[], folder: string) =>
    names.filter((name) => name.startsWith(folder)).length;
  for (const folder of ["gateway/", "services/"]) {
    console.log(
      `${folder.padEnd(10)} ${countIn(files, folder)} files, ${countIn(functions, folder)} functions`,
    );
  }
  console.log(`${"all".padEnd(10)} ${files.length} files, ${functions.length} functions`);
  if (process.env.BENCH_LIST === "1") for (const name of functions) console.log(`  ${name}`);
} finally {
  await end(child);
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}
