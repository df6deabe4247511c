/**
 * The curves of Solidly-style pools in the contract's own integer arithmetic, wei for wei: every division rounds
 * down, and inputs that make the contract revert give undefined. Source: Aerodrome's Pool (_getAmountOut, _k, _f, _d,
 * _get_y).
 */
export interface SolidlyPool {
  /** x³y + xy³ = k on reserves scaled to 18 decimals, else xy = k on raw reserves. */
  readonly stable: boolean;
  /** Raw units. */
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  readonly decimals0: number;
  readonly decimals1: number;
  /** Ten-thousandths, as the factory's getFee() returns it. */
  readonly fee: number;
}

const ONE = 10n ** 18n;
const MAX_UINT256 = 2n ** 256n - 1n;
const MAX_STEPS = 255;

/**
 * What the pool pays for `amountIn`, raw units, after the fee: getAmountOut(amountIn, tokenIn) of the contract.
 * Undefined where that reverts (an empty pool, an overflow, a curve that Newton's method does not solve).
 */
export function getAmountOut(
  pool: SolidlyPool,
  { amountIn, zeroForOne }: { amountIn: bigint; zeroForOne: boolean },
): bigint | undefined {
  try {
    const fee = multiply(amountIn, BigInt(pool.fee)) / 10_000n;
    const swap = { amountIn: subtract(amountIn, fee), zeroForOne };
    return pool.stable ? stableOut(pool, swap) : volatileOut(pool, swap);
  } catch (error) {
    if (error instanceof Reverted) return undefined;
    throw error;
  }
}

function volatileOut(
  pool: SolidlyPool,
  { zeroForOne, amountIn }: { amountIn: bigint; zeroForOne: boolean },
): bigint {
  const [reserveIn, reserveOut] = zeroForOne
    ? [pool.reserve0, pool.reserve1]
    : [pool.reserve1, pool.reserve0];
  return divide(multiply(amountIn, reserveOut), add(reserveIn, amountIn));
}

function stableOut(
  pool: SolidlyPool,
  { zeroForOne, amountIn }: { amountIn: bigint; zeroForOne: boolean },
): bigint {
  const [scale0, scale1] = [10n ** BigInt(pool.decimals0), 10n ** BigInt(pool.decimals1)];
  const reserve0 = scaled(pool.reserve0, scale0);
  const reserve1 = scaled(pool.reserve1, scale1);
  const [reserveIn, reserveOut] = zeroForOne ? [reserve0, reserve1] : [reserve1, reserve0];
  const [scaleIn, scaleOut] = zeroForOne ? [scale0, scale1] : [scale1, scale0];
  const y = solveY({
    x: add(scaled(amountIn, scaleIn), reserveIn),
    k: invariant(reserve0, reserve1),
    start: reserveOut,
    // The contract calls its _k, which scales by the decimals of token0 and token1, with amounts that are scaled
    // already and in the order of the swap. With 18 decimals it makes no difference; with others the result depends
    // on it.
    kAt: (x, at) => invariant(scaled(x, scale0), scaled(at, scale1)),
  });
  return multiply(subtract(reserveOut, y), scaleOut) / ONE;
}

/** Newton's method on the curve: the other reserve when one is x, a step of 1 where the method's own would be 0. */
function solveY({
  x,
  k,
  start,
  kAt,
}: {
  x: bigint;
  k: bigint;
  start: bigint;
  kAt(x: bigint, y: bigint): bigint;
}): bigint {
  let y = start;
  for (let step = 0; step < MAX_STEPS; step++) {
    const reached = invariant(x, y);
    const isShort = reached < k;
    const gap = isShort ? k - reached : reached - k;
    let dy = divide(multiply(gap, ONE), slope(x, y));
    if (dy === 0n) {
      if (reached === k) return y;
      if (isShort && kAt(x, add(y, 1n)) > k) return y + 1n;
      if (!isShort && invariant(x, subtract(y, 1n)) < k) return y;
      dy = 1n;
    }
    y = isShort ? add(y, dy) : subtract(y, dy);
  }
  throw new Reverted();
}

/** x³y + xy³ of amounts with 18 decimals, as xy × (x² + y²). */
function invariant(x: bigint, y: bigint): bigint {
  const product = multiply(x, y) / ONE;
  const squares = add(multiply(x, x) / ONE, multiply(y, y) / ONE);
  return multiply(product, squares) / ONE;
}

/** The invariant's derivative by y: 3xy² + x³. */
function slope(x: bigint, y: bigint): bigint {
  const first = multiply(multiply(3n, x), multiply(y, y) / ONE) / ONE;
  const second = multiply(multiply(x, x) / ONE, x) / ONE;
  return add(first, second);
}

/** Raw units to 18 decimals. */
function scaled(raw: bigint, scale: bigint): bigint {
  return multiply(raw, ONE) / scale;
}

/** Where Solidity's checked arithmetic reverts. */
class Reverted extends Error {}

function checked(value: bigint): bigint {
  if (value < 0n || value > MAX_UINT256) throw new Reverted();
  return value;
}

function add(a: bigint, b: bigint): bigint {
  return checked(a + b);
}

function subtract(a: bigint, b: bigint): bigint {
  return checked(a - b);
}

function multiply(a: bigint, b: bigint): bigint {
  return checked(a * b);
}

function divide(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new Reverted();
  return a / b;
}
