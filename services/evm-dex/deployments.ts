import { readFileSync } from "node:fs";
import { z } from "zod";
import { protocolOf } from "./protocols/index.ts";
import { KINDS } from "./protocols/protocol.ts";

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address")
  .transform((text) => text.toLowerCase() as `0x${string}`);

const factory = z.strictObject({
  address,
  dexName: z.string().min(1),
  family: z.enum(["dexa", "dexb", "clones"]),
  kind: z.enum(KINDS),
  /** First block that can hold one of its PoolCreated events. */
  fromBlock: z.int().nonnegative(),
  /** The voter that makes gauges for its pools, and the token that gauges pay; absent where there are none. */
  rewards: z.strictObject({ voter: address, token: address }).optional(),
});

const chain = z.strictObject({
  chainId: z.int().positive(),
  name: z.string().min(1),
  /** Anchors of the price walk: 1 USD each. */
  stablecoins: z.array(address).min(1),
  factories: z.array(factory).min(1),
});

/** Other services keep their own sections in the same file: they are not ours to judge. */
const file = z.looseObject({ evmDex: z.strictObject({ chains: z.array(chain).min(1) }) });

export type Factory = z.output<typeof factory>;
export type ChainDeployments = z.output<typeof chain>;

/** The chains, factories and stablecoins to index: of `path`, else the built-in mainnet registry. Throws naming the file and what is wrong in it. */
export function loadDeployments(path: string | undefined): readonly ChainDeployments[] {
  const source = path ?? new URL("./deployments.json", import.meta.url);
  const parsed = file.safeParse(readJson(source));
  if (!parsed.success) {
    throw new Error(
      `Cannot read deployments from ${path ?? "the built-in registry"}: ${z.prettifyError(parsed.error)}`,
    );
  }
  return parsed.data.evmDex.chains;
}

function readJson(source: string | URL): unknown {
  try {
    return JSON.parse(readFileSync(source, "utf8"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read deployments from ${source}: ${reason}`, { cause });
  }
}

/** The protocol generation of a factory's pools, as /evm/dexes names it. */
export function dexTypeOf(deployed: Factory): "v2" | "v3" {
  return protocolOf(deployed.kind).generation;
}

/** Seconds between two blocks. */
const BLOCK_SECONDS: Readonly<Record<number, number>> = { 1: 12, 8453: 2 };

/** About how long an answer stays the latest one; of a chain that is not known, that of the fastest. */
export function blockSecondsOf(chainId: unknown): number {
  return BLOCK_SECONDS[Number(chainId)] ?? 2;
}
