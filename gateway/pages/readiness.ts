import type { Family } from "../../services/shared/contract/endpoint.ts";
import type { ChainStatus } from "../../services/shared/grpc/types.ts";
import { showChains } from "../../services/shared/ingest-status/show-chains.ts";
import type { Readiness } from "../../services/shared/service/probes.ts";
import type { ChainsByFamily, ServiceStatuses } from "../proxy/upstream/service-statuses.ts";
import type { Upstream, UpstreamGroup } from "../proxy/upstream/upstream.ts";

export interface ReadinessSources {
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly statuses: Pick<ServiceStatuses, "read">;
  /** Replicas that refuse this gateway's service token: no waiting cures that, so it is named. */
  readonly tokenRefusedBy?: ReadonlySet<Upstream> | undefined;
  readonly isDraining: () => boolean;
}

/**
 * What /readyz says: ready when every service has a serving replica, every chain with a source can be answered from
 * data, and the gateway is not being stopped. Names each service, the state of its replicas and what is read of each
 * chain; addresses stay inside.
 *
 * With `exclude=data` chains are shown and not judged: for load balancers, since a first read of one chain may take
 * hours and must not keep requests from all others.
 */
export async function readinessOf(
  { groups, statuses, tokenRefusedBy, isDraining }: ReadinessSources,
  search = "",
): Promise<Readiness> {
  const excludesData = isDataExcluded(search);
  const services = describeServices(groups, await statuses.read());
  const isServed = Object.values(services).every(
    ({ serving, hasData }) => serving > 0 && (excludesData || hasData),
  );
  const isRefused = (family: string) =>
    groups.get(family as Family)?.members.some((member) => tokenRefusedBy?.has(member)) === true;
  const shown = Object.fromEntries(
    Object.entries(services).map(([family, { hasData, serving, replicas, chains }]) => {
      const ready = serving > 0 && (excludesData || hasData);
      const reason = isRefused(family) ? { reason: "service_token_refused" } : {};
      // What a service that is down could serve by now is unknown.
      const shownChains =
        serving > 0 && chains !== undefined && chains.length > 0 ? { chains: showChains(chains) } : {};
      return [family, { ready, serving, replicas, ...reason, ...shownChains }];
    }),
  );
  if (isDraining()) return { ready: false, details: { status: "draining", services: shown } };
  return { ready: isServed, details: { services: shown } };
}

function describeServices(groups: ReadinessSources["groups"], chainsOf: ChainsByFamily) {
  return Object.fromEntries(
    [...groups].map(([family, { members }]) => {
      const serving = members.filter((member) => member.state === "serving").length;
      const chains = chainsOf.get(family);
      // A service that serves but whose status cannot be read: whether it has data is unknown.
      const hasData = chains?.every(canAnswer) ?? false;
      return [family, { serving, replicas: members.map((member) => member.state), chains, hasData }];
    }),
  );
}

/** What was indexed once is served whatever the ingest does; a chain without a source is not waited for. */
function canAnswer({ indexedBlock, state }: ChainStatus): boolean {
  return indexedBlock !== null || state === "no_source" || state === "unknown";
}

/** Whether a probe leaves data out of account: `?exclude=data`, as Kubernetes' own /readyz leaves out checks. */
export function isDataExcluded(search: string): boolean {
  return new URLSearchParams(search).getAll("exclude").includes("data");
}
