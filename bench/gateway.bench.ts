/**
 * npm run bench:gateway — the gateway and nginx as reverse proxies before the same service, in one run: an answer of
 * 2 KB, every request for something else ("uncached", each goes to the service) and all for the same ("hot", which the
 * gateway keeps for its second of freshness). The gateway checks the key, counts it against its limits, measures, and
 * writes its access log; nginx writes its own. Both have a worker for each core (BENCH_WORKERS). Beside them, both
 * uncached: the same gateway with undici's dispatcher in place of its own transport, and a proxy of node:http alone, one
 * process, which does none of this.
 *
 * Load and service are raw sockets in this process, which shares the cores with the proxies: how much of a core the
 * proxy used is printed beside, and what this process used. Rounds alternate, and each figure is the median of its
 * rounds. Then latency at half of that load (after BENCH_SECONDS of it), the gateway's memory over many requests, and
 * what a payment adds to a request. BENCH_SECONDS (3) a round, BENCH_ROUNDS (3), BENCH_CONNECTIONS (64 a worker), BENCH_MEMORY_REQUESTS
 * (1,000,000) and BENCH_PAID (100); 0 leaves such a part out.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import {
  buildGateway,
  buildUndiciGateway,
  startBareProxy,
  startGatewayProcess,
} from "./http-load/gateway-process.ts";
import { Load, type Target } from "./http-load/load.ts";
import { hasNginx, startNginx } from "./http-load/nginx.ts";
import { measurePaid, type PaidPart } from "./http-load/paid.ts";
import { startUpstream } from "./http-load/upstream.ts";
import { cpuSecondsOf, cpuSecondsOfFamily, memoryMbOfFamily } from "./process-cost.ts";

const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const WORKERS = Number(process.env.BENCH_WORKERS ?? availableParallelism());
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 64 * WORKERS);
const MEMORY_REQUESTS = Number(process.env.BENCH_MEMORY_REQUESTS ?? 1_000_000);
const PAID_REQUESTS = Number(process.env.BENCH_PAID ?? 100);
const WARM_UP_REQUESTS = 20_000;
const PATH = "/evm/dexb/v3/pool?pool_address=0x";

/** A table of 2 KB. */
function makeBody(): string {
  const rows: unknown[][] = [];
  const text = () =>
    JSON.stringify([{ columns: [{ name: "address", type: "String" }], data: rows, rows: rows.length }]);
  while (text().length < 2_000)
    rows.push([`0x${rows.length.toString(16).padStart(40, "a")}`, rows.length * 1.5, null]);
  return text();
}

const upstream = await startUpstream({
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: makeBody(),
  headers: { ETag: 'W/"bench"', "Cache-Control": "private, max-age=1", "X-Data-Block": "1" },
});
const folder = mkdtempSync(join(tmpdir(), "chaintables-gateway-"));
const built = await buildGateway(folder);
const gateway = await startGatewayProcess(built, {
  upstream,
  settings: { GATEWAY_WORKERS: String(WORKERS) },
});
const undiciFolder = mkdtempSync(join(tmpdir(), "chaintables-gateway-undici-"));
const undiciBuilt = await buildUndiciGateway(undiciFolder);
const undiciGateway = await startGatewayProcess(undiciBuilt, {
  upstream,
  settings: { GATEWAY_WORKERS: String(WORKERS) },
});
const nginx = (await hasNginx())
  ? await startNginx(folder, { upstreamPort: upstream.port, workers: WORKERS })
  : undefined;
if (nginx === undefined)
  console.log("nginx is not installed (apt-get install nginx): the gateway is measured alone\n");

const bare = await startBareProxy(upstream.port);

let drawn = 0;
/** A new path every time, also over rounds: a path that is requested again would be admitted to a full cache. */
const other = () => {
  drawn += 1;
  return `${PATH}${drawn.toString(16).padStart(40, "0")}`;
};
const same = () => `${PATH}${"0".repeat(40)}`;
const at = (port: number, path: Target["path"], key = built.key): Target => ({
  ...{ port, path },
  headers: { "X-API-KEY": key },
});

interface Contender {
  readonly name: string;
  readonly pid: number;
  readonly target: Target;
  readonly perSecond: number[];
  readonly cpuUs: number[];
  readonly coreUse: number[];
  /** Of load and service. */
  readonly ownUse: number[];
}
const contender = (name: string, pid: number, target: Target): Contender => ({
  ...{ name, pid, target },
  ...{ perSecond: [], cpuUs: [], coreUse: [], ownUse: [] },
});
const proxies: Contender[] = [
  ...(nginx ? [contender("nginx", nginx.pid, at(nginx.port, other))] : []),
  contender("node:http alone", bare.pid, at(bare.port, other)),
  contender("gateway, uncached", gateway.pid, at(gateway.port, other)),
  contender("  with undici", undiciGateway.pid, at(undiciGateway.port, other, undiciBuilt.key)),
  contender("gateway, hot", gateway.pid, at(gateway.port, same)),
];

async function withLoad<T>(target: Target, work: (load: Load) => Promise<T>): Promise<T> {
  const load = await Load.open({ target, connections: CONNECTIONS });
  try {
    return await work(load);
  } finally {
    load.close();
  }
}

const figures: Figure[] = [];
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] as number;

