import type { PinnedCalls } from "../../shared/evm/multicall/multicall.ts";
import type { UnitReader } from "../protocols/protocol.ts";
import type { TokenBook } from "./token-book.ts";

/** Reads at one block: contracts by batches of calls, tokens from memory where they are known. */
export function createUnitReader(of: {
  chainId: number;
  block: { readonly number: number; readonly timestamp: number };
  calls: PinnedCalls;
  tokens: TokenBook;
}): UnitReader {
  const { chainId, block, calls, tokens } = of;
  return {
    chainId,
    block: block.number,
    time: block.timestamp,
    call: (to, data) => calls.call(to, data),
    token: (address) => tokens.read(address, calls),
  };
}
