import { ServiceError } from "../../../shared/errors.ts";

/** A list of what is not kept is no empty list. */
export function notKept(what: "token" | "pool" | "exchange"): ServiceError {
  return new ServiceError(
    "not_found",
    `This instance keeps no transactions of this ${what} (SOLANA_TOKENS, SOLANA_POOLS, SOLANA_EXCHANGES).`,
  );
}
