import { readFile } from "node:fs/promises";
import { uptime } from "node:os";

/** Linux: another one after each start of the machine. */
const BOOT_ID = "/proc/sys/kernel/random/boot_id";
/** The clock moves a little against the uptime. */
const STEP_S = 10;

/**
 * Names the machine's last start: what was written under another name may not have come to the disk. Where the system has no
 * such name it is the time of the start, which a changed clock may tell otherwise: then what was written is taken for lost.
 */
export async function readBoot(path = BOOT_ID): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    const startedS = Date.now() / 1_000 - uptime();
    return `started ${STEP_S * Math.round(startedS / STEP_S)}`;
  }
}
