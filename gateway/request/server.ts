import type { Server } from "node:http";
import type { Express } from "express";
import { createHttpServer, type HttpTimeouts } from "../../services/shared/http/server.ts";

/**
 * The gateway's HTTP server. Two refusals that Node would answer by itself with an empty body (a missing Host, an
 * Expect it does not know) are left to the application, so that every error has the documented form.
 */
export function createGatewayServer(app: Express, timeouts?: HttpTimeouts): Server {
  const server = createHttpServer(app, timeouts);
  Object.assign(server, { requireHostHeader: false });
  server.on("checkExpectation", (req, res) => server.emit("request", req, res));
  // The body would be refused: no client gets 100 Continue.
  server.on("checkContinue", (req, res) => server.emit("request", req, res));
  return server;
}
