import { isTransient } from "./mongodb/retry.ts";

/** Whether an error, or its cause, says that the store cannot be reached, or is electing whom to ask: it passes. */
export function isStoreAway(error: unknown): boolean {
  if (isTransient(error)) return true;
  if (typeof error !== "object" || error === null) return false;
  const { cause } = error as { cause?: unknown };
  return cause !== undefined && cause !== error && isStoreAway(cause);
}
