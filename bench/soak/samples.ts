import { readdirSync, readlinkSync } from "node:fs";
import type { Member } from "../../deploy/test/layout/member.ts";
import { mappedMbOf, privateMbOf } from "../process-cost.ts";

/** What a process has in hand at one time. */
export interface Sample {
  readonly name: string;
  /** Another one is another life: a killed process begins anew. */
  readonly pid: number;
  readonly atMs: number;
  /** Memory that is the process's own, which a kernel without swap cannot take back. */
  readonly memoryMb: number;
  /** Pages of files (programs, libraries, SQLite's store): the kernel takes them back when it needs them. */
  readonly mappedMb: number;
  /** V8's heap in use, garbage included, and buffers outside of it; absent where the process did not say. */
  readonly heapMb?: number;
  readonly externalMb?: number;
  /** Of an ingest: whether it leads. A standby holds no index. */
  readonly leads?: boolean;
  readonly descriptors: number;
  readonly sockets: number;
  readonly logBytes: number;
}

/** One sample of each process that runs. */
export async function sampleAll(members: readonly Member[], atMs: number): Promise<Sample[]> {
  return (await Promise.all(members.map((member) => sampleOf(member, atMs)))).flat();
}

async function sampleOf(member: Member, atMs: number): Promise<Sample[]> {
  const { name, pid, lines, plan } = member;
  if (pid === undefined || !member.isRunning) return [];
  const told = await readMetrics(plan.metricsUrl);
  try {
    const open = readdirSync(`/proc/${pid}/fd`);
    const sockets = open.filter((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:")).length;
    const logBytes = lines.reduce((sum, line) => sum + line.length + 1, 0);
    const memory = { memoryMb: privateMbOf(pid), mappedMb: mappedMbOf(pid) };
    return [{ name, pid, atMs, ...memory, ...told, descriptors: open.length, sockets, logBytes }];
  } catch {
    // It was just killed.
    return [];
  }
}

const TIMEOUT_MS = 2_000;
const MB = 2 ** 20;

/** Nothing of a process that is paused. */
async function readMetrics(url: string): Promise<Pick<Sample, "heapMb" | "externalMb" | "leads">> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    const read = (name: string) => Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, "m").exec(text)?.[1]);
    const heapMb = read("nodejs_heap_size_used_bytes") / MB;
    if (!Number.isFinite(heapMb)) return {};
    const externalMb = read("nodejs_external_memory_bytes") / MB;
    return { heapMb, externalMb, leads: /^ingest_leader{[^}]*} 1$/m.test(text) };
  } catch {
    return {};
  }
}
