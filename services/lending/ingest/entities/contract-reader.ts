import type { PinnedCalls } from "../../../shared/evm/multicall/multicall.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader } from "../../protocols/protocol.ts";
import type { TokenCache } from "./token-cache.ts";

/** A reader at one block: contracts by batched calls, known tokens from memory. */
export function createContractReader({
  chainId,
  block,
  calls,
  caller,
  tokens,
}: {
  chainId: number;
  block: { readonly number: number; readonly timestamp: number };
  calls: PinnedCalls;
  caller: Hex;
  tokens: TokenCache;
}): ContractReader {
  return {
    chainId,
    block: block.number,
    time: block.timestamp,
    caller,
    call: (to, data) => calls.call(to, data),
    token: (address) => tokens.read(address, calls),
  };
}
