import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Address } from "./node/transactions.ts";
import type { Deployment } from "./plan.ts";

/** What the ingests read from DEPLOYMENTS_FILE to index this chain: everything that the deployment has of each service. */
export function deploymentsDocument({ chainId, tokens, ...deployment }: Deployment) {
  const factories = factoriesOf({ tokens, ...deployment }).map((factory) => ({
    ...factory,
    fromBlock: deployment.deployBlock,
  }));
  const stablecoins = [tokens.USDC.address, tokens.DAI.address];
  const name = "Base (local devnet)";
  const protocols = protocolsOf({ tokens, ...deployment });
  return {
    evmDex: { chains: [{ chainId, name, stablecoins, factories }] },
    lending: { chains: [{ chainId, name, protocols }] },
  };
}

/** Where the devnet's lists come from. */
const OWN_LISTS = { source: "this devnet", date: "2026-11-24" };

/** By protocolId, each in the words of its protocol's own parser. */
function protocolsOf({
  aave,
  morpho,
  euler,
  deployBlock: fromBlock,
}: Omit<Deployment, "chainId">): Record<string, unknown> {
  const protocols: Record<string, unknown> = {};
  if (aave) protocols["aave-v3"] = { markets: [{ name: "Devnet", provider: aave.provider }] };
  if (morpho) {
    const vaultFactories = Object.values(morpho.factories).map((address) => ({ address, fromBlock }));
    const adaptiveCurveIrms = [morpho.irm];
    const vaults = Object.values(morpho.vaults).map(({ address }) => address);
    const listing = { ...OWN_LISTS, vaults };
    protocols["morpho-v1"] = {
      ...{ morpho: morpho.morpho, fromBlock, adaptiveCurveIrms, vaultFactories, listing },
    };
  }
  if (euler) {
    const { factory: eVaultFactory, earnFactory: address, perspectives } = euler;
    protocols["euler-v2"] = {
      eVaultFactory,
      eulerEarnFactories: [{ address, fromBlock }],
      perspectives: { ...OWN_LISTS, ...perspectives, ungoverned: [perspectives.ungoverned] },
    };
  }
  return protocols;
}

interface Factory {
  readonly address: Address;
  readonly dexName: string;
  readonly family: "dexa" | "dexb" | "clones";
  readonly kind: "uniswap-v3" | "pancake-v3" | "slipstream" | "aerodrome-v2";
  /** Who makes gauges for the factory's pools, and what they pay. */
  readonly rewards?: { readonly voter: Address; readonly token: Address };
}

function factoriesOf(deployment: Omit<Deployment, "chainId">): Factory[] {
  const { factory, tokens, aerodrome, slipstream, pancake, sushi } = deployment;
  const found: Factory[] = [{ address: factory, dexName: "Uniswap V3", family: "dexb", kind: "uniswap-v3" }];
  if (aerodrome) {
    const rewards = { voter: aerodrome.voter, token: tokens.AERO.address };
    const { factory: address } = aerodrome;
    found.push({ address, dexName: "Aerodrome V2", family: "dexa", kind: "aerodrome-v2", rewards });
  }
  const more = (deployed: { factory: Address } | undefined, names: Omit<Factory, "address">) => {
    if (deployed) found.push({ address: deployed.factory, ...names });
  };
  more(slipstream, { dexName: "Aerodrome Slipstream", family: "dexa", kind: "slipstream" });
  more(pancake, { dexName: "PancakeSwap V3", family: "clones", kind: "pancake-v3" });
  more(sushi, { dexName: "SushiSwap V3", family: "clones", kind: "uniswap-v3" });
  return found;
}

export async function writeDeploymentsFile(file: string, deployment: Deployment): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(deploymentsDocument(deployment), null, 2)}\n`);
}
