import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run } from "../command.ts";

/** Not among the dependencies: 41 MB that one test needs. The last version that runs on Node 20. */
const INSPECTOR = "@modelcontextprotocol/inspector-cli@1.0.3";
/** Where gateway/test/mcp-inspector.test.ts looks for it. */
const FOLDER = join(ROOT, ".cache/mcp-inspector");
const TIMEOUT_MS = 300_000;

/** The command line of the Model Context Protocol's own inspector, installed for the test that asks our server by it. */
export async function ensureInspector(): Promise<void> {
  const scope = join(FOLDER, "node_modules/@modelcontextprotocol");
  const manifest = join(scope, "inspector-cli/package.json");
  if (existsSync(manifest) && INSPECTOR.endsWith(`@${JSON.parse(readFileSync(manifest, "utf8")).version}`))
    return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "package.json"), JSON.stringify({ private: true }));
  const flags = ["--save-exact", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const installed = await run(["npm", "install", ...flags, INSPECTOR], {
    cwd: FOLDER,
    timeoutMs: TIMEOUT_MS,
  });
  if (!installed.ok) throw new Error(`Cannot install ${INSPECTOR}: ${installed.output.trim()}`);
  // It asks the package around it, which is the whole inspector, for its name and version.
  writeFileSync(join(scope, "package.json"), readFileSync(manifest));
}
