import { chainId, evmAddress, evmPage } from "../../shared/contract/param.ts";

/** Chain and pool of a single-pool endpoint; `example` is a pool that exists there. */
export function onePool<const V extends readonly [number, ...number[]]>(chains: V, example: string) {
  return {
    chain_id: chainId(chains),
    pool_address: evmAddress({ description: "Address of the pool.", example }),
  } as const;
}

/** Parameters of a v3 pool list. */
export function poolList<const V extends readonly [number, ...number[]]>(chains: V) {
  return {
    chain_id: chainId(chains),
    token_address: evmAddress({
      description: "Only pools that hold this token, as token0 or token1.",
      example: "0x4200000000000000000000000000000000000006",
    }).optional(),
    ...evmPage(),
  } as const;
}
