import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress } from "../chain/addresses.ts";
import { WRAPPED_SOL } from "../chain/token-program.ts";

export interface TokenSpec {
  readonly symbol: string;
  readonly name: string;
  readonly mint: string;
  readonly decimals: number;
  readonly program: string;
  /** Price that trades are steered around, before it wanders. */
  readonly usd: number;
  /** Where name and symbol stand: an account of Metaplex, the mint's own extension, or nowhere. */
  readonly metadata: "metaplex" | "extension" | "none";
  readonly isMutable: boolean;
  readonly transferFee?: { readonly bps: number; readonly most: bigint };
  /** Someone can mint more, or freeze. */
  readonly hasAuthorities?: boolean;
}

const spl = { program: TOKEN_PROGRAM, metadata: "metaplex", isMutable: false } as const;
const token2022 = { program: TOKEN_2022_PROGRAM, metadata: "extension", isMutable: true } as const;
const own = (symbol: string) => deriveAddress("mint", symbol);

/** SOL and the stablecoins have mainnet's mints, which prices rest on; the others are made up. */
export const TOKENS = {
  SOL: { ...spl, symbol: "SOL", name: "Wrapped SOL", mint: WRAPPED_SOL, decimals: 9, usd: 150 },
  USDC: {
    ...spl,
    symbol: "USDC",
    name: "USD Coin",
    mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    decimals: 6,
    usd: 1,
    hasAuthorities: true,
    isMutable: true,
  },
  USDT: {
    ...spl,
    symbol: "USDT",
    name: "USDT",
    mint: "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
    decimals: 6,
    usd: 1,
    hasAuthorities: true,
    isMutable: true,
  },
  ORBIT: { ...spl, symbol: "ORBIT", name: "Orbit", mint: own("ORBIT"), decimals: 6, usd: 0.42 },
  TIDE: {
    ...spl,
    symbol: "TIDE",
    name: "Tide Protocol",
    mint: own("TIDE"),
    decimals: 9,
    usd: 3.1,
    hasAuthorities: true,
  },
  GRAD: { ...spl, symbol: "GRAD", name: "Graduated", mint: own("GRAD"), decimals: 6, usd: 0.0004 },
  /** Takes half a percent of every transfer. */
  TOLL: {
    ...token2022,
    symbol: "TOLL",
    name: "Toll Road",
    mint: own("TOLL"),
    decimals: 6,
    usd: 0.05,
    transferFee: { bps: 50, most: 5_000_000_000n },
    hasAuthorities: true,
  },
  NOVA: { ...token2022, symbol: "NOVA", name: "Nova", mint: own("NOVA"), decimals: 9, usd: 12 },
  /** On a bonding curve in USDC. */
  KITE: {
    ...token2022,
    symbol: "KITE",
    name: "Kite",
    mint: own("KITE"),
    decimals: 6,
    usd: 0.0000042,
    isMutable: false,
  },
  /** On a bonding curve in SOL. */
  PUP: { ...spl, symbol: "PUP", name: "Pup", mint: own("PUP"), decimals: 6, usd: 0.0000042 },
} as const satisfies Record<string, TokenSpec>;

export type TokenSymbol = keyof typeof TOKENS;

const STABLE: ReadonlySet<TokenSymbol> = new Set(["USDC", "USDT"]);
const DAY_S = 86_400;

/** What a whole token should cost at a time: a function of time alone, so that a chain made anew goes on in it. */
export function usdAt(symbol: TokenSymbol, time: number): number {
  const { usd } = TOKENS[symbol];
  if (STABLE.has(symbol)) return usd;
  const phase = [...symbol].reduce((sum, character) => sum + character.charCodeAt(0) * 1.7, 0);
  const wave = (periodS: number, amplitude: number) =>
    amplitude * Math.sin((2 * Math.PI * time) / periodS + phase);
  return usd * Math.exp(wave(2.6 * DAY_S, 0.05) + wave(5.3 * 3_600, 0.02) + wave(41 * 60, 0.006));
}

/** Raw units of so many dollars' worth. */
export function unitsOf(symbol: TokenSymbol, usd: number, time: number): bigint {
  return BigInt(Math.floor((usd / usdAt(symbol, time)) * 10 ** TOKENS[symbol].decimals));
}
