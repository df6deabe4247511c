import type { IncomingMessage } from "node:http";
import { ServiceError } from "../../../services/shared/errors.ts";
import { hasBoundedBody } from "../../request/body.ts";
import { splitTarget } from "../../request/entry.ts";

export const MCP_PATH = "/mcp";
/** Of a message to /mcp: a tool call has some hundred. */
export const MAX_MESSAGE_BYTES = 65_536;

/** Whether a request may carry a body: only a message to /mcp may. */
export function isMessage(req: Pick<IncomingMessage, "method" | "headers"> & { url: string }): boolean {
  return (
    req.method === "POST" && splitTarget(req.url).path === MCP_PATH && hasBoundedBody(req, MAX_MESSAGE_BYTES)
  );
}

/** A JSON-RPC message; what is in it is for the SDK to check. */
export function parseMessage(body: Buffer): Readonly<Record<string, unknown>> {
  let message: unknown;
  try {
    message = JSON.parse(body.toString());
  } catch (cause) {
    throw new ServiceError("bad_request", "The body is not JSON.", { cause });
  }
  // The protocol has none since 2025-06-18, and one request would cost as many.
  if (Array.isArray(message))
    throw new ServiceError("bad_request", "Batches are not taken: send each message on its own.");
  if (typeof message !== "object" || message === null)
    throw new ServiceError("bad_request", "The body is not a JSON-RPC message.");
  return message as Record<string, unknown>;
}
