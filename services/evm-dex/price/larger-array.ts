/** A copy of an array with more room at its end. */
export function larger<T extends Float64Array | Int32Array | Uint32Array | Uint8Array>(from: T, into: T): T {
  into.set(from);
  return into;
}
