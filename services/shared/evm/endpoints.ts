import type { ChainEndpoints } from "../rpc-client/preflight.ts";
import { evmChainName } from "./chains.ts";
import { parseQuantity } from "./hex.ts";
import { classifyRpcError } from "./source/classify.ts";

/** The endpoints of one EVM chain, for the check before a start. */
export function evmEndpoints(chainId: number, urls: readonly string[]): ChainEndpoints {
  return {
    name: evmChainName(chainId),
    setting: `EVM_RPC_${chainId}`,
    urls,
    method: "eth_chainId",
    classify: classifyRpcError,
    findMismatch(result) {
      const id = parseQuantity(result);
      if (id === undefined) return "it answers eth_chainId without a number";
      return id === chainId ? undefined : `its chain id is ${id}, not ${chainId}`;
    },
  };
}
