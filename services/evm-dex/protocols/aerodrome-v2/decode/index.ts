import { burn } from "./burn.ts";
import { claim } from "./claim.ts";
import { fees } from "./fees.ts";
import { mint } from "./mint.ts";
import { swap } from "./swap.ts";
import { sync } from "./sync.ts";

/** The events of a pool but the Transfers of its LP tokens. */
export const poolDecoders = [swap, fees, sync, mint, burn, claim] as const;
