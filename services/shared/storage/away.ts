import { StoreAwayError } from "./port.ts";

/** Whether an error, or what caused it, says that the store is away: it passes. */
export function isStoreAway(error: unknown): boolean {
  if (error instanceof StoreAwayError) return true;
  return error instanceof Error && error.cause !== error && isStoreAway(error.cause);
}
