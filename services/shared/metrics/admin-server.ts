import { createServer } from "node:http";
import { closeHttpServer, listen } from "../http/server.ts";
import type { Metrics } from "./metrics.ts";

/** Address of the listener for operators. */
export interface AdminAddress {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number | "off";
  /** The port is a default: if it is in use, any free one will do. */
  readonly mayMove?: boolean;
}

export interface RunningAdminServer {
  /** Base address on this machine; undefined where it is off. */
  readonly url: string | undefined;
  stop(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 1_000;

/** The port of a setting, or by default the fixed one; a free one if the process has other free ports. */
export function adminAddressOf(
  settings: { readonly host: string; readonly port: number | "off" | undefined },
  fallback: { readonly port: number; readonly isAnyPortFree: boolean },
): AdminAddress {
  const { host, port = fallback.isAnyPortFree ? 0 : fallback.port } = settings;
  return { host, port, mayMove: settings.port === undefined };
}

/**
 * Serves /metrics and /livez on a separate port: metrics show revenue and wallets, and cost more than any response to a
 * client. Throws an error that names the setting when the port is in use.
 */
export async function startAdminServer(
  metrics: Pick<Metrics, "render" | "contentType">,
  { host, port, mayMove = false, setting }: AdminAddress & { readonly setting: string },
): Promise<RunningAdminServer> {
  if (port === "off") return { url: undefined, stop: async () => {} };
  const server = createServer((request, response) => {
    const respond = (status: number, type: string, text: string) => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : text);
    };
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && request.url === "/livez") respond(200, "application/json", '{"status":"ok"}');
    else if (!isRead || request.url !== "/metrics")
      respond(404, "text/plain", "There is /metrics and /livez.\n");
    else
      metrics.render().then(
        (text) => respond(200, metrics.contentType, text),
        () => respond(500, "text/plain", "The metrics could not be collected.\n"),
      );
  });
  const bound = await listen(server, { host, port }).catch((error: Error) => {
    // A second instance on this machine must not fail for a port that its operator did not choose.
    if (mayMove && (error as NodeJS.ErrnoException).code === "EADDRINUSE")
      return listen(server, { host, port: 0 });
    throw new Error(`${error.message} (${setting})`, { cause: error });
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    stop: () => closeHttpServer(server, { timeoutMs: CLOSE_TIMEOUT_MS }),
  };
}
