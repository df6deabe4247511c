/** Of a character that is no digit: above all of them. */
const NO_DIGIT = 0xff;

/**
 * By character code, the value of a lower-case hexadecimal digit, else NO_DIGIT. A look-up takes half the time of comparisons:
 * which digit comes next cannot be foreseen.
 */
const DIGITS = new Uint8Array(256).fill(NO_DIGIT);
for (let digit = 0; digit < 16; digit++) DIGITS[digit.toString(16).charCodeAt(0)] = digit;

/** The value of a lower-case hexadecimal digit by its character code; of any other character a number of 16 or more. */
export function hexDigit(code: number): number {
  return (DIGITS[code & 0xff] as number) | (code & 0xff00);
}

/** Whether all characters from a place on are lower-case hexadecimal digits. */
export function hasHexDigits(text: string, from: number): boolean {
  // All of them together: a branch for each takes longer.
  let seen = 0;
  for (let at = from; at < text.length; at++) seen |= hexDigit(text.charCodeAt(at));
  return seen < 16;
}

/**
 * Writes the bytes whose lower-case hexadecimal digits a text has from a place on.
 * @returns whether there were no other characters
 */
export function writeHexDigits(text: string, from: number, into: Uint8Array, at: number): boolean {
  let seen = 0;
  for (let i = from, to = at; i < text.length; i += 2, to++) {
    const first = hexDigit(text.charCodeAt(i));
    const second = hexDigit(text.charCodeAt(i + 1));
    seen |= first | second;
    into[to] = (first << 4) | second;
  }
  return seen < 16;
}
