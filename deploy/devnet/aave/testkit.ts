import type { Hex, PublicClient } from "viem";
import type { TokenSymbol } from "../market.ts";
import type { Rpc } from "../node/rpc.ts";
import { type Address, sendTransactions, type Transaction } from "../node/transactions.ts";
import type { AaveDeployment, AaveReserve } from "./deploy.ts";
import { type AaveReader, createAaveReader } from "./reader.ts";
import {
  type ConfiguratorFunction,
  STABLE,
  aaveTransactions as transactions,
  VARIABLE,
} from "./transactions.ts";

interface From {
  /** One of the market's users; absent = the first, who has no debts. */
  readonly from?: Address;
}

interface Mode extends From {
  /** Absent = the variable rate. */
  readonly stable?: boolean;
}

/**
 * Aave on a test chain. Each verb queues one transaction and answers its hash; amounts are raw, 2^256 − 1 is all that
 * there is. Nothing is mined.
 */
export interface AaveKit extends AaveReader {
  readonly deployment: AaveDeployment;
  /** In the order of market.ts. */
  readonly users: readonly Address[];
  reserve(symbol: TokenSymbol): AaveReserve;
  supply(symbol: TokenSymbol, amount: bigint, options?: From): Promise<Hex>;
  withdraw(symbol: TokenSymbol, amount: bigint, options?: From): Promise<Hex>;
  borrow(symbol: TokenSymbol, amount: bigint, options: Mode & { from: Address }): Promise<Hex>;
  repay(symbol: TokenSymbol, amount: bigint, options: Mode & { from: Address }): Promise<Hex>;
  liquidate(
    user: Address,
    liquidation: { collateral: TokenSymbol; debt: TokenSymbol; amount: bigint } & From,
  ): Promise<Hex>;
  mintToTreasury(symbols: readonly TokenSymbol[]): Promise<Hex>;
  /** What the oracle says from then on, without an event. */
  setPrice(symbol: TokenSymbol, usd: number): Promise<Hex>;
  /** A function of PoolConfigurator whose first argument is the token, by the owner. */
  configure(symbol: TokenSymbol, functionName: ConfiguratorFunction, ...args: unknown[]): Promise<Hex>;
  /** Any other transaction of the owner's. */
  govern(to: Address, data: Hex): Promise<Hex>;
}

export function createAaveKit(options: {
  rpc: Rpc;
  client: PublicClient;
  deployment: AaveDeployment;
}): AaveKit {
  const { rpc, client, deployment } = options;
  const { pool, owner, users, configurator } = deployment;
  const someone = users[0] as Address;
  const reserve: AaveKit["reserve"] = (symbol) => {
    const found = deployment.reserves.find(({ spec }) => spec.token === symbol);
    if (!found) throw new Error(`The devnet's Aave has no ${symbol}`);
    return found;
  };
  const assetOf = (symbol: TokenSymbol) => reserve(symbol).token.address;
  const send = async (transaction: Transaction) => (await sendTransactions(rpc, [transaction]))[0] as Hex;
  const modeOf = (stable = false) => (stable ? STABLE : VARIABLE);

  return {
    ...createAaveReader(client, deployment),
    deployment,
    users,
    reserve,
    supply: (symbol, amount, { from = someone } = {}) =>
      send(transactions.supply(from, pool, { asset: assetOf(symbol), amount })),
    withdraw: (symbol, amount, { from = someone } = {}) =>
      send(transactions.withdraw(from, pool, { asset: assetOf(symbol), amount })),
    borrow: (symbol, amount, { from, stable }) =>
      send(transactions.borrow(from, pool, { asset: assetOf(symbol), amount, mode: modeOf(stable) })),
    repay: (symbol, amount, { from, stable }) =>
      send(transactions.repay(from, pool, { asset: assetOf(symbol), amount, mode: modeOf(stable) })),
    liquidate: (user, { collateral, debt, amount, from = someone }) =>
      send(
        transactions.liquidate(from, pool, {
          collateral: assetOf(collateral),
          debt: assetOf(debt),
          user,
          amount,
        }),
      ),
    mintToTreasury: (symbols) => send(transactions.mintToTreasury(someone, pool, symbols.map(assetOf))),
    setPrice: (symbol, usd) => send(transactions.setPrice(owner, reserve(symbol).feed, usd)),
    configure: (symbol, functionName, ...args) =>
      send(transactions.configure(owner, configurator, { functionName, args: [assetOf(symbol), ...args] })),
    govern: (to, data) => send({ from: owner, to, data, gas: "0xe00000" }),
  };
}
