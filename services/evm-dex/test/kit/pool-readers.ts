import { pancakePoolAbi } from "../../../../deploy/devnet/contracts/pancake/abi.ts";
import { slipstreamFactoryAbi } from "../../../../deploy/devnet/contracts/slipstream/abi.ts";
import { poolAbi } from "../../../../deploy/devnet/contracts/uniswap.ts";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";
import { parsePancakeEvents, parseSlipstreamEvents } from "../../../../deploy/devnet/v3/testkit.ts";

type Address = `0x${string}`;

interface ChainSwap {
  readonly block: number;
  readonly transactionHash: Address;
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly sqrtPriceX96: bigint;
  readonly tick: number;
}

/** Reads pools of one kind from a chain, by viem and the contracts' own ABIs. */
export interface PoolReader {
  at(
    pool: Address,
    block: number,
  ): Promise<{ sqrtPriceX96: bigint; tick: number; liquidity: bigint; fee: number }>;
  moves(pool: Address): Promise<{ initialTick: number; swaps: ChainSwap[] }>;
  createdBlock(pool: Address): Promise<number>;
  /** Part of the fee on one side's token that the pool leaves to its providers; null where it is unknown. */
  kept(pool: Address, at: { block: number; side: 0 | 1 }): Promise<number | null>;
}

interface SwapLog {
  readonly blockNumber: bigint;
  readonly transactionHash: Address;
  readonly args: Omit<ChainSwap, "block" | "transactionHash">;
}

function toSwap({ blockNumber, transactionHash, args }: SwapLog): ChainSwap {
  const { amount0, amount1, sqrtPriceX96, tick } = args;
  return { block: Number(blockNumber), transactionHash, amount0, amount1, sqrtPriceX96, tick };
}

export function uniswapReader(chain: TestChain): PoolReader {
  const { client } = chain;
  return {
    async at(pool, block) {
      const [{ sqrtPriceX96, tick }, liquidity, fee] = await Promise.all([
        chain.slot0(pool, block),
        chain.liquidity(pool, block),
        client.readContract({ address: pool, abi: poolAbi, functionName: "fee" }),
      ]);
      return { sqrtPriceX96, tick, liquidity, fee };
    },
    async moves(pool) {
      const events = await chain.events({ pool });
      const initial = events.find((event) => event.eventName === "Initialize");
      return {
        initialTick: initial?.args.tick ?? Number.NaN,
        swaps: events.flatMap((event) => (event.eventName === "Swap" ? [toSwap(event)] : [])),
      };
    },
    async createdBlock(pool) {
      const created = (await chain.events()).find(
        (event) => event.eventName === "PoolCreated" && event.args.pool.toLowerCase() === pool,
      );
      return Number(created?.blockNumber);
    },
    async kept(pool, { block, side }) {
      const { feeProtocol } = await chain.slot0(pool, block);
      const n = side === 0 ? feeProtocol & 15 : feeProtocol >> 4;
      return n === 0 ? 1 : 1 - 1 / n;
    },
  };
}

/** Its own Swap, and a protocol share of so many ten-thousandths, token1's in the upper half. */
export function pancakeReader(chain: TestChain): PoolReader {
  const { client } = chain;
  const uniswap = uniswapReader(chain);
  const slot0 = (pool: Address, block: number) =>
    client.readContract({
      address: pool,
      abi: pancakePoolAbi,
      functionName: "slot0",
      blockNumber: BigInt(block),
    });
  return {
    ...uniswap,
    async at(pool, block) {
      const [[sqrtPriceX96, tick], liquidity, fee] = await Promise.all([
        slot0(pool, block),
        chain.liquidity(pool, block),
        client.readContract({ address: pool, abi: poolAbi, functionName: "fee" }),
      ]);
      return { sqrtPriceX96, tick, liquidity, fee };
    },
    async moves(pool) {
      const { initialTick } = await uniswap.moves(pool);
      const events = parsePancakeEvents(await client.getLogs({ address: pool, fromBlock: 0n }));
      return {
        initialTick,
        swaps: events.flatMap((event) => (event.eventName === "Swap" ? [toSwap(event)] : [])),
      };
    },
    async kept(pool, { block, side }) {
      const feeProtocol = (await slot0(pool, block))[5];
      return 1 - (side === 0 ? feeProtocol & 0xffff : feeProtocol >>> 16) / 10_000;
    },
  };
}

/** A fee from the pool's getter; the providers' part is unknown. */
export function slipstreamReader(chain: TestChain): PoolReader {
  const uniswap = uniswapReader(chain);
  return {
    ...uniswap,
    at: (pool, block) => chain.slipstream.state(pool, block),
    async createdBlock(pool) {
      const { factory } = chain.slipstream.deployment;
      const logs = await chain.client.getContractEvents({
        address: factory,
        abi: slipstreamFactoryAbi,
        eventName: "PoolCreated",
        fromBlock: 0n,
      });
      const created = parseSlipstreamEvents(logs).find(
        (event) => event.eventName === "PoolCreated" && event.args.pool.toLowerCase() === pool,
      );
      return Number(created?.blockNumber);
    },
    kept: async () => null,
  };
}
