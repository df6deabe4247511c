/**
 * The EVM chains that this build can index. To add one, add it here; the compiler then names the settings it needs
 * (`EVM_RPC_<id>`, `START_BLOCK_<id>`), and the contracts go into the deployments files of the services.
 */
export const EVM_CHAINS = [
  { id: 8453, name: "Base", blockSeconds: 2 },
  { id: 1, name: "Ethereum", blockSeconds: 12 },
] as const;

export type EvmChainId = (typeof EVM_CHAINS)[number]["id"];

const byId: ReadonlyMap<number, (typeof EVM_CHAINS)[number]> = new Map(
  EVM_CHAINS.map((chain) => [chain.id, chain]),
);

export function evmChainName(chainId: number): string {
  return byId.get(chainId)?.name ?? `chain ${chainId}`;
}

/** Seconds between two blocks, and so how long an answer stays the latest; of an unknown chain, those of the fastest. */
export function blockSecondsOf(chainId: unknown): number {
  return (
    byId.get(Number(chainId))?.blockSeconds ?? Math.min(...EVM_CHAINS.map((chain) => chain.blockSeconds))
  );
}
