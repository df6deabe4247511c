/** `npm run mcp`: an MCP server over stdio in front of a running gateway. Exit code 2 = wrong arguments or environment. */
import { parseArgs } from "node:util";
import { sanitizeText } from "../../services/shared/logging/log.ts";

const DEFAULT_URL = "http://127.0.0.1:8080";
const USAGE = `Usage:
  npm run --silent mcp

Serves the Model Context Protocol over stdin and stdout; clients start it by themselves (docs/mcp.md).

  CHAINTABLES_API_KEY   key that tools ask with (npm run keys -- create --label my-agent)
  CHAINTABLES_URL       gateway that they ask; ${DEFAULT_URL} when unset
`;

/** A wrong call. */
class UsageError extends Error {}

function readGateway(): { baseUrl: string; key: string } | "help" {
  let values: { help?: boolean };
  try {
    ({ values } = parseArgs({ options: { help: { type: "boolean", short: "h" } } }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (values.help === true) return "help";
  const key = process.env.CHAINTABLES_API_KEY?.trim();
  if (!key) throw new UsageError("CHAINTABLES_API_KEY is not set: tools need an API key of the gateway.");
  const url = process.env.CHAINTABLES_URL?.trim() || DEFAULT_URL;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`Cannot read CHAINTABLES_URL: it must be an http or https URL, got ${url}`);
  return { baseUrl: url.replace(/\/+$/, ""), key };
}

try {
  const gateway = readGateway();
  if (gateway === "help") process.stdout.write(USAGE);
  else {
    // The tools are a second of reading, which a wrong call need not wait for.
    const [{ catalogue }, { serveStdio }] = await Promise.all([
      import("../catalogue.ts"),
      import("../mcp/stdio.ts"),
    ]);
    await serveStdio(catalogue, gateway);
  }
} catch (error) {
  const isUsage = error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${USAGE}` : ""}`);
  process.exitCode = isUsage ? 2 : 1;
}
