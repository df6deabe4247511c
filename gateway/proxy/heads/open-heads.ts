import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { Counter, type Metrics } from "../../../services/shared/metrics/metrics.ts";
import type { GatewayConfig } from "../../config.ts";
import type { UpstreamGroup } from "../upstream/upstream.ts";
import { FamilyHeads } from "./family-heads.ts";

/** What tests replace. */
export interface HeadsParts {
  readonly outageMs?: number;
  /** How long the response cache follows the heads of a service that nobody asks. */
  readonly cacheIdleMs?: number;
}

/** The heads of each service, for live streams and the response cache. Nothing is followed before the first use. */
export function openHeads(
  { upstreams, serviceToken }: Pick<GatewayConfig, "upstreams" | "serviceToken">,
  options: {
    readonly groups: ReadonlyMap<Family, UpstreamGroup>;
    readonly metrics: Metrics;
    readonly outageMs: number | undefined;
  },
): ReadonlyMap<Family, FamilyHeads> {
  const { groups, metrics, outageMs } = options;
  const heads = new Map(
    [...groups].map(([family, group]) => [
      family,
      new FamilyHeads({ group, addresses: upstreams[family], serviceToken, outageMs }),
    ]),
  );
  new Counter({
    name: "gateway_heads_told_total",
    help: "Heads that services have told, for live streams and the response cache",
    labelNames: ["family"],
    registers: [metrics.registry],
    collect() {
      this.reset();
      for (const [family, { told }] of heads) this.inc({ family }, told);
    },
  });
  return heads;
}
