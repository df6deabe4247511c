import { defineProgram, type Program } from "./define.ts";
import { meteoraDammV1 } from "./meteora-damm-v1.ts";
import { meteoraDammV2 } from "./meteora-damm-v2.ts";
import { meteoraDbc } from "./meteora-dbc.ts";
import { meteoraDlmm } from "./meteora-dlmm.ts";
import { orcaWhirlpool } from "./orca-whirlpool.ts";
import { pumpFun } from "./pump-fun.ts";
import { pumpswap } from "./pumpswap.ts";
import { raydiumAmmV4 } from "./raydium-amm-v4.ts";
import { raydiumClmm } from "./raydium-clmm.ts";
import { raydiumCpmm } from "./raydium-cpmm.ts";
import { raydiumLaunchlab } from "./raydium-launchlab.ts";

/** The programs of the four exchanges. Routers are not among them: they only call these. */
export const programs: readonly Program[] = [
  raydiumAmmV4,
  raydiumCpmm,
  raydiumClmm,
  raydiumLaunchlab,
  orcaWhirlpool,
  meteoraDlmm,
  meteoraDammV1,
  meteoraDammV2,
  meteoraDbc,
  pumpFun,
  pumpswap,
].map(defineProgram);
