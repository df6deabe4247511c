import { encodeFunctionData, type Hex } from "viem";
import { desk as artifact } from "./contracts/artifacts.ts";
import type { Rpc } from "./node/rpc.ts";
import { type Address, sendTransactions, type Transaction } from "./node/transactions.ts";

export type { Address, Transaction } from "./node/transactions.ts";

export interface Range {
  readonly lower: number;
  readonly upper: number;
}

/** One thing done on one pool. Amounts are raw units; the desk contract owns every position and pays every callback. */
export type Action =
  | {
      kind: "swap";
      pool: Address;
      zeroForOne: boolean /** > 0 exact in, < 0 exact out */;
      amount: bigint;
      sqrtPriceLimitX96?: bigint;
    }
  | ({ kind: "mint" | "burn"; pool: Address; liquidity: bigint } & Range)
  | ({ kind: "collect"; pool: Address } & Range)
  | { kind: "flash"; pool: Address; amount0: bigint; amount1: bigint };

const KINDS = { swap: 0, mint: 1, burn: 2, collect: 3, flash: 4 } as const;

/** Gas that no action of these pools needs in full; a fixed limit spares an estimate per transaction. */
export const GAS_PER_ACTION = 1_200_000n;

function toTuple(action: Action) {
  const base = {
    kind: KINDS[action.kind],
    pool: action.pool,
    zeroForOne: false,
    lower: 0,
    upper: 0,
    amount: 0n,
    limit: 0n,
  };
  switch (action.kind) {
    case "swap":
      return {
        ...base,
        zeroForOne: action.zeroForOne,
        amount: action.amount,
        limit: action.sqrtPriceLimitX96 ?? 0n,
      };
    case "mint":
    case "burn":
      return { ...base, lower: action.lower, upper: action.upper, amount: action.liquidity };
    case "collect":
      return { ...base, lower: action.lower, upper: action.upper };
    case "flash":
      return { ...base, amount: action.amount0, limit: action.amount1 };
  }
}

/** Call data that runs the actions in order in one transaction, all or none. */
export function encodeActions(actions: readonly Action[]): Hex {
  return encodeFunctionData({ abi: artifact.abi, functionName: "run", args: [actions.map(toTuple)] });
}

/** An eth_sendTransaction object for one of anvil's own accounts. */
export function deskTransaction(desk: Address, from: Address, actions: readonly Action[]): Transaction {
  const gas = 100_000n + GAS_PER_ACTION * BigInt(actions.length);
  return { from, to: desk, data: encodeActions(actions), gas: `0x${gas.toString(16)}` };
}

export interface Order {
  /** One of anvil's own accounts. */
  readonly from: Address;
  readonly actions: readonly Action[];
}

/** Queues one transaction per order, in order, by one request; answers the hashes. */
export function sendOrders(rpc: Rpc, desk: Address, orders: readonly Order[]): Promise<Hex[]> {
  return sendTransactions(
    rpc,
    orders.map(({ from, actions }) => deskTransaction(desk, from, actions)),
  );
}
