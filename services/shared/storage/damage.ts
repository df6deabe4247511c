import { primaryCodeOf } from "./sqlite/driver.ts";

const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** Whether an error, or its cause, says that a store's file is damaged: no retry helps, and nothing read from it is certain. */
export function isDamaged(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const code = primaryCodeOf(error);
  const { cause } = error as { cause?: unknown };
  return code === CORRUPT || code === NOT_A_DATABASE || (cause !== error && isDamaged(cause));
}
