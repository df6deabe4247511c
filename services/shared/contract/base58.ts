const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Digit by character code, −1 for characters outside the alphabet. */
const DIGIT_OF_CODE = new Int8Array(128).fill(-1);
for (let digit = 0; digit < ALPHABET.length; digit++) DIGIT_OF_CODE[ALPHABET.charCodeAt(digit)] = digit;

/** Four digits at a time: 58^4 and a limb both stay below 2^24, their product below 2^53. */
const CHUNK = 4;
const LIMB = 2 ** 24;

/** The bytes of a base58 text (Bitcoin alphabet), or undefined where a character is outside the alphabet. */
export function decodeBase58(text: string): Uint8Array | undefined {
  let zeros = 0;
  while (zeros < text.length && text[zeros] === "1") zeros++;
  const limbs: number[] = [];
  for (let start = zeros; start < text.length; start += CHUNK) {
    const end = Math.min(start + CHUNK, text.length);
    let carry = 0;
    let factor = 1;
    for (let at = start; at < end; at++) {
      const digit = DIGIT_OF_CODE[text.charCodeAt(at)] ?? -1;
      if (digit < 0) return undefined;
      carry = carry * 58 + digit;
      factor *= 58;
    }
    for (let at = 0; at < limbs.length; at++) {
      const sum = (limbs[at] as number) * factor + carry;
      carry = Math.floor(sum / LIMB);
      limbs[at] = sum - carry * LIMB;
    }
    if (carry > 0) limbs.push(carry);
  }
  return toBytes(limbs, zeros);
}

/** Limbs of 24 bits, lowest first, as big-endian bytes after `zeros` zero bytes. */
function toBytes(limbs: readonly number[], zeros: number): Uint8Array {
  const top = limbs.at(-1) ?? 0;
  const length = limbs.length * 3 - (limbs.length === 0 || top >= 1 << 16 ? 0 : top >= 1 << 8 ? 1 : 2);
  const bytes = new Uint8Array(zeros + length);
  for (let at = 0; at < length; at++) {
    bytes[zeros + length - 1 - at] = ((limbs[Math.floor(at / 3)] as number) >> ((at % 3) * 8)) & 0xff;
  }
  return bytes;
}

/** Of a limb of four digits. */
const LIMB_OF_DIGITS = 58 ** CHUNK;

/** The base58 text of bytes; leading zero bytes become leading `1`s. */
export function encodeBase58(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  // Three bytes at a time into limbs of four digits, lowest first: products stay below 2^53.
  const limbs: number[] = [];
  let start = zeros;
  while (start < bytes.length) {
    const end = start + ((bytes.length - start) % 3 || 3);
    let carry = 0;
    let factor = 1;
    for (let at = start; at < end; at++) {
      carry = carry * 256 + (bytes[at] as number);
      factor *= 256;
    }
    for (let at = 0; at < limbs.length; at++) {
      const sum = (limbs[at] as number) * factor + carry;
      carry = Math.floor(sum / LIMB_OF_DIGITS);
      limbs[at] = sum - carry * LIMB_OF_DIGITS;
    }
    while (carry > 0) {
      limbs.push(carry % LIMB_OF_DIGITS);
      carry = Math.floor(carry / LIMB_OF_DIGITS);
    }
    start = end;
  }
  let text = "";
  for (let at = limbs.length - 1; at >= 0; at--) text += fourDigits(limbs[at] as number);
  // The highest limb may have fewer than four.
  const first = text.search(/[^1]/);
  return "1".repeat(zeros) + (first < 0 ? "" : text.slice(first));
}

function fourDigits(limb: number): string {
  const low = limb % 3364;
  const high = (limb - low) / 3364;
  return (
    (ALPHABET[Math.floor(high / 58)] as string) +
    (ALPHABET[high % 58] as string) +
    (ALPHABET[Math.floor(low / 58)] as string) +
    (ALPHABET[low % 58] as string)
  );
}

/** True for the text of a Solana address or mint: 32 to 44 base58 characters that decode to exactly 32 bytes. */
export function isSolanaAddress(text: string): boolean {
  return text.length >= 32 && text.length <= 44 && decodeBase58(text)?.length === 32;
}
