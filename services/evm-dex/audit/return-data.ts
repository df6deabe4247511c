import { readAddress, readInt, readUint } from "../../shared/evm/abi.ts";
import type { Hex } from "../../shared/evm/port.ts";

// What a call returned, null where it returned no word: a revert, or a state that the node no longer has.

type ReturnData = Hex | null | undefined;

function isWord(result: ReturnData): result is Hex {
  return typeof result === "string" && result.length >= 66;
}

export function addressOf(result: ReturnData): string | null {
  return isWord(result) ? readAddress(result, 0) : null;
}

export function intOf(result: ReturnData): number | null {
  return isWord(result) ? readInt(result, 0) : null;
}

export function wordOf(result: ReturnData): bigint | null {
  return isWord(result) ? readUint(result, 0) : null;
}
