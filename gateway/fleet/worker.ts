import prometheus from "prom-client";
import { createMetrics, type Metrics } from "../../services/shared/metrics/metrics.ts";
import type { BucketRequest, BucketResponse, SharedBuckets } from "../auth/limits/shared-buckets.ts";
import type { GatewayConfig } from "../config.ts";
import type { GatewayParts, RunningGateway } from "../service.ts";
import { isKind, type ToFleet, type ToWorker } from "./messages.ts";

/** What one of several gateway processes on a port has from the process that started it. */
export interface FleetLine {
  /** The limits of all workers together. */
  readonly sharedBuckets: SharedBuckets;
  /** Answers the parent's questions for these, which it puts together with those of the others. */
  shareMetrics(metrics: Metrics): void;
  /** Says that this worker listens. */
  tellReady(): void;
}

/** The part of `process` that it needs: a channel to the parent. */
export interface Channel {
  send?(message: unknown): boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

export function openFleetLine(channel: Channel = process): FleetLine {
  const waiting = new Map<number, (responses: readonly BucketResponse[]) => void>();
  let lastId = 0;
  channel.on("message", (message) => {
    if (!isKind(message, ["buckets"])) return;
    const { id, responses } = message as ToWorker;
    const resolve = waiting.get(id);
    waiting.delete(id);
    resolve?.(responses);
  });
  const tell = (message: ToFleet): void => void channel.send?.(message);
  const take = (requests: readonly BucketRequest[]): Promise<readonly BucketResponse[]> =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      tell({ kind: "buckets", id: lastId, requests });
    });

  return {
    sharedBuckets: {
      // No deadline: this process ends with its parent, and a busy parent will respond.
      take,
      raiseUsage: (usage) => tell({ kind: "usage", usage }),
    },
    shareMetrics(metrics) {
      prometheus.AggregatorRegistry.setRegistries(metrics.registry);
      // It is what answers the questions.
      new prometheus.AggregatorRegistry();
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
  // The parent serves the metrics of all on the one port for them.
  const share = { ...config, cacheBytes: cacheBytes && Math.floor(cacheBytes / workers), admin: undefined };
  const metrics = createMetrics({ name: "gateway" });
  line.shareMetrics(metrics);
  const running = await startGateway(share, { metrics, sharedBuckets: line.sharedBuckets });
  line.tellReady();
  return running;
}
