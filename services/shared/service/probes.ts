import { type Request, Router } from "express";
import { getExchange, sendText } from "../http/exchange.ts";
import type { Metrics } from "../metrics/metrics.ts";

export interface Readiness {
  /** Whether this process should receive requests. */
  readonly ready: boolean;
  /** Shown in the body of /readyz: modes and reasons, without addresses or credentials. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * A router for /livez (the process runs), /readyz (200 or 503) and, on internal ports, /metrics (Prometheus text).
 */
export function createProbes(options: {
  readonly metrics?: Metrics;
  /** `search` of the request, with its question mark, or empty. */
  readonly readiness: (search: string) => Promise<Readiness>;
  /** Whether a request may see the details and not just the status; absent = every request may. */
  readonly mayShowDetails?: ((req: Request) => boolean) | undefined;
}): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use((_req, res, next) => {
    res.setHeader("Cache-Control", "no-store");
    next();
  });
  router.get("/livez", (_req, res) => {
    markProbe(res, "/livez");
    sendText(res, { status: 200, type: "application/json", text: '{"status":"ok"}' });
  });
  router.get("/readyz", async (req, res) => {
    markProbe(res, "/readyz");
    const queryAt = req.url.indexOf("?");
    const { ready, details } = await options.readiness(queryAt < 0 ? "" : req.url.slice(queryAt));
    const shown = options.mayShowDetails?.(req) === false ? undefined : details;
    const text = JSON.stringify({ status: ready ? "ready" : "not_ready", ...shown });
    sendText(res, { status: ready ? 200 : 503, type: "application/json", text });
  });
  const { metrics } = options;
  if (metrics === undefined) return router;
  router.get("/metrics", async (_req, res) => {
    markProbe(res, "/metrics");
    sendText(res, { status: 200, type: metrics.contentType, text: await metrics.render() });
  });
  return router;
}

function markProbe(res: Parameters<typeof getExchange>[0], route: string): void {
  const exchange = getExchange(res);
  exchange.route = route;
  exchange.isProbe = true;
}
