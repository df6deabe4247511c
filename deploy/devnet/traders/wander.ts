import type { TokenSymbol } from "../market.ts";

const DOLLARS: ReadonlySet<TokenSymbol> = new Set(["USDC", "DAI"]);
const DAY_S = 86_400;

/** How far a token's USD price has wandered from its start, in ticks: a function of time alone, so a restart goes on in it. */
export function wanderTicks(symbol: string, timeS: number): number {
  if (DOLLARS.has(symbol as TokenSymbol)) return 0;
  const phase = [...symbol].reduce((sum, character) => sum + character.charCodeAt(0) * 1.7, 0);
  const wave = (periodS: number, amplitude: number) =>
    amplitude * Math.sin((2 * Math.PI * timeS) / periodS + phase);
  return wave(2.6 * DAY_S, 160) + wave(5.3 * 3_600, 60) + wave(41 * 60, 14);
}

/** How far a pair's price (token1 per token0) should be from its start, in ticks. */
export function wanderOf(
  { token0, token1 }: { token0: { symbol: string }; token1: { symbol: string } },
  timeS: number,
): number {
  return wanderTicks(token0.symbol, timeS) - wanderTicks(token1.symbol, timeS);
}
