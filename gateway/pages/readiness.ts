import type { Family } from "../../services/shared/contract/endpoint.ts";
import type { Readiness } from "../../services/shared/host/probes.ts";
import type { UpstreamGroup } from "../upstream/upstream.ts";

export interface ReadinessSources {
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly isDraining: () => boolean;
}

/**
 * What /readyz says: ready when every service has a serving replica and the gateway is not being stopped.
 * Names each service and the state of its replicas; their addresses stay inside.
 */
export function readinessOf({ groups, isDraining }: ReadinessSources): Readiness {
  const services = Object.fromEntries(
    [...groups].map(([family, { members }]) => {
      const serving = members.filter((member) => member.state === "serving").length;
      return [family, { ready: serving > 0, serving, replicas: members.map((member) => member.state) }];
    }),
  );
  const isServed = Object.values(services).every((service) => service.ready);
  if (isDraining()) return { ready: false, details: { status: "draining", services } };
  return { ready: isServed, details: { services } };
}
