import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Server } from "node:http";
import type { Express, Request, Response } from "express";
import { closeHttpServer, listen } from "../../../services/shared/http/server.ts";
import { countForClient } from "../../auth/limits/client-address.ts";
import { createGatewayServer } from "../../request/server.ts";

type Handle = (req: Request, res: Response) => Promise<void>;

/** The pay-per-request host for this process alone: requests count for the client that they are asked for. */
export interface InnerHost {
  /** Where it answers, and what a request for a client bears. Listens from the first call on. */
  open(
    clientAddress: string,
  ): Promise<{ readonly baseUrl: string; readonly headers: Record<string, string> }>;
  stop(timeoutMs: number): Promise<void>;
}

const TOKEN_HEADER = "x-inner-token";
const CLIENT_HEADER = "x-inner-client";
const HOST = "127.0.0.1";

/**
 * A port of its own with a token of its own. At the public port every payer of tools would have one address, this machine's,
 * and share its limits; and any worker might answer there, which knows no token of another.
 */
export function createInnerHost(handle: Handle, createApp: (handle: Handle) => Express): InnerHost {
  const token = randomBytes(32);
  let opened: Promise<{ server: Server; baseUrl: string }> | undefined;

  const answer: Handle = async (req, res) => {
    const sent = Buffer.from(String(req.headers[TOKEN_HEADER] ?? ""), "base64url");
    const client = req.headers[CLIENT_HEADER];
    const isOurs = sent.length === token.length && timingSafeEqual(sent, token);
    if (!isOurs || typeof client !== "string") {
      // Whoever comes here has looked for open ports: there is nothing to tell.
      res.statusCode = 404;
      res.end();
      return;
    }
    countForClient(req, client);
    return handle(req, res);
  };
  const start = async () => {
    const server = createGatewayServer(createApp(answer));
    const port = await listen(server, { host: HOST, port: 0 });
    return { server, baseUrl: `http://${HOST}:${port}` };
  };

  return {
    async open(clientAddress) {
      opened ??= start();
      const { baseUrl } = await opened;
      const headers = { [TOKEN_HEADER]: token.toString("base64url"), [CLIENT_HEADER]: clientAddress };
      return { baseUrl, headers };
    },
    async stop(timeoutMs) {
      if (opened !== undefined) await closeHttpServer((await opened).server, { timeoutMs });
    },
  };
}
