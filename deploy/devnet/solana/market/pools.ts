import {
  associatedTokenAddress,
  findProgramAddress,
} from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress } from "../chain/addresses.ts";
import { DAMM_V2_AUTHORITY, meteoraDammV2 } from "../exchanges/meteora-damm-v2.ts";
import { meteoraDlmm } from "../exchanges/meteora-dlmm.ts";
import { orcaWhirlpool } from "../exchanges/orca-whirlpool.ts";
import type { Exchange, Pair, Pool } from "../exchanges/pool.ts";
import { curveAddress, pumpFun } from "../exchanges/pump-fun.ts";
import { pumpswap } from "../exchanges/pumpswap.ts";
import { raydiumAmmV4 } from "../exchanges/raydium-amm-v4.ts";
import { raydiumClmm } from "../exchanges/raydium-clmm.ts";
import { raydiumCpmm } from "../exchanges/raydium-cpmm.ts";
import { TOKENS, type TokenSymbol } from "./tokens.ts";

export interface MarketPool extends Pool {
  readonly exchange: Exchange;
  readonly symbols: Pair<TokenSymbol>;
  /** Of each side at the start. */
  readonly depthUsd: number;
  /** How far off the market its price is made to stay: 1 = not at all. */
  readonly skew: number;
  /** How often it is traded, relative to the others. */
  readonly weight: number;
}

type Spec = readonly [
  exchange: Exchange,
  a: TokenSymbol,
  b: TokenSymbol,
  depthUsd: number,
  more?: { feeBps?: number; skew?: number; weight?: number },
];

const SPECS: readonly Spec[] = [
  [raydiumAmmV4, "SOL", "USDC", 2_000_000, { feeBps: 25, weight: 3 }],
  [raydiumAmmV4, "ORBIT", "SOL", 300_000, { feeBps: 25 }],
  [raydiumCpmm, "TOLL", "SOL", 120_000, { feeBps: 25 }],
  [raydiumCpmm, "TIDE", "USDC", 400_000, { feeBps: 25 }],
  [raydiumClmm, "SOL", "USDC", 3_000_000, { feeBps: 4, weight: 3 }],
  [raydiumClmm, "SOL", "USDT", 900_000, { feeBps: 4 }],
  [orcaWhirlpool, "SOL", "USDC", 2_500_000, { feeBps: 4, weight: 3 }],
  [orcaWhirlpool, "TIDE", "SOL", 350_000, { feeBps: 30 }],
  // Too thin to be believed: its price is ten times the market's.
  [orcaWhirlpool, "ORBIT", "USDT", 40, { feeBps: 30, skew: 10, weight: 0.3 }],
  [meteoraDlmm, "SOL", "USDC", 1_500_000, { feeBps: 10, weight: 2 }],
  [meteoraDlmm, "ORBIT", "USDC", 180_000, { feeBps: 20 }],
  [meteoraDammV2, "NOVA", "SOL", 250_000, { feeBps: 25 }],
  [meteoraDammV2, "TIDE", "USDT", 150_000, { feeBps: 25 }],
  [pumpswap, "GRAD", "SOL", 90_000, { weight: 2 }],
  [pumpFun, "PUP", "SOL", 0, { weight: 2 }],
  [pumpFun, "KITE", "USDC", 0],
];

/** All pools that exist when the chain begins. */
export function listPools(): readonly MarketPool[] {
  return SPECS.map(([exchange, a, b, depthUsd, { feeBps = 0, skew = 1, weight = 1 } = {}]) => {
    const symbols = [a, b] as const;
    const mints = [TOKENS[a].mint, TOKENS[b].mint] as const;
    const pool = makePool(exchange, { name: `${exchange.program} ${a}/${b}`, mints, feeBps });
    return { ...pool, exchange, symbols, depthUsd, skew, weight };
  });
}

/** Pools of Pump.fun hold their tokens in associated accounts, the others in accounts of their own. */
export function makePool(
  exchange: Exchange,
  { name, mints, feeBps = 0 }: { name: string; mints: Pair<string>; feeBps?: number },
): Pool {
  const address = exchange === pumpFun ? curveAddress(mints[0]) : deriveAddress("pool", name);
  const vaults =
    exchange.dex === "pumpfun"
      ? ([vaultOf(address, mints[0]), vaultOf(address, mints[1])] as const)
      : ([deriveAddress("vault", name, 0), deriveAddress("vault", name, 1)] as const);
  return { name, address, mints, vaults, authority: authorityOf(exchange, address), feeBps };
}

function vaultOf(owner: string, mint: string): string {
  const spec = Object.values(TOKENS).find((token) => token.mint === mint);
  return associatedTokenAddress(owner, mint, spec?.program ?? TOKENS.SOL.program);
}

const RAYDIUM_AMM_AUTHORITY = "5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1";

function authorityOf(exchange: Exchange, pool: string): string {
  if (exchange === raydiumAmmV4) return RAYDIUM_AMM_AUTHORITY;
  if (exchange === raydiumCpmm)
    return findProgramAddress(["vault_and_lp_mint_auth_seed"], raydiumCpmm.programId);
  return exchange === meteoraDammV2 ? DAMM_V2_AUTHORITY : pool;
}
