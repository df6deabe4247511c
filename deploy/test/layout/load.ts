import { Agent, request } from "node:http";
import { KEY, type Layout } from "./layout.ts";

export interface Answer {
  readonly path: string;
  /** Undefined: the connection failed. */
  readonly status: number | undefined;
  readonly error?: string;
  readonly beganMs: number;
  readonly tookMs: number;
}

export interface LoadOptions {
  /** Requests a second. */
  readonly rate: number;
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
}

const CHECK_MS = 100;
/** A load balancer takes a target out after so many failed checks in a row, as with `failureThreshold: 2` at 100 ms. */
const FAILED_CHECKS = 2;

/**
 * A steady load, sent when it is due however long answers take, over the gateways that are ready, in turn: what clients
 * see behind a load balancer. No request is sent twice.
 */
export async function sendLoad(layout: Layout, { rate, paths, signal }: LoadOptions): Promise<Answer[]> {
  const balancer = watchGateways(layout, signal);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const answers: Promise<Answer>[] = [];
  const startedMs = performance.now();
  try {
    while (!signal.aborted) {
      const due = Math.floor(((performance.now() - startedMs) / 1_000) * rate);
      while (answers.length < due) {
        const url = balancer.next();
        answers.push(ask(agent, url, paths[answers.length % paths.length] as string));
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return await Promise.all(answers);
  } finally {
    await balancer.stop();
    agent.destroy();
  }
}

function watchGateways({ gateways }: Layout, signal: AbortSignal) {
  const failures = gateways.map(() => 0);
  let turn = 0;
  const watching = (async () => {
    while (!signal.aborted) {
      await Promise.all(
        gateways.map(async ({ member }, i) => {
          failures[i] = (await member.isReady()) ? 0 : (failures[i] as number) + 1;
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    }
  })();
  return {
    next(): string {
      const ready = gateways.filter((_, i) => (failures[i] as number) < FAILED_CHECKS);
      const among = ready.length > 0 ? ready : gateways;
      turn += 1;
      return (among[turn % among.length] as (typeof gateways)[number]).url;
    },
    stop: () => watching,
  };
}

function ask(agent: Agent, url: string, path: string): Promise<Answer> {
  const beganMs = performance.now();
  return new Promise((resolve) => {
    const end = (status: number | undefined, error?: string) =>
      resolve({
        path,
        status,
        beganMs,
        tookMs: performance.now() - beganMs,
        ...(error !== undefined && { error }),
      });
    const sent = request(`${url}${path}`, { agent, headers: { "x-api-key": KEY } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        if (text.length < 1_000) text += part;
      });
      response.on("end", () => end(response.statusCode, response.statusCode === 200 ? undefined : text));
      response.on("error", (error) => end(undefined, String(error)));
    });
    sent.on("error", (error) => end(undefined, String(error)));
    sent.end();
  });
}

/** Counts by status, for messages; failed connections as their errors. */
export function countStatuses(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, error } of answers) {
    const name = String(status ?? error);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** For a line about a run: how many, by status, and how long they took. */
export function summarize(answers: readonly Answer[]) {
  const times = timesOf(answers).sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0);
  return {
    answers: answers.length,
    statuses: countStatuses(answers),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
  };
}

/** How long each took, in milliseconds. */
export function timesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ tookMs }) => tookMs);
}
