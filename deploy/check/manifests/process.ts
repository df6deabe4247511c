import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A program of the image: one main.ts of the tree. */
export interface Process {
  /** What Compose services and Deployments are called: `gateway`, `evm-dex`, `evm-dex-ingest`. */
  readonly name: string;
  /** The name under which the settings table lists its readers. */
  readonly role: string;
  /** Relative to the repository, e.g. services/evm-dex/main.ts. */
  readonly source: string;
  /** What the image runs, e.g. dist/services/evm-dex/main.js. */
  readonly built: string;
}

/**
 * The path that probes of a process request. The gateway's /readyz waits for the data of every chain, which may take
 * hours: a probe that waits for it keeps requests from all other chains.
 */
export function readinessPath(process: string): string {
  return process === "gateway" ? "/readyz?exclude=data" : "/readyz";
}

/** Every process of this repository, found by its main.ts; deploy/ is left out, since the image does not hold it. */
export function listProcesses(root: string): Process[] {
  const services = readdirSync(join(root, "services"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "shared")
    .map(({ name }) => name)
    .sort();
  const candidates = [
    describe("gateway", "gateway", "gateway/main.ts"),
    describe("facilitator", "facilitator", "gateway/payments/facilitator/main.ts"),
    ...services.flatMap((name) => [
      describe(name, name, `services/${name}/main.ts`),
      describe(`${name}-ingest`, "ingest", `services/${name}/ingest/main.ts`),
    ]),
  ];
  return candidates.filter(({ source }) => existsSync(join(root, source)));
}

function describe(name: string, role: string, source: string): Process {
  return { name, role, source, built: `dist/${source.replace(/\.ts$/, ".js")}` };
}
