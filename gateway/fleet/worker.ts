import prometheus from "prom-client";
import { createMetrics, type Metrics } from "../../services/shared/metrics/metrics.ts";
import type { BucketRequest, BucketResponse, SharedBuckets } from "../auth/limits/shared-buckets.ts";
import type { GatewayConfig } from "../config.ts";
import type { GatewayParts, RunningGateway } from "../service.ts";
import { isKind, type ToParent, type ToWorker } from "./messages.ts";

/** What a worker shares with its parent. */
export interface ParentChannel {
  /** The limits of all workers together. */
  readonly sharedBuckets: SharedBuckets;
  /** Sends these to the parent on request, which merges them with those of the other workers. */
  shareMetrics(metrics: Metrics): void;
  /** Reports that this worker listens. */
  reportReady(): void;
}

/** The part of `process` that it needs: a channel to the parent. */
export interface Channel {
  send?(message: unknown): boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

export function openParentChannel(channel: Channel = process): ParentChannel {
  const waiting = new Map<number, (responses: readonly BucketResponse[]) => void>();
  let lastId = 0;
  channel.on("message", (message) => {
    if (!isKind(message, ["buckets"])) return;
    const { id, responses } = message as ToWorker;
    const resolve = waiting.get(id);
    waiting.delete(id);
    resolve?.(responses);
  });
  const send = (message: ToParent): void => void channel.send?.(message);
  const take = (requests: readonly BucketRequest[]): Promise<readonly BucketResponse[]> =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      send({ kind: "buckets", id: lastId, requests });
    });

  return {
    sharedBuckets: {
      // No deadline: this process ends with its parent, and a busy parent will respond.
      take,
      raiseUsage: (usage) => send({ kind: "usage", usage }),
    },
    shareMetrics(metrics) {
      prometheus.AggregatorRegistry.setRegistries(metrics.registry);
      // It responds to the parent's requests.
      new prometheus.AggregatorRegistry();
    },
    reportReady: () => send({ kind: "ready" }),
  };
}

/** Runs one of several processes of a gateway. */
export async function startWorker(
  config: GatewayConfig,
  startGateway: (config: GatewayConfig, parts: GatewayParts) => Promise<RunningGateway>,
): Promise<RunningGateway> {
  const parent = openParentChannel();
  const { workers = 1, cacheBytes } = config;
  // The parent serves the metrics of all on the one port for them.
  const share = { ...config, cacheBytes: cacheBytes && Math.floor(cacheBytes / workers), admin: undefined };
  const metrics = createMetrics({ name: "gateway" });
  parent.shareMetrics(metrics);
  const running = await startGateway(share, { metrics, sharedBuckets: parent.sharedBuckets });
  parent.reportReady();
  return running;
}
