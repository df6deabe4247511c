/** An EVM chain to index and serve. */
export interface EvmChain {
  readonly id: number;
  readonly name: string;
  /** Seconds between two blocks. */
  readonly blockSeconds: number;
}

/** The chains of the specification: its endpoints name which of these they serve. */
const SPECIFIED: readonly EvmChain[] = [
  { id: 8453, name: "Base", blockSeconds: 2 },
  { id: 1, name: "Ethereum", blockSeconds: 12 },
];

const byId = new Map(SPECIFIED.map((chain) => [chain.id, chain]));

/** All chains that are known: those of the specification, and those that a deployments file has added. */
export function listEvmChains(): readonly EvmChain[] {
  return [...byId.values()];
}

/**
 * Adds the chains of a deployments file for the life of the process: parameters, settings, names and cache times know them
 * from then on. Chains of the specification stay as they are; another description of an added one replaces it.
 */
export function addEvmChains(chains: readonly EvmChain[]): void {
  for (const chain of chains) if (!isSpecified(chain.id)) byId.set(chain.id, chain);
}

/** The chains that are not the specification's: every endpoint that takes a chain serves them. */
export function listAddedChainIds(): readonly number[] {
  return [...byId.keys()].filter((id) => !isSpecified(id));
}

export function evmChainName(chainId: number): string {
  return byId.get(chainId)?.name ?? `chain ${chainId}`;
}

/** Seconds between two blocks, and so how long an answer stays the latest; of an unknown chain, those of the fastest. */
export function blockSecondsOf(chainId: unknown): number {
  return (
    byId.get(Number(chainId))?.blockSeconds ??
    Math.min(...listEvmChains().map(({ blockSeconds }) => blockSeconds))
  );
}

function isSpecified(chainId: number): boolean {
  return SPECIFIED.some(({ id }) => id === chainId);
}
