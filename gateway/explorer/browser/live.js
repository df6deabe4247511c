/** Asks again while somebody looks. */
import { ApiError } from "./api.js";

const EVERY_MS = 3_000;
/** After failures it waits longer each time, up to this. */
const LONGEST_MS = 60_000;

let paused = false;

export function isPaused() {
  return paused;
}

/** @param {boolean} value */
export function setPaused(value) {
  paused = value;
}

/**
 * Calls `refresh` again and again until the signal aborts; not while the tab is hidden or the visitor has paused it.
 * @param {() => Promise<void>} refresh
 * @param {AbortSignal} signal
 */
export async function keepFresh(refresh, signal) {
  let waitMs = EVERY_MS;
  while (!signal.aborted) {
    await sleep(waitMs, signal);
    if (signal.aborted) return;
    if (paused || document.hidden) continue;
    try {
      await refresh();
      waitMs = EVERY_MS;
    } catch (error) {
      const asked = error instanceof ApiError ? (error.retryAfterS ?? 0) * 1_000 : 0;
      waitMs = Math.min(LONGEST_MS, Math.max(asked, waitMs * 2));
    }
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function sleep(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
