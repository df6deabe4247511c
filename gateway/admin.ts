import type { Log } from "../services/shared/logging/log.ts";
import { type RunningAdminServer, startAdminServer } from "../services/shared/metrics/admin-server.ts";
import type { Metrics } from "../services/shared/metrics/metrics.ts";
import type { GatewayConfig } from "./config.ts";

/** The port of operators: the gateway's own, or that of the parent of its workers, for all of them. */
export async function openAdmin(
  { admin }: Pick<GatewayConfig, "admin">,
  { metrics, log }: { readonly metrics: Pick<Metrics, "render" | "contentType">; readonly log: Log },
): Promise<RunningAdminServer | undefined> {
  if (admin === undefined) return undefined;
  const running = await startAdminServer(metrics, { ...admin, setting: "ADMIN_PORT" });
  if (running.url !== undefined) log.info({ url: running.url }, "serving metrics");
  return running;
}
