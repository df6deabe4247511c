const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Digit by character code, −1 for characters outside the alphabet. */
const DIGIT_OF_CODE = new Int8Array(128).fill(-1);
for (let digit = 0; digit < ALPHABET.length; digit++) DIGIT_OF_CODE[ALPHABET.charCodeAt(digit)] = digit;

/** The bytes of a base58 text (Bitcoin alphabet), or undefined where a character is outside the alphabet. */
export function decodeBase58(text: string): Uint8Array | undefined {
  let zeros = 0;
  while (zeros < text.length && text[zeros] === "1") zeros++;
  // One base58 digit holds log(58)/log(256) < 0.7325 bytes.
  const bytes = new Uint8Array(Math.ceil((text.length - zeros) * 0.7325));
  let used = 0;
  for (let at = zeros; at < text.length; at++) {
    let carry = DIGIT_OF_CODE[text.charCodeAt(at)] ?? -1;
    if (carry < 0) return undefined;
    let byte = bytes.length - 1;
    for (let done = 0; carry !== 0 || done < used; done++, byte--) {
      carry += 58 * (bytes[byte] as number);
      bytes[byte] = carry & 0xff;
      carry >>= 8;
      if (done >= used) used = done + 1;
    }
  }
  const decoded = new Uint8Array(zeros + used);
  decoded.set(bytes.subarray(bytes.length - used), zeros);
  return decoded;
}

/** The base58 text of bytes; leading zero bytes become leading `1`s. */
export function encodeBase58(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  const digits: number[] = [];
  for (const byte of bytes.subarray(zeros)) {
    let carry = byte;
    for (let at = 0; at < digits.length; at++) {
      carry += (digits[at] as number) << 8;
      digits[at] = carry % 58;
      carry = (carry / 58) | 0;
    }
    while (carry > 0) {
      digits.push(carry % 58);
      carry = (carry / 58) | 0;
    }
  }
  let text = "1".repeat(zeros);
  for (let at = digits.length - 1; at >= 0; at--) text += ALPHABET[digits[at] as number];
  return text;
}

/** True for the text of a Solana address or mint: 32 to 44 base58 characters that decode to exactly 32 bytes. */
export function isSolanaAddress(text: string): boolean {
  return text.length >= 32 && text.length <= 44 && decodeBase58(text)?.length === 32;
}
