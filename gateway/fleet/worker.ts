import prometheus from "prom-client";
import { createMetrics, type Metrics } from "../../services/shared/host/metrics.ts";
import type { GatewayConfig } from "../config.ts";
import type { BucketAnswer, BucketKeeper } from "../limits/bucket-keeper.ts";
import type { GatewayParts, RunningGateway } from "../service.ts";
import { isKind, type ToFleet, type ToWorker } from "./messages.ts";

/** What one of several gateway processes on a port has from the process that started it. */
export interface FleetLine {
  /** Keeps the limits of all workers together. */
  readonly keeper: BucketKeeper;
  /** Metrics whose text is that of all workers together. */
  joinMetrics(metrics: Metrics): Metrics;
  /** Says that this worker listens. */
  tellReady(): void;
}

/** The part of `process` that it needs: a channel to the parent. */
export interface Channel {
  send?(message: unknown): boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

export function openFleetLine(channel: Channel = process): FleetLine {
  const waiting = new Map<number, (answer: never) => void>();
  let lastId = 0;
  channel.on("message", (message) => {
    if (!isKind(message, ["buckets", "metrics"])) return;
    const told = message as ToWorker;
    const resolve = waiting.get(told.id);
    waiting.delete(told.id);
    resolve?.((told.kind === "buckets" ? told.answers : told.text) as never);
  });
  const tell = (message: ToFleet): void => void channel.send?.(message);
  const ask = <T>(make: (id: number) => ToFleet): Promise<T> =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve as (answer: never) => void);
      tell(make(lastId));
    });

  return {
    keeper: {
      // No deadline: a parent that is gone ends this process, and one that is busy will answer.
      ask: (questions) => ask<readonly BucketAnswer[]>((id) => ({ kind: "buckets", id, questions })),
      giveBack: (wanted) => tell({ kind: "unused", wanted }),
      learn: (of) => tell({ kind: "learnt", of }),
    },
    joinMetrics(metrics) {
      prometheus.AggregatorRegistry.setRegistries(metrics.registry);
      // It is what answers the parent's questions for these.
      new prometheus.AggregatorRegistry();
      return {
        ...metrics,
        async render() {
          const text = await ask<string | undefined>((id) => ({ kind: "metrics", id }));
          return text ?? metrics.render();
        },
      };
    },
    tellReady: () => tell({ kind: "ready" }),
  };
}

/** One of several processes of a gateway: as the gateway by itself, but for what all of them share. */
export async function startWorker(
  config: GatewayConfig,
  startGateway: (config: GatewayConfig, parts: GatewayParts) => Promise<RunningGateway>,
): Promise<RunningGateway> {
  const line = openFleetLine();
  const { workers = 1, cacheBytes } = config;
  const share = { ...config, cacheBytes: cacheBytes && Math.floor(cacheBytes / workers) };
  const metrics = line.joinMetrics(createMetrics({ name: "gateway" }));
  const running = await startGateway(share, { metrics, keeper: line.keeper });
  line.tellReady();
  return running;
}
