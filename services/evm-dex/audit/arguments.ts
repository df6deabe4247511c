export const AUDIT_USAGE = `Compares rows of the store with the chain: reads each value again, at the row's own block.

  npm run audit -- --chain 8453 [--pools 20] [--seed 1]

  --chain N   8453 or 1; reads the local chain of a running npm start, else the first URL of EVM_RPC_<chain>
  --pools N   how many pools are sampled (default 20)
  --seed N    the same seed gives the same sample (default: the time)

Reads the store of the services: MONGODB_URL, or what the server of DATA_DIR works on. Exits with 1 if anything differs.
`;

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface AuditCommand {
  readonly chain: 8453 | 1;
  readonly pools: number;
  readonly seed: number;
}

export function parseAuditArguments(args: readonly string[], now: number): AuditCommand | "help" {
  if (args.includes("--help") || args.includes("-h")) return "help";
  const values = new Map<string, number>();
  for (let i = 0; i < args.length; i += 2) {
    const [name = "", text = ""] = [args[i], args[i + 1]];
    if (!["--chain", "--pools", "--seed"].includes(name)) throw new UsageError(`Unknown argument ${name}.`);
    if (values.has(name)) throw new UsageError(`${name} is given twice.`);
    if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} takes a number, not "${text}".`);
    values.set(name, Number(text));
  }
  const chain = values.get("--chain");
  if (chain !== 8453 && chain !== 1) throw new UsageError("--chain must be 8453 or 1.");
  const pools = values.get("--pools") ?? 20;
  if (pools < 1) throw new UsageError("--pools must be at least 1.");
  return { chain, pools, seed: values.get("--seed") ?? now % 1e9 };
}
