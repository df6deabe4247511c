import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { systemClock } from "../request/clock.ts";
import { createAsk } from "./asking.ts";
import { loadSdk } from "./sdk.ts";
import { createMcpServer } from "./server.ts";
import { createToolset } from "./toolset.ts";

/** Serves one client over stdin and stdout until stdin ends. Nothing but messages may be written to stdout. */
export async function serveStdio(
  catalogue: readonly Endpoint[],
  gateway: { readonly baseUrl: string; readonly key: string },
): Promise<void> {
  const ask = createAsk(gateway);
  const server = createMcpServer(await loadSdk(), {
    tools: createToolset(catalogue),
    asker: () => ({ ask }),
    clock: systemClock,
    onFault: (error) => console.error(error),
  });
  const ended = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}
