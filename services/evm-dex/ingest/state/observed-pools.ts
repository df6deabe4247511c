/** The pools of a chain in columns, by number. Blocks are −1 where there is none. */
export interface ObservedPools {
  readonly count: number;
  addressAt(pool: number): string;
  /** numberOf its address (turns.ts). */
  numberAt(pool: number): number;
  lastBlockAt(pool: number): number;
  balanceBlockAt(pool: number): number;
  /** Whether its events hold its reserves: then its balances have no turns. */
  holdsReserves(pool: number): boolean;
}
