import type { IncomingHttpHeaders } from "node:http";
import type { Request, Response } from "express";
import { sendText } from "../../../services/shared/http/exchange.ts";
import { readBody } from "../../request/body.ts";
import type { McpServerDeps } from "../server.ts";
import { answerMessage } from "./answer-message.ts";
import { parseMessage } from "./message.ts";

type Message = Readonly<Record<string, unknown>>;

/** Each rejects with a ServiceError to refuse. */
export interface MessageGates {
  /** Before a message is answered. */
  readonly admit?: (message: Message) => Promise<void>;
  /** When its answer is there. */
  readonly release?: (message: Message) => Promise<void>;
}

/** Answers the message in the body of a POST to /mcp. Where its client leaves, what the call still asks is aborted. */
export async function answerPost(
  server: McpServerDeps,
  { req, res }: { readonly req: Request; readonly res: Response },
  { admit, release }: MessageGates,
): Promise<void> {
  const message = parseMessage(await readBody(req));
  await admit?.(message);
  const gone = new AbortController();
  res.once("close", () => gone.abort());
  const headers = singleHeaders(req.headers);
  const response = await answerMessage(server, { message, headers, signal: gone.signal });
  if (response === undefined) return;
  await release?.(message);
  res.setHeader("Cache-Control", "no-store");
  const text = Buffer.from(await response.arrayBuffer());
  if (text.length > 0) return sendText(res, { status: response.status, type: "application/json", text });
  res.statusCode = response.status;
  res.end();
}

export function isToolCall({ method }: Message): boolean {
  return method === "tools/call";
}

/** Clients try GET for a stream of the server's own messages, which there are none of: 405 tells them so. */
export function sendMethodNotAllowed(res: Response): void {
  const message = "Only POST is answered here: one message of the Model Context Protocol a request.";
  res.setHeader("Allow", "POST, OPTIONS");
  const text = JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null });
  sendText(res, { status: 405, type: "application/json", text });
}

function singleHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  const names = ["accept", "content-type", "mcp-protocol-version"];
  return Object.fromEntries(
    names.map((name) => [name, typeof headers[name] === "string" ? headers[name] : undefined]),
  );
}
