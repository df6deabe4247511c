import { loadSdk } from "../sdk.ts";
import { createMcpServer, type McpServerDeps } from "../server.ts";

export interface MessageRequest {
  readonly message: Readonly<Record<string, unknown>>;
  /** Of the HTTP request: the transport checks the media types and the version of the protocol. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/**
 * Answers one message by a server of its own: without sessions there is nothing to keep, to share among workers or to lose
 * in a restart. Resolves with undefined if the client has gone before.
 */
export async function answerMessage(
  deps: McpServerDeps,
  { message, headers, signal }: MessageRequest,
): Promise<Response | undefined> {
  const sdk = await loadSdk();
  const transport = new sdk.HttpTransport({ enableJsonResponse: true });
  const server = createMcpServer(sdk, deps);
  await server.connect(transport);
  const sent = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  // Address and method are only read by what this server has not: hosts to compare with, and streams.
  const request = new Request("http://localhost/mcp", { method: "POST", headers: sent });
  const gone = new Promise<undefined>((resolve) =>
    signal.addEventListener("abort", () => resolve(undefined), { once: true }),
  );
  try {
    return await Promise.race([transport.handleRequest(request, { parsedBody: message }), gone]);
  } finally {
    // Aborts what the call still asks.
    await server.close();
  }
}
