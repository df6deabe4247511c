/** The node's response is not a valid transaction: an index beyond the keys, text that is not base58. */
export class BrokenTransactionError extends Error {
  override readonly name = "BrokenTransactionError";
}
