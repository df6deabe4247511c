/**
 * What writing a log line costs: our line writer against sonic-boom, which comes with pino (`pino.destination`).
 * `npm run -s bench:log-writer | cat > /dev/null` prints the figures on standard error: lines go through a pipe, as under a
 * container runtime. CPU of the process a second, best of three rounds; "0 lines" is what a timer costs an idle process.
 *
 * Figures, and what they decided: docs/decisions/0036-libraries-by-measurement.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { LineWriter } from "../services/shared/logging/line-writer.ts";

const LINE = `${JSON.stringify({
  ...{ level: "info", time: new Date().toISOString(), service: "gateway", version: "0.1.0", pid: 1 },
  ...{ session: "0190a6b7-6d2f-7c3a-9d70-3a1f8b1c2d3e", method: "GET", route: "/evm/dexb/v3/pools" },
  ...{ status: 200, durationMs: 12.345, bytes: 5321, key: "k_123", cache: "hit", msg: "request" },
})}\n`;

const CANDIDATES: Readonly<Record<string, () => { write(line: string): unknown; destroy?(): void }>> = {
  "LineWriter, 4 ms": () => new LineWriter(1),
  "sonic-boom, sync": () => pino.destination({ dest: 1, sync: true }),
  "sonic-boom, async": () => pino.destination({ dest: 1, sync: false }),
  "sonic-boom, sync, 16 KB or 4 ms": () =>
    pino.destination({ dest: 1, sync: true, minLength: 16_000, periodicFlush: 4 }),
};
const ROUNDS = 3;
const ROUND_MS = 1_000;

/** Writes lines at a steady rate, a few in each turn of the event loop, and returns the milliseconds of CPU. */
async function measure(out: { write(line: string): unknown }, linesPerMs: number): Promise<number> {
  const before = process.cpuUsage();
  const startedMs = performance.now();
  let lines = 0;
  while (performance.now() - startedMs < ROUND_MS) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const due = Math.floor((performance.now() - startedMs) * linesPerMs);
    for (; lines < due; lines++) out.write(LINE);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

for (const linesPerMs of [0, 1, 5, 20]) {
  const best = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, make] of Object.entries(CANDIDATES)) {
      const out = make();
      await sleep(50);
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, await measure(out, linesPerMs)));
      out.destroy?.();
    }
  }
  for (const [name, cpuMs] of best)
    console.error(
      `${String(linesPerMs * 1_000).padStart(6)} lines/s  ${name.padEnd(32)} ${cpuMs.toFixed(0).padStart(4)} ms CPU/s`,
    );
}
process.exit(0);
