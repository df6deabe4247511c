import { readFileSync } from "node:fs";
import { z } from "zod";
import { knowDeployedChains } from "../shared/evm/deployed-chains.ts";
import { MULTICALL3 } from "../shared/evm/multicall/multicall.ts";
import { aaveV3 } from "./protocols/aave-v3/protocol.ts";
import type { AaveDeployment } from "./protocols/aave-v3/state.ts";
import { PROTOCOLS } from "./protocols/index.ts";
import { type OracleDeployment, priceFeeds } from "./protocols/price-oracles/deployment.ts";
import type { LendingProtocol } from "./protocols/protocol.ts";

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address")
  .transform((text) => text.toLowerCase() as `0x${string}`);

const chain = z.strictObject({
  chainId: z.int().positive(),
  name: z.string().min(1),
  /** Seconds between two blocks; read by shared/evm/deployed-chains.ts. */
  blockSeconds: z.number().positive().optional(),
  multicall3: address.default(MULTICALL3),
  priceFeeds: priceFeeds.default([]),
  /** By protocolId; each protocol validates its own section. */
  protocols: z.record(z.string(), z.unknown()),
});

/** Other services have their own sections in the same file: those are not validated here, and this one is optional. */
const file = z.looseObject({
  lending: z.strictObject({ chains: z.array(chain) }).default({ chains: [] }),
});

/** A protocol and its contracts on one chain. */
export interface DeployedProtocol {
  readonly protocol: LendingProtocol;
  readonly deployment: unknown;
}

export interface ChainDeployments {
  readonly chainId: number;
  readonly name: string;
  readonly multicall3: `0x${string}`;
  readonly protocols: readonly DeployedProtocol[];
  readonly oracles: OracleDeployment;
}

/** Loads the chains and lending protocols to index from `path` or the built-in mainnet registry. Throws an Error that names the file and the fault. */
export function loadDeployments(
  path: string | undefined,
  protocols: readonly LendingProtocol[] = PROTOCOLS,
): readonly ChainDeployments[] {
  const where = path ?? "the built-in registry";
  knowDeployedChains(path);
  const parsed = file.safeParse(readJson(path ?? new URL("./deployments.json", import.meta.url), where));
  if (!parsed.success)
    throw new Error(`Cannot read deployments from ${where}: ${z.prettifyError(parsed.error)}`);
  return parsed.data.lending.chains.map((section) => {
    const { protocols: sections, priceFeeds: feeds, blockSeconds: _, ...known } = section;
    const deployed = Object.entries(sections).map(([id, section]): DeployedProtocol => {
      const protocol = protocols.find((each) => each.id === id);
      const field = `lending.chains (chain ${known.chainId}).protocols.${id}`;
      if (protocol === undefined)
        throw new Error(`Cannot read deployments from ${where}: ${field} is not a known protocol`);
      try {
        return { protocol, deployment: protocol.parseDeployment(section) };
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Cannot read deployments from ${where}: ${field}: ${reason}`, { cause });
      }
    });
    return { ...known, protocols: deployed, oracles: { aave: aaveProvidersOf(deployed), feeds } };
  });
}

/** Providers of the Aave markets, whose oracles price tokens for every protocol. */
function aaveProvidersOf(deployed: readonly DeployedProtocol[]): `0x${string}`[] {
  const aave = deployed.find(({ protocol }) => protocol === (aaveV3 as LendingProtocol));
  return (aave?.deployment as AaveDeployment | undefined)?.markets.map(({ provider }) => provider) ?? [];
}

function readJson(source: string | URL, where: string): unknown {
  try {
    return JSON.parse(readFileSync(source, "utf8"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read deployments from ${where}: ${reason}`, { cause });
  }
}
