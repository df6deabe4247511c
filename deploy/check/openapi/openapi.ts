import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogue } from "../../../gateway/catalogue.ts";
import { toOpenApi } from "../../../services/shared/contract/derive/openapi.ts";
import { HOST_PATHS } from "../../../services/shared/contract/derive/openapi-host.ts";
import { toObjectsOpenApi } from "../../../services/shared/contract/derive/openapi-objects.ts";
import { toTypedOpenApi } from "../../../services/shared/contract/derive/openapi-typed.ts";
import { run } from "../command.ts";
import { installTools } from "../packages/install-tools.ts";
import type { Finding } from "../step.ts";

/** Not among the dependencies: 83 MB that only this check needs. */
const LINTERS = ["@redocly/cli@2.77.0", "@stoplight/spectral-cli@6.16.3"];
const TIMEOUT_MS = 300_000;
const OPTIONS = { serverUrl: "https://data.example", hostPaths: HOST_PATHS, payUrl: "https://pay.example" };
const DOCUMENTS = {
  "openapi.json": toOpenApi,
  "openapi-3.1.json": toTypedOpenApi,
  "openapi-objects.json": toObjectsOpenApi,
} as const;
const REDOCLY = ["node_modules/.bin/redocly", "lint", "--extends=recommended", "--format=json"];
const SPECTRAL = ["node_modules/.bin/spectral", "lint", "-r", ".spectral.json", "-f", "json", "-q"];
const SPECTRAL_RULES = { extends: ["spectral:oas"] };
const NO_TELEMETRY = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

/** All documents of the gateway against the rules that Redocly and Spectral recommend: a warning is a fault. */
export async function inspectOpenApi(): Promise<Finding> {
  const folder = mkdtempSync(join(tmpdir(), "openapi-"));
  try {
    writeFileSync(join(folder, ".spectral.json"), JSON.stringify(SPECTRAL_RULES));
    for (const [name, describe] of Object.entries(DOCUMENTS))
      writeFileSync(join(folder, name), JSON.stringify(describe(catalogue, OPTIONS)));
    const inFolder = { cwd: folder, env: NO_TELEMETRY, timeoutMs: TIMEOUT_MS };
    const installed = await installTools(folder, LINTERS, NO_TELEMETRY);
    if (!installed.ok) return { faults: [`the linters cannot be installed: ${installed.output}`] };
    const faults: string[] = [];
    for (const name of Object.keys(DOCUMENTS)) {
      const redocly = await run([...REDOCLY, name], inFolder);
      const spectral = await run([...SPECTRAL, name], inFolder);
      const found = [...judgeRedocly(redocly.stdout), ...judgeSpectral(spectral.stdout)];
      faults.push(...found.map((fault) => `${name}: ${fault}`));
    }
    return { faults, seen: LINTERS.join(", ") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface RedoclyReport {
  readonly totals?: { readonly errors: number; readonly warnings: number };
  readonly problems?: readonly { readonly ruleId: string; readonly message: string }[];
}

/** Faults of a report, also one that is none. */
export function judgeRedocly(text: string): string[] {
  const report = parse<RedoclyReport>(text);
  if (report?.totals === undefined) return [`Redocly has printed no report: ${text.slice(0, 2_000)}`];
  const { errors, warnings } = report.totals;
  if (errors + warnings === 0) return [];
  const problems = (report.problems ?? []).map(({ ruleId, message }) => `Redocly, ${ruleId}: ${message}`);
  return problems.length > 0 ? problems : [`Redocly: ${errors} errors, ${warnings} warnings`];
}

interface SpectralFinding {
  readonly code: string;
  readonly message: string;
  readonly path: readonly (string | number)[];
}

export function judgeSpectral(text: string): string[] {
  const report = parse<readonly SpectralFinding[]>(text);
  if (!Array.isArray(report)) return [`Spectral has printed no report: ${text.slice(0, 2_000)}`];
  return report.map(({ code, message, path }) => `Spectral, ${code} at ${path.join(".")}: ${message}`);
}

function parse<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
