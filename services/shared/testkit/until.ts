import { setTimeout as sleep } from "node:timers/promises";

/** Less than the minute that tests with processes have: the error then says what did not come. */
const PATIENCE_MS = 45_000;
const LOOK_EVERY_MS = 20;

/** Resolves when it is so; rejects with what did not come in time. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const endMs = Date.now() + patienceMs;
  while (!(await isSo())) {
    if (Date.now() > endMs) throw new Error(`It did not come: ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
