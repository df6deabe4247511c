/**
 * For lending-lists.bench.ts: the lending service as it is, and beside it a clock that reports every second the longest
 * time for which the event loop let nothing else run.
 */

import { startLending } from "../services/lending/service.ts";
import { runMain } from "../services/shared/process/process.ts";

const TICK_MS = 1;
const TELL_MS = 1_000;

await runMain("lending", async () => {
  const running = await startLending(process.env);
  let lastMs = performance.now();
  let longestMs = 0;
  const tick = setInterval(() => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs - TICK_MS);
    lastMs = nowMs;
  }, TICK_MS);
  const report = setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage();
    console.log(JSON.stringify({ msg: "pause", longestMs, rss, heapUsed, cpu: process.cpuUsage() }));
    longestMs = 0;
  }, TELL_MS);
  return {
    stop() {
      clearInterval(tick);
      clearInterval(report);
      return running.stop();
    },
  };
});
