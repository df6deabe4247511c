/** Raw units as whole tokens without any rounding: 1500000 with 6 decimals is "1.5". */
export function toDecimal(raw: bigint, decimals: number): string {
  const sign = raw < 0n ? "-" : "";
  const digits = (raw < 0n ? -raw : raw).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}
