import { decodeBase58 } from "../../shared/contract/base58.ts";
import type { SolanaInstruction } from "./port.ts";

/** An instruction's data; undefined for a text that is not base58. */
export function readInstructionData({ data }: Pick<SolanaInstruction, "data">): Uint8Array | undefined {
  return typeof data === "string" ? decodeBase58(data) : data;
}
