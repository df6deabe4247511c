/** The node's answer is no transaction of the cluster: an index beyond the keys, text that is not base58. */
export class BrokenTransactionError extends Error {
  override readonly name = "BrokenTransactionError";
}
