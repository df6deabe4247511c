import { parseArgs } from "node:util";
import { loadDeployments } from "../../services/evm-dex/deployments.ts";
import { knowDeployedChains } from "../../services/shared/evm/deployed-chains.ts";
import { printJson } from "../../services/shared/process/print-json.ts";
import { type Environment, readSettings } from "../../services/shared/settings/settings.ts";
import { locateStore } from "../../services/shared/settings/store-location.ts";
import { STORE_NAMES, type StoreName } from "../../services/shared/storage/stores.ts";
import { readKeptRows } from "../../services/solana/store/kept-rows.ts";
import { examineStore, type StoreReport } from "./examine.ts";
import type { Finding } from "./finding.ts";
import { report } from "./report.ts";

export const STORE_USAGE = `Usage:
  npm run doctor -- store [--service evm-dex] [--samples 5] [--fast | --full] [--json]

Looks at the stores of DATA_DIR or MONGODB_URL while they are in use, and changes nothing: version, chain, head, rows beyond it,
sums against what they are sums of, unfinished work, sizes, and of SQLite every page. Says what to do about each finding. Exits
with 1 if there is a fault; unfinished work is none.

  --service S  ${STORE_NAMES.slice(0, -1).join(", ")} or ${STORE_NAMES.at(-1)}; default: all that have a store
  --samples N  pools, tokens and vaults of each chain of which sums are compared; default 5
  --seed N     of the choice; default: another one each time
  --fast       reads no page that these need not: no sizes of tables, no check of pages
  --full       compares indexes with rows, too (SQLite): minutes for a large store
  --json       prints everything as JSON
  --help       prints this text
`;

const OPTIONS = {
  service: { type: "string" },
  samples: { type: "string" },
  seed: { type: "string" },
  fast: { type: "boolean" },
  full: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** A call that cannot be understood, in words. */
export class StoreUsageError extends Error {
  override readonly name = "StoreUsageError";
}

interface StoreCall {
  readonly services: readonly StoreName[];
  readonly samples: number;
  readonly seed: number;
  readonly pages: "none" | "quick" | "full";
  readonly asJson: boolean;
}

function parseCall(args: readonly string[]): StoreCall | "help" {
  const given = readOptions(args);
  if (given.help === true) return "help";
  if (given.fast === true && given.full === true)
    throw new StoreUsageError("--fast and --full exclude each other.");
  const service = STORE_NAMES.find((name) => name === given.service);
  if (given.service !== undefined && service === undefined)
    throw new StoreUsageError(`--service takes ${STORE_NAMES.join(", ")}, not "${given.service}".`);
  return {
    services: service === undefined ? STORE_NAMES : [service],
    samples: readNumber("--samples", given.samples, 5),
    seed: readNumber("--seed", given.seed, Math.floor(Date.now() / 1_000)),
    pages: given.full === true ? "full" : given.fast === true ? "none" : "quick",
    asJson: given.json === true,
  };
}

function readOptions(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new StoreUsageError(error instanceof Error ? error.message : String(error));
  }
}

function readNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,10}$/.test(text)) throw new StoreUsageError(`${name} takes a number, not "${text}".`);
  return Number(text);
}

/** Returns the exit code. Throws StoreUsageError, ConfigError, and Error where there is no store. */
export async function runStoreDoctor(args: readonly string[], env: Environment): Promise<number> {
  const call = parseCall(args);
  if (call === "help") {
    process.stdout.write(STORE_USAGE);
    return 0;
  }
  const { asJson, pages, samples, seed, services } = call;
  const { dataDir, isLocal, mongodbUrl, note, running } = locateStore(env);
  if (note !== undefined) process.stderr.write(`${note}\n`);
  const { HISTORY_DIR, LEASE_TTL_MS } = readSettings(env, ["HISTORY_DIR", "LEASE_TTL_MS"]);
  const file = env.DEPLOYMENTS_FILE ?? running?.deploymentsFile;
  knowDeployedChains(file);
  // Of a local chain that does not run, nothing says what is deployed there.
  const deployments = file === undefined && isLocal ? [] : loadDeployments(file);
  const options = {
    ...{ dataDir, mongodbUrl, deployments, pages, samples, seed, kept: readKeptRows(env) },
    ...{ historyDir: HISTORY_DIR ?? dataDir, leaseTtlMs: LEASE_TTL_MS },
  };
  const found = await Promise.all(services.map((service) => examineStore(service, options)));
  const stores = found.filter((each): each is StoreReport => each !== undefined);
  if (stores.length === 0)
    throw new Error(
      `There is no store in ${mongodbUrl === undefined ? dataDir : "the databases of MONGODB_URL"}.`,
    );
  const identities = compareIdentities(stores);
  const findings = [...stores.flatMap((store) => store.findings), ...identities];
  const faults = findings.filter(({ level }) => level === "fault").length;
  const notes = findings.length - faults;
  if (asJson) printJson({ seed, faults, notes, stores, identities });
  else {
    const told = identities.map(({ todo, what }) => `FAULT ${what}\n      ${todo}\n`).join("");
    process.stdout.write(`${report(stores)}\n${told}${faults} faults, ${notes} notes (seed ${seed})\n`);
  }
  return faults === 0 ? 0 : 1;
}

/** Two services of one chain id must have indexed the same chain. */
function compareIdentities(stores: readonly StoreReport[]): Finding[] {
  const seen = new Map<string, { readonly service: string; readonly identity: string }>();
  return stores.flatMap(({ chains, service }) =>
    chains.flatMap(({ chain, identity }): Finding[] => {
      if (identity === null || chain === "solana") return [];
      const other = seen.get(chain);
      seen.set(chain, other ?? { service, identity });
      if (other === undefined || other.identity === identity) return [];
      return [
        {
          ...{ level: "fault", service, chain, check: "chain" },
          what: `Chain ${chain} of ${service} has the genesis ${identity}, that of ${other.service} ${other.identity}.`,
          todo: "One of them was read from another chain: give it a DATA_DIR or database of its own, or reindex it.",
        },
      ];
    }),
  );
}
