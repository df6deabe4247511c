/**
 * The same bytes in memory of their own, unless they fill most of what they stand in. Bytes of a shared buffer (one for
 * several small bodies, zlib's of 16 KB) keep all of it for as long as they are kept.
 */
export function toOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= 2 * bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
