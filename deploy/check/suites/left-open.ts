import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * What is still running in the process group of a command that should have ended, and what each process has open, to
 * find the cause. Read from /proc: empty without one.
 */
export function describeGroup(pgid: number): string {
  return readOr([], () => readdirSync("/proc"))
    .filter((name) => /^\d+$/.test(name) && groupOf(name) === pgid)
    .map((pid) => `${pid} ${commandOf(pid)}\n  open: ${openFilesOf(pid)}`)
    .join("\n");
}

/** Fields of /proc/PID/stat behind the name in brackets, which may hold blanks: state, parent, group. */
function groupOf(pid: string): number {
  const stat = readOr("", () => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
}

function commandOf(pid: string): string {
  const text = readOr("", () => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  return text.replaceAll("\0", " ").trim().slice(0, 200);
}

/** Files and connections by kind, the named ones by name. */
function openFilesOf(pid: string): string {
  const folder = `/proc/${pid}/fd`;
  const counts = new Map<string, number>();
  for (const fd of readOr([], () => readdirSync(folder))) {
    const kind = readOr("gone", () => readlinkSync(`${folder}/${fd}`)).replace(/:\[\d+\]$/, "");
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${kind} ×${count}`).join(", ");
}

/** A process may end while it is looked at. */
function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
