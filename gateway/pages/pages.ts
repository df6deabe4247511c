import type { Endpoint, Family } from "../../services/shared/contract/endpoint.ts";
import type { Metrics } from "../../services/shared/host/metrics.ts";
import { probes } from "../../services/shared/host/probes.ts";
import type { Access } from "../access/open-access.ts";
import type { Clock } from "../clock.ts";
import type { Page } from "../http/routes.ts";
import type { ServiceStatuses } from "../upstream/service-statuses.ts";
import type { UpstreamGroup } from "../upstream/upstream.ts";
import { createDocsPage } from "./docs.ts";
import { homePage } from "./home.ts";
import { createOpenApiPage } from "./openapi.ts";
import { readinessOf } from "./readiness.ts";
import { createUsagePage } from "./usage.ts";

export interface PagesDeps {
  readonly catalogue: readonly Endpoint[];
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly statuses: ServiceStatuses;
  readonly metrics: Metrics;
  readonly access: Access;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  readonly publicUrl?: string | undefined;
  /** Of the pay-per-request host, where there is one. */
  readonly payUrl?: string | undefined;
}

/** The gateway's own pages by path. None but /usage needs a key. */
export function createPages(deps: PagesDeps): Readonly<Record<string, Page>> {
  const router = probes({ metrics: deps.metrics, readiness: (search) => readinessOf(deps, search) });
  const probe: Page = (req, res) =>
    new Promise((resolve, reject) => {
      res.once("close", resolve);
      router(req, res, reject);
    });
  return {
    "/": homePage,
    "/docs": createDocsPage(deps),
    "/openapi.json": createOpenApiPage(deps),
    "/usage": createUsagePage({ ...deps.access, clock: deps.clock }),
    "/livez": probe,
    "/readyz": probe,
    "/metrics": probe,
  };
}
