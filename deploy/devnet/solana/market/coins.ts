import { deriveAddress } from "../chain/addresses.ts";
import type { Ledger } from "../chain/ledger.ts";
import { WRAPPED_SOL } from "../chain/token-program.ts";
import type { Pool } from "../exchanges/pool.ts";
import { pumpFun } from "../exchanges/pump-fun.ts";
import { makePool } from "./pools.ts";

/** A token that was launched on Pump.fun while the chain ran; the n-th is the same on every chain. */
export interface Coin {
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly pool: Pool;
}

const LAUNCHES = "launches";
const coins: Coin[] = [];

export function getCoin(number: number): Coin {
  coins[number] ??= {
    name: `Coin number ${number}`,
    symbol: `COIN${number}`,
    uri: `https://example.invalid/coin/${number}.json`,
    pool: makePool(pumpFun, { name: `coin ${number}`, mints: [deriveAddress("coin", number), WRAPPED_SOL] }),
  };
  return coins[number];
}

export function countCoins(ledger: Ledger): number {
  return Number(ledger.numberOf(LAUNCHES));
}

export function noteLaunch(ledger: Ledger): void {
  ledger.numbers.set(LAUNCHES, BigInt(countCoins(ledger) + 1));
}
