import { parseArgs } from "node:util";

export const POOLS_USAGE = `Usage:
  npm run pools -- export --chain 8453 --out FILE [--json]
  npm run pools -- import FILE [--sha256 HASH] [--samples 50] [--json]

Ships the known pools of a chain, so that another index need not scan the chain for them.

export  writes the pools of every factory up to the last final block of the index, and prints the file's SHA-256.
import  takes what the store lacks; the ingest goes on from there. Stop the ingest of the chain first. A file of another
        chain, of another version, or with blocks missing between it and the store is refused.

  --chain N      chain id
  --out FILE     where to write; an existing file is replaced
  --sha256 HASH  refuses a file with another hash: take it from whom you trust, not from beside the file
  --samples N    with EVM_RPC_<chain>, so many pools are compared with the chain before anything is written (default 50)
  --json         prints what was written as JSON
  --help         prints this text

The store is that of the server that runs on DATA_DIR or ran there last, or MONGODB_URL where it is set.
`;

/** The call is wrong. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export type PoolsCall = { readonly asJson: boolean } & (
  | { readonly kind: "export"; readonly chainId: number; readonly out: string }
  | {
      readonly kind: "import";
      readonly file: string;
      readonly sha256: string | undefined;
      readonly samples: number;
    }
);

const OPTIONS = {
  chain: { type: "string" },
  out: { type: "string" },
  sha256: { type: "string" },
  samples: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Throws UsageError. */
export function parsePoolsCall(args: readonly string[]): PoolsCall | "help" {
  const { values, positionals } = parse(args);
  if (values.help === true) return "help";
  const [verb, file, ...more] = positionals;
  const asJson = values.json === true;
  if (verb === "export") {
    if (file !== undefined || values.sha256 !== undefined || values.samples !== undefined)
      throw new UsageError("export takes --chain and --out.");
    if (values.out === undefined) throw new UsageError("--out is missing: the file to write.");
    return { kind: "export", chainId: readNumber("--chain", values.chain), out: values.out, asJson };
  }
  if (verb !== "import")
    throw new UsageError(`The first argument must be export or import, not "${verb ?? ""}".`);
  if (file === undefined || more.length > 0) throw new UsageError("import takes one file.");
  if (values.chain !== undefined || values.out !== undefined)
    throw new UsageError("import takes its chain from the file.");
  const sha256 = values.sha256?.toLowerCase();
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256))
    throw new UsageError(`--sha256 must be 64 hexadecimal digits, not "${sha256}".`);
  return { kind: "import", file, sha256, samples: readNumber("--samples", values.samples ?? "50"), asJson };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readNumber(name: string, text: string | undefined): number {
  if (text === undefined) throw new UsageError(`${name} is missing.`);
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} takes a number, not "${text}".`);
  return Number(text);
}
