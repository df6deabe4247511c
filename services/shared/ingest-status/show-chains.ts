import type { ChainStatus } from "../grpc/types.ts";

/** A chain in the body of /readyz; unknown values are left out. */
export interface ShownChain {
  readonly name: string;
  readonly state: ChainStatus["state"];
  readonly share?: number;
  readonly etaSeconds?: number;
  readonly why?: string;
  /** ISO time since when. */
  readonly since?: string;
  readonly block?: number;
  readonly head?: number;
  /** The last indexed block that the chain has finalized: what is up to here stays. */
  readonly finalBlock?: number;
  /** Age of the latest indexed block. */
  readonly lagSeconds?: number;
  /** Of Solana: the indexed programs' share of the cluster's swaps in the last hour. */
  readonly swapShare?: number;
  /** While it grows backwards: ISO times from which on all is indexed, and at which it is to begin. */
  readonly history?: { readonly from: string; readonly since: string; readonly etaSeconds?: number };
}

/** Chains by id, as /readyz shows them. `nowMs` in Unix milliseconds. */
export function showChains(
  chains: readonly ChainStatus[],
  nowMs: number = Date.now(),
): Readonly<Record<string, ShownChain>> {
  return Object.fromEntries(chains.map((chain) => [nameOf(chain), showChain(chain, nowMs)]));
}

function nameOf({ chainId }: ChainStatus): string {
  return chainId === 0 ? "solana" : String(chainId);
}

function showChain(chain: ChainStatus, nowMs: number): ShownChain {
  const { name, state, share, etaSeconds, why, since, indexedBlock, indexedTime, chainHead } = chain;
  const isUnderWay = share !== null && share < 1;
  const { historyFrom, historySince, historyEtaSeconds } = chain;
  return {
    name,
    state,
    ...(isUnderWay && { share: Math.floor(share * 1_000) / 1_000 }),
    ...(isUnderWay && etaSeconds !== null && { etaSeconds }),
    ...(why !== null && { why }),
    ...(since !== null && state !== "serving" && { since: isoOf(since) }),
    ...(indexedBlock !== null && { block: indexedBlock }),
    ...(chainHead !== null && { head: chainHead }),
    ...(chain.finalBlock !== undefined && { finalBlock: chain.finalBlock }),
    ...(indexedTime !== null && { lagSeconds: Math.max(0, Math.round(nowMs / 1_000 - indexedTime)) }),
    ...(chain.swapShare !== undefined && { swapShare: chain.swapShare }),
    ...(historyFrom !== null &&
      historySince !== null && {
        history: {
          ...{ from: isoOf(historyFrom), since: isoOf(historySince) },
          ...(historyEtaSeconds !== null && { etaSeconds: historyEtaSeconds }),
        },
      }),
  };
}

function isoOf(seconds: number): string {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
}
