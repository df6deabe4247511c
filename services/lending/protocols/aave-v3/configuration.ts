/** The fields of a reserve's configuration word. Source: Aave's ReserveConfiguration. */
export interface ReserveConfiguration {
  /** Hundredths of a percent. */
  readonly ltv: number;
  /** Hundredths of a percent; 0 where the token cannot be collateral. */
  readonly liquidationThreshold: number;
  readonly decimals: number;
  readonly isActive: boolean;
  readonly isFrozen: boolean;
  readonly isBorrowingEnabled: boolean;
  readonly isPaused: boolean;
  /** Hundredths of a percent. */
  readonly reserveFactor: bigint;
  /** Whole tokens; 0 = uncapped. */
  readonly borrowCap: bigint;
  /** Whole tokens; 0 = uncapped. */
  readonly supplyCap: bigint;
  /** Set by v3.1 to v3.3 only. */
  readonly isVirtuallyAccounted: boolean;
}

export function readConfiguration(word: bigint): ReserveConfiguration {
  const field = (start: number, bits: number) => BigInt.asUintN(bits, word >> BigInt(start));
  const flag = (bit: number) => field(bit, 1) === 1n;
  return {
    ltv: Number(field(0, 16)),
    liquidationThreshold: Number(field(16, 16)),
    decimals: Number(field(48, 8)),
    isActive: flag(56),
    isFrozen: flag(57),
    isBorrowingEnabled: flag(58),
    isPaused: flag(60),
    reserveFactor: field(64, 16),
    borrowCap: field(80, 36),
    supplyCap: field(116, 36),
    isVirtuallyAccounted: flag(252),
  };
}
