import type { Endpoint } from "../endpoint.ts";

/** The path as words: `/evm/dexb/v3/pool` and `/api/v1/solana/tokens` have evm, dexb, v3, pool and solana, tokens. */
export function wordsOf({ path }: Pick<Endpoint, "path">): string[] {
  return path.replace(/^\/(api\/v1\/)?/, "").split(/[/-]/);
}

/** `EvmDexbV3Pool`: what the types of an endpoint begin with. */
export function typeNameOf(endpoint: Pick<Endpoint, "path">): string {
  return wordsOf(endpoint)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
