import { readFileSync } from "node:fs";

/** Kernel's ticks a second, on every Linux of today. */
const TICKS = 100;

/** User and system time of all threads of a process so far, in seconds. Linux only, as all of these. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // After the name, which is in brackets and may hold anything: state is field 3, utime 14, stime 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** The same of a process and its children: of a server whose workers are processes. */
export function cpuSecondsOfFamily(pid: number): number {
  return sumOf([pid, ...childrenOf(pid)].map(cpuSecondsOf));
}

/** Megabytes that a process and its children have in hand; what they share counts for each. */
export function memoryMbOfFamily(pid: number): number {
  return sumOf([pid, ...childrenOf(pid)].map(memoryMbOf));
}

export function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children === "" ? [] : children.split(" ").map(Number);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Megabytes of memory that a process has in hand. */
export function memoryMbOf(pid: number): number {
  return megabytesOf(pid, "VmRSS");
}

/** What of it is its own: no page of a file, which the kernel takes back when it needs memory. */
export function privateMbOf(pid: number): number {
  return megabytesOf(pid, "RssAnon");
}

/** What of it are pages of files, or shared with other processes. */
export function mappedMbOf(pid: number): number {
  return megabytesOf(pid, "RssFile") + megabytesOf(pid, "RssShmem");
}

/** The most it has had in hand so far. */
export function peakRssOf(pid: number): number {
  return megabytesOf(pid, "VmHWM");
}

/** Megabytes that a process has given the kernel for the disk so far. */
export function writtenMbOf(pid: number): number {
  return ioMegabytesOf(pid, "write_bytes");
}

/** Megabytes of its writes so far: the kernel may give the disk less, where a page is written again within its half a minute. */
export function askedToWriteMbOf(pid: number): number {
  return ioMegabytesOf(pid, "wchar");
}

function ioMegabytesOf(pid: number, name: string): number {
  const io = readFileSync(`/proc/${pid}/io`, "utf8");
  return Number(new RegExp(`^${name}: (\\d+)`, "m").exec(io)?.[1]) / 1e6;
}

function megabytesOf(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
}
