/**
 * npm run bench:heads — what long URLs cost the gateway: memory for a connection that sends most of a head and stops, which is
 * held until it is cut (before anybody knows whose it is), with heads of 15 and of 47 KiB; and requests for one and for 500
 * tokens, one after the other, past the response cache. BENCH_CONNECTIONS sets how many connections.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { MAX_LIST_ADDRESSES } from "../../services/shared/contract/param.ts";
import { type Figure, recordFigures } from "../../services/shared/testkit/bench-record.ts";
import { createGatewayProcesses } from "../testkit/gateway-process.ts";

const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 1_000);
const REQUESTS = 2_000;
const KEY = "bootstrap key of a bench";
/** The server cuts a head that is not complete after 20 s. */
const SETTLE_MS = 3_000;

const figures: Figure[] = [];
const gateways = await createGatewayProcesses();
try {
  for (const kib of [15, 47]) {
    const { url, child, stop } = await gateways.start();
    const before = memoryKbOf(child.pid as number);
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => openUnfinished(url, kib)));
    await sleep(SETTLE_MS);
    const kb = (memoryKbOf(child.pid as number) - before) / CONNECTIONS;
    for (const socket of sockets) socket.destroy();
    await stop();
    console.log(`${CONNECTIONS} connections with ${kib} KiB of a head: ${kb.toFixed(0)} KB each`);
    figures.push({
      name: `a connection that has sent ${kib} KiB of a head and stops`,
      value: kb,
      unit: "KB",
    });
  }
  const { url, child } = await gateways.start({ BOOTSTRAP_API_KEY: KEY, CACHE_MAX_BYTES: "0" });
  for (const tokens of [1, 150, MAX_LIST_ADDRESSES]) {
    const { ms, cpuMs } = await timeRequests(url, { tokens, pid: child.pid as number });
    console.log(`${tokens} tokens: ${ms.toFixed(2)} ms (median), ${cpuMs.toFixed(3)} ms CPU of the gateway`);
    figures.push(
      { name: `a request for ${tokens} tokens through the gateway, median`, value: ms, unit: "ms" },
      { name: "  its CPU", value: cpuMs, unit: "ms" },
    );
  }
  recordFigures("heads", figures);
} finally {
  await gateways.remove();
}

/** Kilobytes of memory that a process has in hand. */
function memoryKbOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** User and system time of a process so far, in milliseconds. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function openUnfinished(url: string, kib: number): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  await once(socket, "connect");
  socket.write(`GET /evm/prices?tokens=${"a".repeat(kib * 1_024)}`);
  return socket;
}

async function timeRequests(
  url: string,
  { tokens, pid }: { tokens: number; pid: number },
): Promise<{ ms: number; cpuMs: number }> {
  const times: number[] = [];
  let cpuBefore = 0;
  for (let i = -REQUESTS / 4; i < REQUESTS; i++) {
    // The first ones load and compile.
    if (i === 0) cpuBefore = cpuMsOf(pid);
    const list = Array.from(
      { length: tokens },
      (_, n) => `0x${(n + i + REQUESTS).toString(16).padStart(40, "0")}`,
    );
    const startedMs = performance.now();
    const answer = await fetch(`${url}/evm/prices?tokens=${encodeURIComponent(list.join(","))}`, {
      headers: { "X-API-KEY": KEY },
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`The gateway answered ${answer.status}.`);
    if (i >= 0) times.push(performance.now() - startedMs);
  }
  times.sort((a, b) => a - b);
  return { ms: times[times.length >> 1] ?? Number.NaN, cpuMs: (cpuMsOf(pid) - cpuBefore) / REQUESTS };
}
