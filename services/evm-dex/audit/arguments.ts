import { listEvmChains } from "../../shared/evm/chains.ts";
export const AUDIT_USAGE = `Compares rows of the store with each other and with the chain, each at its own block.

  npm run audit -- --chain 8453 [--pools 20] [--seed 1] [--store-only] [--json]
  npm run audit -- --chain 8453 --plant [--seed 1] [--json]

  --chain N     the chain's id; reads the local chain of a running npm start, else the first URL of EVM_RPC_<chain>
  --pools N     how many pools are sampled (default 20)
  --seed N      the same seed gives the same sample (default: the time)
  --store-only  checks what the store alone tells, without a node
  --plant       proves the audit: changes values of a copy in memory, one at a time, and requires that each is reported
  --json        prints the result as JSON, with every difference, at the end

Reads the store of the services: MONGODB_URL, or what the server of DATA_DIR works on, and DEPLOYMENTS_FILE. Exits with
1 if anything differs, or a planted value is not reported.
`;

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface AuditCommand {
  readonly chain: number;
  readonly pools: number;
  readonly seed: number;
  readonly storeOnly: boolean;
  readonly plant: boolean;
  readonly asJson: boolean;
}

const NUMBERS = ["--chain", "--pools", "--seed"];
const SWITCHES = ["--store-only", "--plant", "--json"];

export function parseAuditArguments(args: readonly string[], now: number): AuditCommand | "help" {
  if (args.includes("--help") || args.includes("-h")) return "help";
  const values = new Map<string, number>();
  for (let i = 0; i < args.length; i++) {
    const name = args[i] ?? "";
    if (values.has(name)) throw new UsageError(`${name} is given twice.`);
    if (SWITCHES.includes(name)) values.set(name, 1);
    else if (NUMBERS.includes(name)) values.set(name, readNumber(name, args[++i] ?? ""));
    else throw new UsageError(`Unknown argument ${name}.`);
  }
  const chain = values.get("--chain");
  const chains = listEvmChains().map(({ id }) => id);
  if (chain === undefined || !chains.includes(chain))
    throw new UsageError(`--chain must be ${chains.join(" or ")}.`);
  const pools = values.get("--pools") ?? 20;
  if (pools < 1) throw new UsageError("--pools must be at least 1.");
  const [storeOnly, plant] = [values.has("--store-only"), values.has("--plant")];
  if (storeOnly && plant) throw new UsageError("--plant needs a node: leave out --store-only.");
  const asJson = values.has("--json");
  return { chain, pools, seed: values.get("--seed") ?? now % 1e9, storeOnly, plant, asJson };
}

function readNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} takes a number, not "${text}".`);
  return Number(text);
}
