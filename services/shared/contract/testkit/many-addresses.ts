import { encodeBase58 } from "../base58.ts";
import { MAX_LIST_ADDRESSES } from "../param.ts";

/** As many different addresses as a list may have, as long as they get. */
export const MANY_EVM_ADDRESSES: readonly string[] = Array.from(
  { length: MAX_LIST_ADDRESSES },
  (_, i) => `0x${(i + 1).toString(16).padStart(40, "f")}`,
);
export const MANY_SOLANA_ADDRESSES: readonly string[] = Array.from({ length: MAX_LIST_ADDRESSES }, (_, i) =>
  encodeBase58(Uint8Array.from({ length: 32 }, (_byte, at) => [255, i >> 8, i & 255][at] ?? 255)),
);
