/**
 * npm run bench:explorer — the explorer's first page in Chromium, over the running stack: bytes, the first paint, and when it
 * can be used, which is when the state of the chains stands and the main thread has been free for 50 ms. Each visit has an
 * empty cache. Once at the machine's own speed, once as Lighthouse's phone: a processor four times as slow, 1.6 Mbit/s and
 * 150 ms a round trip. Browser, gateway, services and nodes share the machine.
 */
import type { Browser } from "playwright-core";
import { findChromium, startBrowser } from "../deploy/test/browser.ts";
import { type Stack, startStack } from "../deploy/test/stack.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { median } from "./stats.ts";

const VISITS = Number(process.env.BENCH_VISITS ?? 15);
const GOALS = { interactiveMs: 1_000, bytes: 200_000 };
const PHONE = { slower: 4, bytesPerSecond: (1.6e6 / 8) | 0, roundTripMs: 150 };
/** A task that is longer than this holds up whoever types or clicks. */
const LONG_TASK_MS = 50;

interface Visit {
  readonly bytes: number;
  readonly paintMs: number;
  readonly interactiveMs: number;
}

/** Runs in the page before its own scripts: notes when the table of chains stands, and the end of each long task. */
const WATCH = `
  window.bench = { shownMs: undefined, busyUntilMs: 0 };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) bench.busyUntilMs = startTime + duration;
  }).observe({ type: "longtask", buffered: true });
  new MutationObserver((_, self) => {
    if (document.querySelector("#chains tbody tr") === null) return;
    bench.shownMs = performance.now();
    self.disconnect();
  }).observe(document, { childList: true, subtree: true });
`;
const READ = `({
  ...bench,
  paintMs: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  bytes: performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0),
})`;

const executablePath = findChromium();
if (executablePath === undefined)
  throw new Error("There is no Chromium: set CHROMIUM, or install Debian's package");
const [stack, browser] = await Promise.all([startStack(), startBrowser(executablePath)]);
try {
  // Not counted: the gateway compresses each file once.
  await visit(stack, browser, { isPhone: false });
  const desk = await visits({ isPhone: false });
  const phone = await visits({ isPhone: true });
  report(desk, phone);
} finally {
  await browser.close();
  await stack.stop();
}

async function visits(as: { readonly isPhone: boolean }): Promise<Visit[]> {
  const made: Visit[] = [];
  while (made.length < VISITS) made.push(await visit(stack, browser, as));
  return made;
}

async function visit(
  { url, key }: Stack,
  opened: Browser,
  { isPhone }: { readonly isPhone: boolean },
): Promise<Visit> {
  const context = await opened.newContext({ viewport: { width: isPhone ? 390 : 1_280, height: 900 } });
  try {
    const page = await context.newPage();
    if (isPhone) {
      const session = await context.newCDPSession(page);
      const { slower, bytesPerSecond, roundTripMs } = PHONE;
      await session.send("Emulation.setCPUThrottlingRate", { rate: slower });
      await session.send("Network.enable");
      const throughput = { downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond };
      await session.send("Network.emulateNetworkConditions", {
        ...{ offline: false, latency: roundTripMs },
        ...throughput,
      });
    }
    await page.addInitScript(WATCH);
    await page.goto(`${url}/#key=${encodeURIComponent(key)}`);
    await page.waitForSelector("#chains tbody tr");
    await page.waitForTimeout(2 * LONG_TASK_MS);
    const { shownMs, busyUntilMs, paintMs, bytes } = await page.evaluate<
      Omit<Visit, "interactiveMs"> & { shownMs: number; busyUntilMs: number }
    >(READ);
    return { bytes, paintMs, interactiveMs: Math.max(shownMs, busyUntilMs) };
  } finally {
    await context.close();
  }
}

function report(desk: readonly Visit[], phone: readonly Visit[]): void {
  const valuesOf = (visited: readonly Visit[], field: keyof Visit) => visited.map((one) => one[field]);
  const figures: Figure[] = [
    {
      name: "first page, as sent",
      value: Math.max(...valuesOf(desk, "bytes")) / 1_000,
      unit: "kB",
      goal: { atMost: GOALS.bytes / 1_000 },
    },
    { name: "first paint, median", value: median(valuesOf(desk, "paintMs")), unit: "ms" },
    {
      name: "can be used, median",
      value: median(valuesOf(desk, "interactiveMs")),
      unit: "ms",
      goal: { atMost: GOALS.interactiveMs },
    },
    { name: "can be used, slowest visit", value: Math.max(...valuesOf(desk, "interactiveMs")), unit: "ms" },
    { name: "on a phone: first paint, median", value: median(valuesOf(phone, "paintMs")), unit: "ms" },
    { name: "on a phone: can be used, median", value: median(valuesOf(phone, "interactiveMs")), unit: "ms" },
  ];
  for (const { name, value, unit, goal } of figures)
    console.log(
      `${name.padEnd(34)}${value.toFixed(0).padStart(6)} ${unit}${goal && "atMost" in goal ? `, goal ${goal.atMost}` : ""}`,
    );
  if (figures.some(({ value, goal }) => goal && "atMost" in goal && value > goal.atMost))
    process.exitCode = 1;
  recordFigures("explorer", figures);
}
