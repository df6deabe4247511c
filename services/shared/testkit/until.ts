import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 20;

/** Resolves when it is so; throws the words that say what did not come after a minute. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > endMs) throw new Error(`It did not come: ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
