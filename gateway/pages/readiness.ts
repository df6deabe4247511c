import type { Family } from "../../services/shared/contract/endpoint.ts";
import type { Readiness } from "../../services/shared/host/probes.ts";
import type { Upstream, UpstreamGroup } from "../upstream/upstream.ts";

export interface ReadinessSources {
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  /** Replicas that refuse this gateway's service token: no waiting cures that, so it is named. */
  readonly tokenRefusedBy?: ReadonlySet<Upstream> | undefined;
  readonly isDraining: () => boolean;
}

/**
 * What /readyz says: ready when every service has a serving replica and the gateway is not being stopped.
 * Names each service and the state of its replicas; their addresses stay inside.
 */
export function readinessOf({ groups, tokenRefusedBy, isDraining }: ReadinessSources): Readiness {
  const services = Object.fromEntries(
    [...groups].map(([family, { members }]) => {
      const serving = members.filter((member) => member.state === "serving").length;
      const isRefused = members.some((member) => tokenRefusedBy?.has(member));
      const replicas = members.map((member) => member.state);
      const reason = isRefused ? { reason: "service_token_refused" } : {};
      return [family, { ready: serving > 0, serving, replicas, ...reason }];
    }),
  );
  const isServed = Object.values(services).every((service) => service.ready);
  if (isDraining()) return { ready: false, details: { status: "draining", services } };
  return { ready: isServed, details: { services } };
}
