import { ServiceError } from "../shared/errors.ts";
import { type HandlerTable, handle } from "../shared/service/handlers.ts";
import {
  ohlcvToken,
  poolTransactions,
  poolTransactionsTimeBounded,
  prices,
  tokenHolders,
  tokenMintBurnTransactions,
  tokenSecurity,
  tokens,
  tokenTransactions,
  tokenTransactionsTimeBounded,
} from "./contract.ts";
import { ohlcvTokenHandler } from "./endpoints/api/v1/solana/ohlcv/token.handler.ts";
import { poolTransactionsHandler } from "./endpoints/api/v1/solana/pool-transactions.handler.ts";
import { poolTransactionsTimeBoundedHandler } from "./endpoints/api/v1/solana/pool-transactions-time-bounded.handler.ts";
import { pricesHandler } from "./endpoints/api/v1/solana/prices.handler.ts";
import { tokenMintBurnTransactionsHandler } from "./endpoints/api/v1/solana/token-mint-burn-transactions.handler.ts";
import { tokenTransactionsHandler } from "./endpoints/api/v1/solana/token-transactions.handler.ts";
import { tokenTransactionsTimeBoundedHandler } from "./endpoints/api/v1/solana/token-transactions-time-bounded.handler.ts";
import { tokenHoldersHandler } from "./endpoints/api/v1/solana/tokens/holders.handler.ts";
import { tokenSecurityHandler } from "./endpoints/api/v1/solana/tokens/security.handler.ts";
import { tokensHandler } from "./endpoints/api/v1/solana/tokens.handler.ts";
import type { ServeDeps } from "./serve/deps.ts";

/** @param options.withHolders false = SOLANA_HOLDERS is off: what is not indexed is 404, never an empty or partial table */
export function createHandlers(deps: ServeDeps, { withHolders = true } = {}): HandlerTable {
  return Object.fromEntries([
    handle(tokenTransactions, tokenTransactionsHandler(deps)),
    handle(tokenTransactionsTimeBounded, tokenTransactionsTimeBoundedHandler(deps)),
    handle(poolTransactions, poolTransactionsHandler(deps)),
    handle(poolTransactionsTimeBounded, poolTransactionsTimeBoundedHandler(deps)),
    handle(tokens, tokensHandler(deps)),
    handle(tokenHolders, withHolders ? tokenHoldersHandler(deps) : refuse("holders")),
    handle(ohlcvToken, ohlcvTokenHandler(deps)),
    handle(
      tokenMintBurnTransactions,
      withHolders ? tokenMintBurnTransactionsHandler(deps) : refuse("mints and burns"),
    ),
    handle(tokenSecurity, tokenSecurityHandler(deps)),
    handle(prices, pricesHandler(deps)),
  ]);
}

function refuse(what: string) {
  return async (): Promise<never> => {
    throw new ServiceError(
      "not_found",
      `This instance does not index ${what} of Solana (SOLANA_HOLDERS=off).`,
    );
  };
}
