import type { Address } from "../../../../deploy/devnet/node/transactions.ts";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";
import type { Token } from "./attacker.ts";

const Q96 = 2n ** 96n;
/** What an Aerodrome pool keeps of a swap. */
const V2_FEE = 0.003;

/** A pool of a token, as far as its price is moved. */
export interface SteppedPool {
  readonly address: Address;
  readonly token0: Token;
  readonly token1: Token;
  /** Uniswap's, hundredths of a bip; absent: a volatile Aerodrome pool. */
  readonly fee?: number | undefined;
}

/** A swap that moves the pool, and what goes in, raw. */
interface Step {
  readonly zeroForOne: boolean;
  readonly amountIn: bigint;
}

/** The price of a pool's token0, token1 per token0, raw. */
export async function rawPrice(chain: TestChain, pool: SteppedPool): Promise<number> {
  if (pool.fee === undefined) {
    const [reserve0, reserve1] = await chain.aerodrome.reserves(pool.address, await chain.headNumber());
    return Number(reserve1) / Number(reserve0);
  }
  const { sqrtPriceX96 } = await chain.slot0(pool.address);
  return (Number(sqrtPriceX96) / 2 ** 96) ** 2;
}

/** Queues the swap that multiplies the price of a token in a pool. Returns whole tokens that go in, and of which token. */
export async function stepPrice(
  chain: TestChain,
  { pool, token, factor, from }: { pool: SteppedPool; token: Token; factor: number; from: Address },
): Promise<{ token: Token; whole: number }> {
  const root = Math.sqrt(pool.token0.address === token.address ? factor : 1 / factor);
  const step = await (pool.fee === undefined ? stepV2(chain, pool, root) : stepV3(chain, pool, root));
  if (pool.fee === undefined) await chain.aerodrome.swap(pool.address, { ...step, from });
  else await chain.swap(pool.address, { zeroForOne: step.zeroForOne, amount: step.amountIn, from });
  const paid = step.zeroForOne ? pool.token0 : pool.token1;
  return { token: paid, whole: Number(step.amountIn) / 10 ** paid.decimals };
}

async function stepV2(chain: TestChain, pool: SteppedPool, root: number): Promise<Step> {
  const [reserve0, reserve1] = await chain.aerodrome.reserves(pool.address, await chain.headNumber());
  const zeroForOne = root < 1;
  const net = zeroForOne ? Number(reserve0) * (1 / root - 1) : Number(reserve1) * (root - 1);
  return { zeroForOne, amountIn: BigInt(Math.round(net / (1 - V2_FEE))) };
}

async function stepV3(chain: TestChain, pool: SteppedPool, root: number): Promise<Step> {
  const { sqrtPriceX96: now } = await chain.slot0(pool.address);
  const liquidity = await chain.liquidity(pool.address);
  const then = (now * BigInt(Math.round(root * 1e15))) / 10n ** 15n;
  const zeroForOne = then < now;
  const net = zeroForOne ? (liquidity * Q96 * (now - then)) / (now * then) : (liquidity * (then - now)) / Q96;
  return { zeroForOne, amountIn: (net * 1_000_000n) / (1_000_000n - BigInt(pool.fee ?? 0)) };
}
