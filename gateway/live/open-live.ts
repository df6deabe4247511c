import type { Family } from "../../services/shared/contract/endpoint.ts";
import { Counter, Gauge, type Metrics } from "../../services/shared/metrics/metrics.ts";
import type { Auth } from "../auth/open-auth.ts";
import type { GatewayConfig } from "../config.ts";
import type { FamilyHeads } from "../proxy/heads/family-heads.ts";
import type { UpstreamClient } from "../proxy/upstream/client.ts";
import type { Clock } from "../request/clock.ts";
import { LiveHub } from "./hub.ts";
import type { ListenerTimes } from "./listener.ts";
import { Live } from "./live.ts";
import { createTableSource } from "./table-source.ts";

/** What tests replace. */
export interface LiveParts {
  readonly times?: Partial<ListenerTimes>;
  readonly tickMs?: number;
  readonly lingerMs?: number;
}

export interface LiveDeps {
  readonly access: Pick<Auth, "authenticateKey" | "admitKey">;
  readonly client: Pick<UpstreamClient, "send">;
  readonly clock: Clock;
  readonly heads: ReadonlyMap<Family, FamilyHeads>;
  readonly isDraining: () => boolean;
  readonly metrics: Metrics;
  readonly parts: LiveParts;
}

/** Streams of events, with their metrics. Nothing is asked of a service before the first stream. */
export function openLive(config: GatewayConfig, deps: LiveDeps): Live {
  const { access, client, clock, heads, isDraining, metrics, parts } = deps;
  const { liveStreams, liveStreamsPerKey } = config;
  const { lingerMs, ...listening } = parts;
  const hub = new LiveHub({
    heads,
    fetchTable: createTableSource({ client, clock }),
    maxTopics: liveStreams,
    ...(lingerMs !== undefined && { lingerMs }),
  });
  const live = new Live({
    ...{ hub, isDraining, maxStreams: liveStreams, maxStreamsPerKey: liveStreamsPerKey },
    authenticateKey: access.authenticateKey,
    admitKey: access.admitKey,
    ...listening,
  });
  publish(live, metrics);
  return live;
}

function publish(live: Live, { registry }: Metrics): void {
  const registers = [registry];
  new Gauge({
    name: "gateway_live_streams",
    help: "Live streams that are open",
    registers,
    collect() {
      this.set(live.streams);
    },
  });
  new Gauge({
    name: "gateway_live_tables",
    help: "Tables that are followed for live streams, each asked for once a head",
    registers,
    collect() {
      this.set(live.topics);
    },
  });
  new Counter({
    name: "gateway_live_slow_total",
    help: "Times a client of a live stream did not read, and got the table as it was later in place of changes",
    registers,
    collect() {
      this.reset();
      this.inc(live.slow);
    },
  });
}
