import { setTimeout as sleep } from "node:timers/promises";
import { createLog } from "../../shared/logging/log.ts";
import type { Store } from "../../shared/storage/port.ts";
import { createSolanaSource } from "../chain/source.ts";
import { openPortalReader, type PortalTask } from "../ingest/read/portal-reader.ts";
import { createLocalReader } from "../ingest/read/reader.ts";
import { openStreamedReader, type StreamTask } from "../ingest/read/stream-task.ts";
import { followStreamedHead } from "../ingest/read/streamed-head.ts";
import { runSolana } from "../ingest/run.ts";
import { getCheckpoint } from "../store/queries.ts";
import { QUICK } from "./harness.ts";

/** An ingest in this process that runs by itself. */
export interface RunningIngest {
  readonly lines: readonly string[];
  /** Resolves when the store has reached a slot. */
  at(slot: number): Promise<void>;
  /** Resolves when a line with these words was logged. */
  said(words: string): Promise<void>;
  stop(): Promise<void>;
}

const WAIT_MS = 60_000;

export function runTestIngest(
  store: Store,
  endpoints: readonly { readonly url: string }[],
  { stream, portal }: { stream?: StreamTask; portal?: PortalTask } = {},
): RunningIngest {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ name: "test-ingest", level: "info", destination });
  const stopping = new AbortController();
  const warn = (message: string, fields: Readonly<Record<string, unknown>>) => log.warn(fields, message);
  const live = createSolanaSource({
    urls: endpoints.map(({ url }) => url),
    log: warn,
    options: { ...QUICK.options, consistencyCheckMs: 100, behindTotalMs: 1_000 },
  });
  const { source: followed, onState } = followStreamedHead(live);
  const source = stream === undefined ? live : followed;
  const withHolders = (stream ?? portal)?.withHolders ?? true;
  const whole = createLocalReader(live, { withHolders });
  const streamed = stream && openStreamedReader(stream, { reader: whole, source: live, log: warn, onState });
  const reader =
    portal === undefined
      ? streamed
      : openPortalReader(portal, { whole, reader: streamed ?? whole, source: live, log: warn });
  const run = runSolana({
    store,
    source,
    reader: reader ?? whole,
    startSlot: 0,
    rawDays: 0,
    withHolders,
    log,
    signal: stopping.signal,
    guard: () => [],
    stallRetryMs: 100,
  }).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });

  async function until(words: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const startedMs = performance.now();
    while (!(await isSo())) {
      if (performance.now() - startedMs > WAIT_MS)
        throw new Error(`Not within a minute: ${words}\n${lines.slice(-20).join("")}`);
      await sleep(10);
    }
  }

  return {
    lines,
    at: (slot) => until(`slot ${slot}`, async () => (await getCheckpoint(store))?.slot === slot),
    said: (words) => until(words, () => lines.some((line) => line.includes(words))),
    async stop() {
      stopping.abort();
      await streamed?.close();
      await source.close();
      await run;
    },
  };
}
