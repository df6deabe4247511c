import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../command.ts";
import { installTools } from "./install-tools.ts";

/** Not among the dependencies: 41 MB that one test needs. The last version that runs on Node 20. */
const INSPECTOR = "@modelcontextprotocol/inspector-cli@1.0.3";
/** Where gateway/test/mcp-inspector.test.ts looks for it. */
const FOLDER = join(ROOT, ".cache/mcp-inspector");

/** The command line of the Model Context Protocol's own inspector, installed for the test that asks our server by it. */
export async function ensureInspector(): Promise<void> {
  const scope = join(FOLDER, "node_modules/@modelcontextprotocol");
  const manifest = join(scope, "inspector-cli/package.json");
  if (existsSync(manifest) && INSPECTOR.endsWith(`@${JSON.parse(readFileSync(manifest, "utf8")).version}`))
    return;
  const installed = await installTools(FOLDER, [INSPECTOR]);
  if (!installed.ok) throw new Error(`Cannot install ${INSPECTOR}: ${installed.output.trim()}`);
  // It asks the package around it, which is the whole inspector, for its name and version.
  writeFileSync(join(scope, "package.json"), readFileSync(manifest));
}
