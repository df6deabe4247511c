import type { Endpoint, Family } from "../../services/shared/contract/endpoint.ts";
import { createProbes } from "../../services/shared/service/probes.ts";
import type { Auth } from "../auth/open-auth.ts";
import type { PublicLimits } from "../auth/public-limits.ts";
import { createExplorer } from "../explorer/explorer.ts";
import type { ServiceStatuses } from "../proxy/upstream/service-statuses.ts";
import type { Upstream, UpstreamGroup } from "../proxy/upstream/upstream.ts";
import type { Clock } from "../request/clock.ts";
import type { Page } from "../request/routes.ts";
import { createDocsPage } from "./docs.ts";
import { createHomePage, docsRedirect } from "./home.ts";
import type { LiveExamples } from "./live-examples.ts";
import { createLlmsFullPage, createLlmsPage } from "./llms.ts";
import { createObjectsOpenApiPage, createOpenApiPage, createTypedOpenApiPage } from "./openapi.ts";
import { readinessOf } from "./readiness.ts";
import { createStatusPage } from "./status.ts";
import { createUsagePage } from "./usage.ts";
import { createResourcesPage, iconPage, robotsPage } from "./well-known.ts";

export interface PagesDeps {
  readonly catalogue: readonly Endpoint[];
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly tokenRefusedBy?: ReadonlySet<Upstream> | undefined;
  readonly statuses: ServiceStatuses;
  readonly access: Auth;
  readonly publicLimits: Pick<PublicLimits, "count">;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  readonly publicUrl?: string | undefined;
  /** Of the pay-per-request host, where there is one. */
  readonly payUrl?: string | undefined;
  readonly liveExamples?: (() => LiveExamples) | undefined;
}

/**
 * The gateway's own pages by path. None but /usage needs a key, and its key pays for it. Probes are not counted: they cost
 * what their refusal would, and a load balancer that shares its address with a flood must not take the gateway for dead.
 */
export function createPages(deps: PagesDeps): Readonly<Record<string, Page>> {
  const router = createProbes({ readiness: (search) => readinessOf(deps, search) });
  const probe: Page = (req, res) =>
    new Promise((resolve, reject) => {
      res.once("close", resolve);
      router(req, res, reject);
    });
  const counted =
    (page: Page): Page =>
    async (req, res) => {
      await deps.publicLimits.count("page", req, res);
      await page(req, res);
    };
  const explorer = createExplorer(deps.catalogue);
  const assets = Object.entries(explorer.assets).map(([path, page]) => [path, counted(page)]);
  return {
    "/": counted(createHomePage(explorer)),
    ...Object.fromEntries(assets),
    "/docs": counted(createDocsPage(deps, explorer)),
    "/docs/": counted(docsRedirect),
    "/openapi.json": counted(createOpenApiPage(deps)),
    "/openapi-3.1.json": counted(createTypedOpenApiPage(deps)),
    "/openapi-objects.json": counted(createObjectsOpenApiPage(deps)),
    "/llms.txt": counted(createLlmsPage(deps)),
    "/llms-full.txt": counted(createLlmsFullPage(deps)),
    "/status": counted(createStatusPage(deps)),
    "/favicon.ico": counted(iconPage),
    "/robots.txt": counted(robotsPage),
    "/.well-known/x402": counted(createResourcesPage(deps)),
    "/usage": createUsagePage({ ...deps.access, clock: deps.clock }),
    "/livez": probe,
    "/readyz": probe,
  };
}
