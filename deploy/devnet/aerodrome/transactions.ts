import { type Abi, encodeFunctionData, type Hex, maxUint256 } from "viem";
import {
  aerodromeFactoryAbi,
  aerodromeGaugeAbi,
  aerodromePoolAbi,
  aerodromeVoterAbi,
} from "../contracts/aerodrome/abi.ts";
import { aerodromeDesk } from "../contracts/aerodrome/artifacts.ts";
import type { Address, Transaction } from "../node/transactions.ts";

/** Fixed, which spares an estimate per transaction; nothing here needs it in full, creations aside. */
const GAS: Hex = "0x124f80";
const CREATION_GAS: Hex = "0x7a1200";

interface Call {
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: readonly unknown[];
}

function call(from: Address, to: Address, { gas = GAS, ...what }: Call & { gas?: Hex }): Transaction {
  return { from, to, data: encodeFunctionData(what), gas };
}

/** Builders of one transaction each; amounts are raw. An account that removes or stakes must have approved the desk or gauge. */
export const aerodromeTransactions = {
  createPool: (from: Address, factory: Address, key: { tokenA: Address; tokenB: Address; stable: boolean }) =>
    call(from, factory, {
      abi: aerodromeFactoryAbi,
      functionName: "createPool",
      args: [key.tokenA, key.tokenB, key.stable],
      gas: CREATION_GAS,
    }),
  setCustomFee: (owner: Address, factory: Address, { pool, fee }: { pool: Address; fee: number }) =>
    call(owner, factory, {
      abi: aerodromeFactoryAbi,
      functionName: "setCustomFee",
      args: [pool, BigInt(fee)],
    }),
  createGauge: (from: Address, voter: Address, { factory, pool }: { factory: Address; pool: Address }) =>
    call(from, voter, {
      abi: aerodromeVoterAbi,
      functionName: "createGauge",
      args: [factory, pool],
      gas: CREATION_GAS,
    }),
  setGaugeAlive: (owner: Address, voter: Address, { gauge, alive }: { gauge: Address; alive: boolean }) =>
    call(owner, voter, {
      abi: aerodromeVoterAbi,
      functionName: alive ? "reviveGauge" : "killGauge",
      args: [gauge],
    }),
  distribute: (from: Address, voter: Address, { gauge, amount }: { gauge: Address; amount: bigint }) =>
    call(from, voter, { abi: aerodromeVoterAbi, functionName: "distribute", args: [gauge, amount] }),
  swap: (from: Address, desk: Address, swap: { pool: Address; zeroForOne: boolean; amountIn: bigint }) =>
    call(from, desk, {
      abi: aerodromeDesk.abi,
      functionName: "swap",
      args: [swap.pool, swap.zeroForOne, swap.amountIn],
    }),
  swapBoth: (
    from: Address,
    desk: Address,
    {
      pool,
      amountsIn,
      amountsOut,
    }: { pool: Address; amountsIn: [bigint, bigint]; amountsOut: [bigint, bigint] },
  ) =>
    call(from, desk, {
      abi: aerodromeDesk.abi,
      functionName: "swapBoth",
      args: [pool, ...amountsIn, ...amountsOut],
    }),
  addLiquidity: (
    from: Address,
    desk: Address,
    { pool, amounts }: { pool: Address; amounts: [bigint, bigint] },
  ) => call(from, desk, { abi: aerodromeDesk.abi, functionName: "addLiquidity", args: [pool, ...amounts] }),
  removeLiquidity: (
    from: Address,
    desk: Address,
    { pool, liquidity }: { pool: Address; liquidity: bigint },
  ) => call(from, desk, { abi: aerodromeDesk.abi, functionName: "removeLiquidity", args: [pool, liquidity] }),
  approve: (from: Address, pool: Address, spender: Address) =>
    call(from, pool, { abi: aerodromePoolAbi, functionName: "approve", args: [spender, maxUint256] }),
  transfer: (from: Address, pool: Address, { to, amount }: { to: Address; amount: bigint }) =>
    call(from, pool, { abi: aerodromePoolAbi, functionName: "transfer", args: [to, amount] }),
  claimFees: (from: Address, pool: Address) =>
    call(from, pool, { abi: aerodromePoolAbi, functionName: "claimFees", args: [] }),
  stake: (
    from: Address,
    gauge: Address,
    { amount, recipient = from }: { amount: bigint; recipient?: Address },
  ) => call(from, gauge, { abi: aerodromeGaugeAbi, functionName: "deposit", args: [amount, recipient] }),
  unstake: (from: Address, gauge: Address, amount: bigint) =>
    call(from, gauge, { abi: aerodromeGaugeAbi, functionName: "withdraw", args: [amount] }),
  claimRewards: (from: Address, gauge: Address) =>
    call(from, gauge, { abi: aerodromeGaugeAbi, functionName: "getReward", args: [from] }),
} as const;
