/**
 * Signed integers of any size as hexadecimal text: what a state or a pair of amounts is stored as. Compact, and read
 * and written several times faster than decimals.
 */
export function writeIntegers(values: readonly bigint[]): string {
  let text = "";
  for (const value of values) text += text === "" ? value.toString(16) : ` ${value.toString(16)}`;
  return text;
}

export function readIntegers(text: string): bigint[] {
  return text
    .split(" ")
    .map((part) => (part.startsWith("-") ? -BigInt(`0x${part.slice(1)}`) : BigInt(`0x${part}`)));
}
