import type { Decoder } from "../../protocol.ts";
import type { V3Event } from "../events.ts";
import { burn } from "./burn.ts";
import { collect } from "./collect.ts";
import { collectProtocol } from "./collect-protocol.ts";
import { flash } from "./flash.ts";
import { initialize } from "./initialize.ts";
import { mint } from "./mint.ts";
import { setFeeProtocol } from "./set-fee-protocol.ts";
import { swap } from "./swap.ts";

/** Everything a Uniswap v3 pool emits that moves its tokens or its state. */
export const uniswapDecoders: readonly Decoder<V3Event>[] = [
  initialize,
  swap,
  mint,
  burn,
  collect,
  collectProtocol,
  flash,
  setFeeProtocol,
];
