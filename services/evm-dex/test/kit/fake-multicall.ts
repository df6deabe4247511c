import { decodeFunctionData, encodeFunctionResult, multicall3Abi } from "viem";
import { MULTICALL3 } from "../../../shared/evm/multicall/multicall.ts";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import { address, word } from "./rows.ts";

type InnerCall = Pick<EthCall, "to" | "data" | "block">;

/** getBlockNumber() of Multicall3. */
const BLOCK_NUMBER: Hex = "0x42cbb15c";
const IDENTITY = address(4);

/** The calls of a chain with Multicall3 and the identity precompile beside `contracts`, where null is a revert. */
export function withMulticall(contracts: (call: InnerCall) => Hex | null): (call: InnerCall) => Hex | null {
  return function run({ to, data, block }): Hex | null {
    if (to === IDENTITY) return data;
    if (to !== MULTICALL3) return contracts({ to, data, block });
    if (data === BLOCK_NUMBER) return word(block);
    const { args } = decodeFunctionData({ abi: multicall3Abi, data });
    const result = (args[0] as readonly { target: Hex; callData: Hex }[]).map(({ target, callData }) => {
      const returned = run({ to: target.toLowerCase() as Hex, data: callData, block });
      return { success: returned !== null, returnData: returned ?? "0x" };
    });
    return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result });
  };
}
