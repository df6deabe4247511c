import { parseArgs } from "node:util";
import { listEvmChains } from "../../../shared/evm/chains.ts";

/** The call is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const listIds = () =>
  listEvmChains()
    .map(({ id }) => String(id))
    .join(", ");

export const RECORD_USAGE = `Usage:
  npm run record -- --chain <chain> --from <block> --to <block> --out <folder> [--portal <url>] [--all]
                    [--json]

Records blocks into files of JSON lines (.jsonl.gz): headers whole, logs of exchanges and Transfers of their LP tokens, the
senders of their transactions. Final blocks only, each proven by its hash. Run again, it goes on where it ended.

  --chain   the id of a chain of the deployments
  --from    first block
  --to      last block
  --out     folder; made where it does not exist
  --portal  dataset of a portal; default: EVM_PORTAL_<chain>, and without it the nodes of EVM_RPC_<chain>, by receipts
  --all     every log, not only what the index of exchanges reads
  --json    prints what was recorded as JSON
  --help    prints this text
`;

export const IMPORT_USAGE = `Usage:
  npm run import -- <folder> [--chain <chain>] [--check] [--json]

Indexes recorded blocks (.jsonl, .jsonl.gz: a block a line, in order, as npm run record or a portal wrote them) into the
store, and ends behind the last one. EVM_RPC_<chain> stays the judge: hashes and samples are compared with it, and what
does not agree is read from there. Stop the ingest of the chain first.

  <folder>  with the files
  --chain   the id of a chain of the deployments; default: what manifest.json in the folder says
  --check   reads the folder whole: hash and parent of every block; needs no node and writes nothing
  --json    prints what was read or indexed as JSON
  --help    prints this text
`;

export interface RecordCall {
  readonly chainId: number;
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly folder: string;
  readonly portal: string | undefined;
  readonly isAll: boolean;
  readonly asJson: boolean;
}

export interface ImportCall {
  readonly folder: string;
  readonly chainId: number | undefined;
  readonly isCheck: boolean;
  readonly asJson: boolean;
}

/** Throws UsageError. */
export function parseRecordCall(args: readonly string[]): RecordCall | "help" {
  const { values, positionals } = parse(args, {
    ...{ chain: { type: "string" }, from: { type: "string" }, to: { type: "string" } },
    ...{
      out: { type: "string" },
      portal: { type: "string" },
      all: { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) return "help";
  if (positionals.length > 0)
    throw new UsageError(`Cannot use "${positionals[0]}": record takes options only`);
  const [fromBlock, toBlock] = [readBlock("--from", values.from), readBlock("--to", values.to)];
  if (toBlock < fromBlock)
    throw new UsageError(`--to is ${toBlock}: it must not be below --from, ${fromBlock}`);
  const chainId = readChain(values.chain);
  if (chainId === undefined) throw new UsageError(`--chain is missing: ${listIds()}`);
  const folder = values.out;
  if (typeof folder !== "string" || folder === "")
    throw new UsageError("--out is missing: the folder to record into");
  const portal = typeof values.portal === "string" ? values.portal : undefined;
  if (portal !== undefined && !/^https?:\/\/[^/\s]/.test(portal))
    throw new UsageError("--portal must be an http or https URL of a dataset");
  const [isAll, asJson] = [values.all === true, values.json === true];
  return { chainId, fromBlock, toBlock, folder, portal, isAll, asJson };
}

/** Throws UsageError. */
export function parseImportCall(args: readonly string[]): ImportCall | "help" {
  const { values, positionals } = parse(args, {
    ...{ chain: { type: "string" }, check: { type: "boolean" } },
    ...{ json: { type: "boolean" }, help: { type: "boolean" } },
  });
  if (values.help === true) return "help";
  const [folder, ...rest] = positionals;
  if (folder === undefined || rest.length > 0)
    throw new UsageError(`Cannot import ${positionals.length} folders: name one`);
  const [isCheck, asJson] = [values.check === true, values.json === true];
  return { folder, chainId: readChain(values.chain), isCheck, asJson };
}

function parse(
  args: readonly string[],
  options: Record<string, { type: "string" | "boolean" }>,
): { values: Record<string, unknown>; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readChain(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const chain = listEvmChains().find(({ id }) => String(id) === given);
  if (chain === undefined) throw new UsageError(`--chain is "${given}": it must be one of ${listIds()}`);
  return chain.id;
}

function readBlock(name: string, given: unknown): number {
  if (given === undefined) throw new UsageError(`${name} is missing: the number of a block`);
  const number = Number(given);
  if (!/^\d+$/.test(String(given)) || !Number.isSafeInteger(number))
    throw new UsageError(`${name} is "${given}": it must be the number of a block`);
  return number;
}
