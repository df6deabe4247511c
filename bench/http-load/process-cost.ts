import { readFileSync } from "node:fs";

/** Kernel's ticks a second, on every Linux of today. */
const TICKS = 100;

/** Seconds of CPU that a process with all its threads has used. Linux only. */
export function cpuSecondsOf(pid: number): number {
  // The second field is a name in parentheses, which may hold blanks.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Megabytes of memory that a process has in hand. */
export function memoryMbOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}
