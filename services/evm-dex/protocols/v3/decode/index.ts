import type { Decoder } from "../../protocol.ts";
import type { PancakeEvent, SlipstreamEvent, V3Event } from "../events.ts";
import { burn } from "./burn.ts";
import { collect } from "./collect.ts";
import { collectFees } from "./collect-fees.ts";
import { collectProtocol } from "./collect-protocol.ts";
import { flash } from "./flash.ts";
import { initialize } from "./initialize.ts";
import { mint } from "./mint.ts";
import { pancakeSwap } from "./pancake-swap.ts";
import { setFeeProtocol } from "./set-fee-protocol.ts";
import { swap } from "./swap.ts";

const common = [initialize, mint, burn, collect, flash] as const;

/** All events of a Uniswap v3 pool that change its balances or its state. */
export const uniswapDecoders: readonly Decoder<V3Event>[] = [
  ...common,
  swap,
  collectProtocol,
  setFeeProtocol,
];

/** The same of a PancakeSwap v3 pool. */
export const pancakeDecoders: readonly Decoder<PancakeEvent>[] = [...common, pancakeSwap, collectProtocol];

/** The same of a Slipstream pool. */
export const slipstreamDecoders: readonly Decoder<SlipstreamEvent>[] = [...common, swap, collectFees];
