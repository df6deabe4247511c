import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { SyncEvent } from "../events.ts";

/** Sync(uint256 reserve0, uint256 reserve1): Uniswap v2's has another topic, its reserves being uint112. */
export const sync: Decoder<SyncEvent> = {
  topic: "0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a",
  indexed: 0,
  words: 2,
  decode: ({ data }) => ({ kind: "sync", reserve0: readUint(data, 0), reserve1: readUint(data, 1) }),
};
