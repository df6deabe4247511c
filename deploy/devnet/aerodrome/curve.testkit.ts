/** What a pool gives, computed from reserves alone in integers: the expectation that contract and services are held against. */
export interface CurveState {
  readonly stable: boolean;
  readonly reserves: readonly [bigint, bigint];
  readonly decimals: readonly [number, number];
  /** Hundredths of a percent. */
  readonly fee: number;
}

const ONE = 10n ** 18n;

/** x3y + y3x of amounts scaled to 18 decimals, rounded down at each step as Solidly does. */
export function stableInvariant(x: bigint, y: bigint): bigint {
  const product = (x * y) / ONE;
  const squares = (x * x) / ONE + (y * y) / ONE;
  return (product * squares) / ONE;
}

export function feeOf(amountIn: bigint, fee: number): bigint {
  return (amountIn * BigInt(fee)) / 10_000n;
}

export function volatileAmountOut(
  { reserves, fee }: CurveState,
  zeroForOne: boolean,
  amountIn: bigint,
): bigint {
  const [reserveIn, reserveOut] = zeroForOne ? reserves : [reserves[1], reserves[0]];
  const added = amountIn - feeOf(amountIn, fee);
  return (added * reserveOut) / (reserveIn + added);
}

/**
 * The most that a stable pool could give without lowering its invariant, found by bisection in scaled units: the
 * contract's Newton steps may stop one unit of 1e-18 before it.
 */
export function stableAmountOut(
  state: CurveState,
  zeroForOne: boolean,
  amountIn: bigint,
): { most: bigint; least: bigint } {
  const units = state.decimals.map((decimals) => 10n ** BigInt(decimals)) as [bigint, bigint];
  const scaled = state.reserves.map((reserve, i) => (reserve * ONE) / (units[i] as bigint)) as [
    bigint,
    bigint,
  ];
  const k = stableInvariant(scaled[0], scaled[1]);
  const [reserveIn, reserveOut, unitIn, unitOut] = zeroForOne
    ? [scaled[0], scaled[1], units[0], units[1]]
    : [scaled[1], scaled[0], units[1], units[0]];
  const x = reserveIn + ((amountIn - feeOf(amountIn, state.fee)) * ONE) / unitIn;
  let [low, high] = [0n, reserveOut];
  while (low < high) {
    const middle = (low + high) / 2n;
    if (stableInvariant(x, middle) >= k) high = middle;
    else low = middle + 1n;
  }
  const toRaw = (left: bigint) => ((reserveOut - left) * unitOut) / ONE;
  return { most: toRaw(high), least: toRaw(high + 1n) };
}
