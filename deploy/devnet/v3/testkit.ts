import { encodeFunctionData, type Hex, type Log, type PublicClient, parseEventLogs } from "viem";
import { pancakePoolAbi } from "../contracts/pancake/abi.ts";
import {
  slipstreamFactoryAbi,
  slipstreamGaugeAbi,
  slipstreamPoolAbi,
  slipstreamPoolAddresses,
} from "../contracts/slipstream/abi.ts";
import type { Range } from "../desk.ts";
import type { Rpc } from "../node/rpc.ts";
import { type Address, sendTransactions } from "../node/transactions.ts";
import { CREATION_GAS } from "../pools.ts";
import type { SlipstreamDeployment, SlipstreamPool } from "./slipstream.ts";

/** Decoded by viem, so that tests can hold the services' own decoders against it. */
export type SlipstreamEvent = ReturnType<typeof parseSlipstreamEvents>[number];

export function parseSlipstreamEvents(logs: Log[]) {
  const abi = [...slipstreamFactoryAbi, ...slipstreamPoolAbi, ...slipstreamGaugeAbi];
  return parseEventLogs({ abi, logs, strict: true });
}

/** PancakeSwap's own forms of Swap and SetFeeProtocol. */
export function parsePancakeEvents(logs: Log[]) {
  return parseEventLogs({ abi: pancakePoolAbi, logs, strict: true });
}

export interface SlipstreamState {
  readonly sqrtPriceX96: bigint;
  readonly tick: number;
  /** Hundredths of a bip, as of the block. */
  readonly fee: number;
  readonly liquidity: bigint;
  readonly stakedLiquidity: bigint;
  /** What the gauge may take. */
  readonly gaugeFees: readonly [bigint, bigint];
}

/** Slipstream on a test chain; the desk's swap, addLiquidity and removeLiquidity work on its pools, too. Nothing is mined. */
export interface SlipstreamKit {
  readonly deployment: SlipstreamDeployment;
  readonly pools: readonly SlipstreamPool[];
  /** Answers the address that the pool will have, too. */
  createPool(pool: {
    tokens: readonly [Address, Address];
    tickSpacing: number;
    sqrtPriceX96: bigint;
  }): Promise<{ hash: Hex; address: Address }>;
  createGauge(pool: Address): Promise<Hex>;
  /** Hundredths of a bip; 0 = the tick spacing's. No event reports it. */
  setSwapFee(pool: Address, fee: number): Promise<Hex>;
  /** Stakes liquidity that the desk has in the range, by the deployment's owner. */
  stake(gauge: Address, position: Range & { liquidity: bigint }): Promise<Hex>;
  /** By the number in the Deposit event. */
  unstake(gauge: Address, tokenId: bigint): Promise<Hex>;
  /** Has the gauge take its fees: CollectFees of the pool, ClaimFees of the gauge. */
  collectFees(gauge: Address): Promise<Hex>;
  state(pool: Address, block?: number): Promise<SlipstreamState>;
  /** Events of one transaction, in log order, of factory, pools and gauges; throws if it failed. */
  eventsOf(hash: Hex): Promise<SlipstreamEvent[]>;
}

export function createSlipstreamKit(options: {
  rpc: Rpc;
  client: PublicClient;
  deployment: SlipstreamDeployment;
}): SlipstreamKit {
  const { rpc, client, deployment } = options;
  const { factory, implementation, owner, pools } = deployment;
  const addressOf = slipstreamPoolAddresses(factory, implementation);
  const send = async (to: Address, data: Hex) =>
    (await sendTransactions(rpc, [{ from: owner, to, data, gas: CREATION_GAS }]))[0] as Hex;
  return {
    deployment,
    pools,
    async createPool({ tokens: [tokenA, tokenB], tickSpacing, sqrtPriceX96 }) {
      const [token0, token1] =
        tokenA.toLowerCase() < tokenB.toLowerCase() ? [tokenA, tokenB] : [tokenB, tokenA];
      const args = [token0, token1, tickSpacing, sqrtPriceX96] as const;
      const data = encodeFunctionData({ abi: slipstreamFactoryAbi, functionName: "createPool", args });
      return { hash: await send(factory, data), address: addressOf({ token0, token1, tickSpacing }) };
    },
    createGauge: (pool) =>
      send(
        factory,
        encodeFunctionData({ abi: slipstreamFactoryAbi, functionName: "createGauge", args: [pool] }),
      ),
    setSwapFee: (pool, fee) =>
      send(
        factory,
        encodeFunctionData({ abi: slipstreamFactoryAbi, functionName: "setSwapFee", args: [pool, fee] }),
      ),
    stake: (gauge, { lower, upper, liquidity }) => {
      const args = [lower, upper, liquidity] as const;
      return send(gauge, encodeFunctionData({ abi: slipstreamGaugeAbi, functionName: "deposit", args }));
    },
    unstake: (gauge, tokenId) =>
      send(gauge, encodeFunctionData({ abi: slipstreamGaugeAbi, functionName: "withdraw", args: [tokenId] })),
    collectFees: (gauge) =>
      send(gauge, encodeFunctionData({ abi: slipstreamGaugeAbi, functionName: "claimFees" })),
    async state(pool, block) {
      const at = block === undefined ? {} : { blockNumber: BigInt(block) };
      const read = { address: pool, abi: slipstreamPoolAbi, ...at } as const;
      const [[sqrtPriceX96, tick], fee, liquidity, stakedLiquidity, gaugeFees] = await Promise.all([
        client.readContract({ ...read, functionName: "slot0" }),
        client.readContract({ ...read, functionName: "fee" }),
        client.readContract({ ...read, functionName: "liquidity" }),
        client.readContract({ ...read, functionName: "stakedLiquidity" }),
        client.readContract({ ...read, functionName: "gaugeFees" }),
      ]);
      return { sqrtPriceX96, tick, fee, liquidity, stakedLiquidity, gaugeFees };
    },
    async eventsOf(hash) {
      const receipt = await client.getTransactionReceipt({ hash });
      if (receipt.status !== "success") throw new Error(`Transaction ${hash} failed`);
      return parseSlipstreamEvents(receipt.logs);
    },
  };
}
