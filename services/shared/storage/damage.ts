/** SQLite's result codes for a file that is no database, or whose pages contradict each other. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

/** Whether an error, or its cause, says that a store's file is damaged: no retry helps, and nothing read from it is certain. */
export function isDamaged(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return (typeof code === "string" && DAMAGED.test(code)) || (cause !== error && isDamaged(cause));
}
