import { parseArgs } from "node:util";
import { SERVICE_NAMES, type ServiceName } from "../../services/shared/settings/settings.ts";
import { type ChainName, indexesOf, listChains } from "./indexes.ts";

export const REINDEX_USAGE = `Usage:
  npm run reindex -- --chain <chain> [--service <service>] [--yes] [--json]

Deletes the index of one chain, so that its ingest reads the chain again from the start. Shows what it deletes and
waits for a confirmation. Stop the ingest of the chain first: a reindex is refused while one runs. API keys, usage and
payments stay as they are, and so do other chains. Killed in the middle, it is finished by the next reindex or ingest.

  --chain    the id of an EVM chain of the deployments, or solana
  --service  ${SERVICE_NAMES.join(", ")}; default: every service that has the chain
  --yes      deletes without a confirmation
  --json     prints what was deleted as JSON
  --help     prints this text

The store is that of the server that runs on DATA_DIR or ran there last, or MONGODB_URL where it is set.
`;

/** The call is wrong. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface ReindexCall {
  readonly chain: ChainName;
  readonly service: ServiceName | undefined;
  readonly isConfirmed: boolean;
  readonly asJson: boolean;
}

/** Throws UsageError. */
export function parseReindexCall(args: readonly string[]): ReindexCall | "help" {
  const given = parse(args);
  if (given.help === true) return "help";
  const chain = oneOf(listChains(), { name: "--chain", given: given.chain });
  if (chain === undefined) throw new UsageError(`--chain is missing: ${listChains().join(", ")}`);
  const service = oneOf(SERVICE_NAMES, { name: "--service", given: given.service });
  if (indexesOf(chain, service).length === 0)
    throw new UsageError(`The service ${service} has no index of chain ${chain}`);
  return { chain, service, isConfirmed: given.yes === true, asJson: given.json === true };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        chain: { type: "string" },
        service: { type: "string" },
        yes: { type: "boolean" },
        json: { type: "boolean" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function oneOf<T extends string>(
  allowed: readonly T[],
  { name, given }: { name: string; given: string | undefined },
): T | undefined {
  const found = allowed.find((each) => each === given);
  if (given !== undefined && found === undefined)
    throw new UsageError(`${name} is "${given}": it must be one of ${allowed.join(", ")}`);
  return found;
}
