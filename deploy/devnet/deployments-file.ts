import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Deployment } from "./plan.ts";

/** What the ingest reads from DEPLOYMENTS_FILE to index this chain. */
export function deploymentsDocument({ chainId, factory, deployBlock, tokens }: Deployment) {
  const uniswap = {
    address: factory,
    dexName: "Uniswap V3",
    family: "dexb",
    kind: "uniswap-v3",
    fromBlock: deployBlock,
  };
  const stablecoins = [tokens.USDC.address, tokens.DAI.address];
  return {
    evmDex: { chains: [{ chainId, name: "Base (local devnet)", stablecoins, factories: [uniswap] }] },
  };
}

export async function writeDeploymentsFile(file: string, deployment: Deployment): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(deploymentsDocument(deployment), null, 2)}\n`);
}
