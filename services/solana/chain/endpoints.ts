import type { ChainEndpoints } from "../../shared/rpc-client/preflight.ts";
import { classifySolanaError } from "./classify.ts";

/** The endpoints of Solana, for the check before a start. */
export function solanaEndpoints(urls: readonly string[]): ChainEndpoints {
  return {
    name: "Solana",
    setting: "SOLANA_RPC",
    urls,
    method: "getGenesisHash",
    classify: classifySolanaError,
    findMismatch(result, first) {
      if (typeof result !== "string" || result === "") return "it returns no hash for getGenesisHash";
      return result === first
        ? undefined
        : `its genesis hash is ${result}, that of the first endpoint ${String(first)}`;
    },
  };
}