async function measureRound({ pid, target, perSecond, cpuUs, coreUse, ownUse }: Contender): Promise<void> {
  await withLoad(target, async (load) => {
    await load.flood({ requests: WARM_UP_REQUESTS });
    const before = { proxy: cpuSecondsOfFamily(pid), own: cpuSecondsOf(process.pid) };
    const done = await load.flood({ seconds: SECONDS });
    const cpuSeconds = cpuSecondsOfFamily(pid) - before.proxy;
    if (done.refused > 0) throw new Error(`${done.refused} of ${done.requests} answers were not 200.`);
    perSecond.push(done.perSecond);
    cpuUs.push((cpuSeconds / done.requests) * 1e6);
    coreUse.push(cpuSeconds / done.seconds);
    ownUse.push((cpuSecondsOf(process.pid) - before.own) / done.seconds);
  });
}

/** Of latency under a pace: a full collection, of which there are some a minute, should count for what it is. */
const PACE_ROUNDS = 5;

/**
 * Latency at half of the throughput reached, after a while at that pace: each proxy was idle while the others were
 * measured, and its first second finds cold caches and code that must be compiled anew.
 */
async function measurePace({
  target,
  perSecond,
}: Contender): Promise<{ p50: number; p99: number; rate: number }> {
  const rate = Math.floor(median(perSecond) / 2);
  const tookMs = await withLoad(target, async (load) => {
    await load.pace({ perSecond: rate, seconds: SECONDS });
    return load.pace({ perSecond: rate, seconds: SECONDS * PACE_ROUNDS });
  });
  const part = (share: number) => tookMs[Math.floor(tookMs.length * share)] as number;
  return { p50: part(0.5), p99: part(0.99), rate };
}

try {
  for (let round = 0; round < ROUNDS; round += 1) for (const proxy of proxies) await measureRound(proxy);
  const nginxRate = nginx && median(proxies[0]?.perSecond ?? []);
  console.log(
    `${"".padEnd(18)} ${"requests/s".padStart(10)} ${"of nginx".padStart(9)} ${"CPU µs/request".padStart(15)} ${"of a core".padStart(10)} ${"load, service".padStart(14)}`,
  );
  const percent = (use: readonly number[]) => `${(median(use) * 100).toFixed(0)} %`;
  for (const { name, perSecond, cpuUs, coreUse, ownUse } of proxies) {
    const rate = median(perSecond);
    const ratio = nginxRate === undefined ? "" : (rate / nginxRate).toFixed(2);
    const cells = [rate.toFixed(0).padStart(10), ratio.padStart(9), median(cpuUs).toFixed(1).padStart(15)];
    const uses = [percent(coreUse).padStart(10), percent(ownUse).padStart(14)];
    console.log([name.padEnd(18), ...cells, ...uses].join(" "));
    figures.push({ name: `${name}, CPU a request`, value: median(cpuUs), unit: "µs" });
    if (nginxRate !== undefined && name.startsWith("gateway")) {
      const goal = { atLeast: name === "gateway, hot" ? 0.8 : 0.35 };
      figures.push({
        name: `${name}, requests/s beside nginx`,
        value: rate / nginxRate,
        unit: "times",
        goal,
      });
    }
  }

  console.log(
    `\nat half of that load${"requests/s".padStart(16)} ${"p50 ms".padStart(8)} ${"p99 ms".padStart(8)}`,
  );
  for (const proxy of proxies) {
    const { p50, p99, rate } = await measurePace(proxy);
    const goal = proxy.name.startsWith("gateway") ? { goal: { atMost: 10 } } : {};
    figures.push({ name: `${proxy.name}, 99th percentile at half load`, value: p99, unit: "ms", ...goal });
    console.log(
      `${proxy.name.padEnd(20)}${rate.toString().padStart(16)} ${p50.toFixed(2).padStart(8)} ${p99.toFixed(2).padStart(8)}`,
    );
  }

  if (MEMORY_REQUESTS > 0) {
    console.log(
      `\nmemory of the gateway's processes over ${MEMORY_REQUESTS} requests, each for something else`,
    );
    const step = Math.ceil(MEMORY_REQUESTS / 5);
    await withLoad(at(gateway.port, other), async (load) => {
      for (let sent = 0; sent <= MEMORY_REQUESTS; sent += step) {
        console.log(
          `${String(sent).padStart(10)} ${memoryMbOfFamily(gateway.pid).toFixed(0).padStart(6)} MB`,
        );
        if (sent < MEMORY_REQUESTS) await load.flood({ requests: step });
      }
    });
  }

  if (PAID_REQUESTS > 0) {
    const { withKey, offer, paid, settlementMs } = await measurePaid(built, PAID_REQUESTS);
    console.log(
      `\none request after the other${"p50 ms".padStart(10)} ${"p99 ms".padStart(8)} ${"CPU ms/request".padStart(15)}`,
    );
    const print = (name: string, { tookMs, cpuMs }: PaidPart) => {
      const sorted = [...tookMs].sort((a, b) => a - b);
      const part = (share: number) => (sorted[Math.floor(sorted.length * share)] as number).toFixed(2);
      console.log(
        `${name.padEnd(27)}${part(0.5).padStart(10)} ${part(0.99).padStart(8)} ${cpuMs.toFixed(2).padStart(15)}`,
      );
    };
    print("with a key", withKey);
    print("without anything (402)", offer);
    print("with a payment", paid);
    const added = median(paid.tookMs) - median(withKey.tookMs);
    figures.push({ name: "a payment adds, median", value: added, unit: "ms" });
    console.log(
      `a payment adds ${added.toFixed(1)} ms (median), of which settling on a chain that mines at once ${settlementMs.toFixed(1)} ms (mean)`,
    );
  }
  recordFigures("gateway", figures);
} finally {
  await Promise.all([gateway.stop(), undiciGateway.stop(), bare.stop(), nginx?.stop()]);
  await upstream.stop();
  for (const made of [folder, undiciFolder]) rmSync(made, { recursive: true, force: true });
}
