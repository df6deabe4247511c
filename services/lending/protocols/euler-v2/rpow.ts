const LIMIT = 1n << 256n;

/**
 * x^n in fixed point (`scale` = 1), by squaring, each product rounded to the nearest; null where a product exceeds 256
 * bits. Equals Euler Vault Kit's RPow to the last digit.
 */
export function rpow(x: bigint, { n, scale }: { n: bigint; scale: bigint }): bigint | null {
  if (x === 0n) return n === 0n ? scale : 0n;
  const half = scale / 2n;
  let base = x;
  let power = n % 2n === 0n ? scale : x;
  for (let rest = n / 2n; rest > 0n; rest /= 2n) {
    const square = base * base + half;
    if (square >= LIMIT) return null;
    base = square / scale;
    if (rest % 2n === 0n) continue;
    const product = power * base + half;
    if (product >= LIMIT) return null;
    power = product / scale;
  }
  return power;
}
