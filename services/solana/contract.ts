import type { Endpoint } from "../shared/contract/endpoint.ts";
import { endpoint as ohlcvToken } from "./endpoints/api/v1/solana/ohlcv/token.endpoint.ts";
import { endpoint as poolTransactions } from "./endpoints/api/v1/solana/pool-transactions.endpoint.ts";
import { endpoint as poolTransactionsTimeBounded } from "./endpoints/api/v1/solana/pool-transactions-time-bounded.endpoint.ts";
import { endpoint as prices } from "./endpoints/api/v1/solana/prices.endpoint.ts";
import { endpoint as tokenMintBurnTransactions } from "./endpoints/api/v1/solana/token-mint-burn-transactions.endpoint.ts";
import { endpoint as tokenTransactions } from "./endpoints/api/v1/solana/token-transactions.endpoint.ts";
import { endpoint as tokenTransactionsTimeBounded } from "./endpoints/api/v1/solana/token-transactions-time-bounded.endpoint.ts";
import { endpoint as tokenHolders } from "./endpoints/api/v1/solana/tokens/holders.endpoint.ts";
import { endpoint as tokenSecurity } from "./endpoints/api/v1/solana/tokens/security.endpoint.ts";
import { endpoint as tokens } from "./endpoints/api/v1/solana/tokens.endpoint.ts";

export {
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
};

/** Every public endpoint of this service: the specification's in its order, then our additions. */
export const endpoints: readonly Endpoint[] = [
  tokenTransactions,
  tokenTransactionsTimeBounded,
  poolTransactions,
  poolTransactionsTimeBounded,
  tokens,
  tokenHolders,
  ohlcvToken,
  tokenMintBurnTransactions,
  tokenSecurity,
  prices,
];
