import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import { getExchange } from "../../../services/shared/http/exchange.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import { rejectSuspended } from "../../auth/keys/key-authenticator.ts";
import type { Auth } from "../../auth/open-auth.ts";
import type { PublicLimits } from "../../auth/public-limits.ts";
import type { Clock } from "../../request/clock.ts";
import { createCors } from "../../request/cors.ts";
import type { Page } from "../../request/routes.ts";
import { type Ask, createAsk } from "../asking.ts";
import { createToolset } from "../toolset.ts";
import { answerPost, isToolCall, sendMethodNotAllowed } from "./answer-post.ts";

export interface McpPageDeps {
  readonly catalogue: readonly Endpoint[];
  readonly access: Pick<Auth, "authenticateKey" | "addressLimits">;
  readonly publicLimits: Pick<PublicLimits, "count">;
  readonly clock: Clock;
  readonly log: Log;
  /** Where this gateway answers on this machine: tools ask there, as any client does. */
  readonly ownUrl: () => string;
}

/** Of /mcp: other methods, and headers that clients of the protocol send. */
export const mcpCors = createCors({
  methods: ["POST", "OPTIONS"],
  allowed: ["X-API-KEY", "Accept", "Content-Type", "Mcp-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID"],
});

/**
 * POST /mcp: Streamable HTTP of the Model Context Protocol, without sessions and streams. It needs a valid key. A call of a
 * tool costs the key what the endpoints cost that it asks; any other message counts against the address, as a page does.
 */
export function createMcpPage(deps: McpPageDeps): Page {
  const { access, publicLimits, clock, log, ownUrl } = deps;
  const tools = createToolset(deps.catalogue);
  const onFault = (err: unknown) => log.error({ err }, "a tool failed");

  return async (req, res) => {
    if (req.method !== "POST") {
      await publicLimits.count("page", req, res);
      return sendMethodNotAllowed(res);
    }
    const key = req.headers["x-api-key"];
    const sent = typeof key === "string" ? key : undefined;
    const beforeLookup = () => access.addressLimits.admitLookup(req, res);
    const holder = await access.authenticateKey(sent, { beforeLookup });
    getExchange(res).fields.key = holder.id;
    rejectSuspended(holder);

    const askGateway = createAsk({ baseUrl: ownUrl(), key: sent ?? "" });
    let asked = 0;
    const ask: Ask = (...args) => {
      asked += 1;
      return askGateway(...args);
    };
    const countPage = () => publicLimits.count("page", req, res);
    const server = { tools, asker: () => ({ ask }), clock, onFault };
    await answerPost(
      server,
      { req, res },
      {
        admit: async (message) => void (isToolCall(message) || (await countPage())),
        // What is answered from the declarations alone is a page too.
        release: async (message) => void (!isToolCall(message) || asked > 0 || (await countPage())),
      },
    );
  };
}
