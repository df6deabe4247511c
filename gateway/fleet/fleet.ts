import cluster, { type Worker } from "node:cluster";
import prometheus from "prom-client";
import { createLog, type Log } from "../../services/shared/logging/log.ts";
import type { RunningAdminServer } from "../../services/shared/metrics/admin-server.ts";
import { type Stoppable, SUPERVISED } from "../../services/shared/process/process.ts";
import { openAdmin } from "../admin.ts";
import { LocalBuckets } from "../auth/limits/local-buckets.ts";
import { takeForWorkers } from "../auth/limits/shared-buckets.ts";
import type { GatewayConfig } from "../config.ts";
import { systemClock } from "../request/clock.ts";
import { isKind, type ToParent, type ToWorker } from "./messages.ts";
import { isPiped, relayLines } from "./relay.ts";

/** Between a worker's end and its successor's start: doubled up to `longest` while they end soon. */
const RESTART_MS = { first: 500, longest: 30_000, stableAfter: 60_000 };
/** On top of what a worker gives its requests to finish. */
const STOP_GRACE_MS = 15_000;

/**
 * Runs a gateway as several processes behind one port, for machines with more cores than one. This process answers no
 * request: it hands connections out in turn (node:cluster), keeps the limits that the workers share where no Redis
 * does, puts their metrics together, and starts a worker anew that dies. Resolves when all listen; rejects when one
 * ends before.
 */
export async function startFleet(config: GatewayConfig): Promise<Stoppable> {
  const fleet = new Fleet(config);
  await fleet.start();
  return fleet;
}

class Fleet implements Stoppable {
  readonly #config: GatewayConfig;
  readonly #log: Log;
  readonly #buckets = new LocalBuckets(systemClock);
  readonly #registry = new prometheus.AggregatorRegistry();
  /** Workers in a row that ended soon after their start. */
  #failures = 0;
  /** Of workers that will be started anew. */
  readonly #restarts = new Set<NodeJS.Timeout>();
  #admin: RunningAdminServer | undefined;
  #isStopping = false;

  constructor(config: GatewayConfig) {
    this.#config = config;
    this.#log = createLog({ name: "gateway", level: config.logLevel });
    // A file keeps each write whole; a full pipe mixes the writes of several processes.
    cluster.setupPrimary({ stdio: ["pipe", isPiped(1) ? "pipe" : "inherit", "inherit", "ipc"] });
    cluster.on("message", (worker, message) => {
      if (isKind(message, ["buckets", "usage"])) this.#onMessage(worker, message as ToParent);
    });
  }

  async start(): Promise<void> {
    const { workers = 1 } = this.#config;
    const { contentType } = this.#registry;
    try {
      const metrics = { contentType, render: () => this.#renderMetrics() };
      this.#admin = await openAdmin(this.#config, { metrics, log: this.#log });
      await Promise.all(Array.from({ length: workers }, () => untilListening(this.#fork())));
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#log.info({ workers }, "all workers listen");
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => this.#end(worker as Worker)));
    await this.#admin?.stop();
  }

  #fork(): Worker {
    // Its standard input ends when this process stops it, or dies.
    const worker = cluster.fork({ [SUPERVISED]: "1" });
    const startedMs = performance.now();
    worker.process.stdin?.on("error", () => {});
    if (worker.process.stdout) relayLines(worker.process.stdout);
    worker.once("exit", (code, signal) => {
      if (!this.#isStopping) this.#replace(worker, { code, signal, ranMs: performance.now() - startedMs });
    });
    return worker;
  }

  #replace({ process: { pid } }: Worker, exit: { code: number; signal: string; ranMs: number }): void {
    const { first, longest, stableAfter } = RESTART_MS;
    if (exit.ranMs >= stableAfter) this.#failures = 0;
    const restartInMs = Math.min(longest, first * 2 ** this.#failures);
    this.#failures += 1;
    this.#log.error({ worker: pid, code: exit.code, signal: exit.signal, restartInMs }, "a worker ended");
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#fork();
    }, restartInMs);
    this.#restarts.add(timer);
  }

  async #end(worker: Worker): Promise<void> {
    if (worker.isDead()) return;
    const child = worker.process;
    // Its last lines come before its close.
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.stdin?.end();
    const { drainDelayMs, drainTimeoutMs } = this.#config;
    const kill = setTimeout(
      () => {
        this.#log.warn({ worker: child.pid }, "a worker did not stop in time and is killed");
        child.kill("SIGKILL");
      },
      drainDelayMs + drainTimeoutMs + STOP_GRACE_MS,
    );
    await closed;
    clearTimeout(kill);
  }

  #onMessage(worker: Worker, message: ToParent): void {
    switch (message.kind) {
      case "usage":
        this.#buckets.raiseUsage(message.usage);
        break;
      case "buckets": {
        const { id, requests } = message;
        send(worker, { kind: "buckets", id, responses: takeForWorkers(this.#buckets, requests) });
      }
    }
  }

  /** Rejects where a worker does not answer in time. */
  async #renderMetrics(): Promise<string> {
    try {
      return await this.#registry.clusterMetrics();
    } catch (err) {
      this.#log.warn({ err }, "the workers' metrics could not be put together");
      throw err;
    }
  }
}

/** Rejects where it ends before. */
function untilListening(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on("message", (message) => {
      if (isKind(message, ["ready"])) resolve();
    });
    worker.once("exit", (code) => reject(new Error(`A worker ended with code ${code} before it listened`)));
  });
}

function send(worker: Worker, message: ToWorker): void {
  // A worker that has died waits for no response.
  if (worker.isConnected()) worker.send(message, () => {});
}
